export * from './new-id';
export * from './number-equality';
export * from './phone';
