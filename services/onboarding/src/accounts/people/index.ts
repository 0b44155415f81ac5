export { createPeopleFeature } from './feature';
export * from './store';
