export * from './fetch-file';
export * from './file-name';
export * from './file-types';
export * from './multipart';
export { fileSettings, type SpooledFile } from './spool';
export * from './transfer';
