export { defineService, type DefinedService, type Kit } from './define-service';
export { purge, type Feature } from './feature';
