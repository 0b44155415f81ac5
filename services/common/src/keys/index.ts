export * from './addresses';
export * from './partner-key';
export * from './peppers';
