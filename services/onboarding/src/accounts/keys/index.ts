export { callerOf, type Asked } from './caller';
export { isWithin, type Grant } from './rules';
export type { PartnerKey } from './store';
