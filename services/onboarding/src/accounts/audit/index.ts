export { createAudit } from './feature';
export * from './store';
