export { createKeys } from './feature';
export type { Asked } from './handlers';
export { isWithin, type Grant } from './rules';
export * from './store';
