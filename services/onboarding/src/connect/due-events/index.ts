export { createDueEvents, type DueEventDependencies } from './publish';
