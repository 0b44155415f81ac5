export * from './batch-writer';
export * from './claim-writer';
export * from './delete-in-pages';
export * from './duplicates';
export {
  createIndexes,
  keyText,
  type IndexChange,
  type IndexDifference,
  type Indexes,
} from './indexes';
export { openMongo, type Database, type Databases } from './open';
export { LONG_CURSOR } from './work-classes';
