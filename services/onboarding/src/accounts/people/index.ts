export { createPeopleFeature } from './feature';
export * from './store/passkeys';
export * from './store/used-challenges';
