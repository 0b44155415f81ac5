export { createKeys } from './feature';
export type { Asked } from './handlers';
export * from './store';
