export { createPartnerChanges, type PartnerChangesDependencies } from './changes';
export { createPartnerSettings } from './feature';
export { LOGO_FETCHES } from './logo';
export * from './store';
