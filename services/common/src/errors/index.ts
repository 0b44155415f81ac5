export * from './api-error';
export * from './catalog';
export * from './wire';
