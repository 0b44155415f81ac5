export { createClientEvents, type ClientEventDependencies } from './publish';
