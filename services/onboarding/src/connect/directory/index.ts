export { createDirectory } from './feature';
