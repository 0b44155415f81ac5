export { createUsage } from './feature';
export * from './store/endpoint-usage';
export * from './store/message-usage';
