export { createOperator } from './feature';
export * from './store';
