export { createLiveShadows, type LiveShadows } from './live';
export { createShadows, shadowIndexes, SHADOWS, type Shadows } from './store';
