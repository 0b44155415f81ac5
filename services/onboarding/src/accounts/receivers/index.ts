export { createReceivers } from './feature';
export { openDestination } from './sealed-destination';
export { openShadow } from './sealed-shadow';
export * from './store';
