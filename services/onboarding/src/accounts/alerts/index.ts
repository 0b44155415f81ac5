export { changeThresholds } from './rules';
export type { PartnerAlert } from './store';
