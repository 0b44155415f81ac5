export { createClientsFeature } from './feature';
export { clientMessage } from './message';
export { type RegisterDependencies, storeClient } from './register';
export { restoreAccount, type RestoreDependencies } from './restore';
export * from './store';
