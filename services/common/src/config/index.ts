export * as fields from './fields';
export type { Field } from './fields';
export * from './load';
export * from './tls';
