export { defineService, groupOf, type DefinedService, type Kit } from './define-service';
export { ownIndexes, purge, type Feature } from './feature';
export { createIndexRpcs } from './index-rpcs';
