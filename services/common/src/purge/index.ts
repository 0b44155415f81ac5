export {
  below,
  createPurge,
  ownersFrom,
  type ClientScope,
  type FilterRow,
  type PurgeDependencies,
  type PurgeRow,
  type RewriteRow,
} from './purge';
