export { createRequestLogHandlers } from './handlers';
export * from './store';
