export type { Applied } from './plan-write';
export { type Counts, attempted } from './progress';
export type { StateWriter } from './state-writer';
