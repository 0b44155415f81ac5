export { createKeys } from './feature';
export * from './store';
