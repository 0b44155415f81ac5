export { createLiveShadows, type LiveShadows } from './live';
export { createShadows, shadowIndexes, type Shadows } from './store';
