export { createReceivers } from './feature';
export { openDestination, openShadow } from './sealed';
export * from './store';
