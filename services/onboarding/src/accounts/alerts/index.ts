export { createAlertsFeature } from './feature';
export { changeThresholds } from './rules';
export * from './store';
