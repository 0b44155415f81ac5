export { openDestination, openShadow } from './sealed';
export * from './store';
