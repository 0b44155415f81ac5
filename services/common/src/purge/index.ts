export {
  below,
  createPurge,
  ownersFrom,
  type ClientScope,
  type FilterRow,
  type PurgeRow,
  type RewriteRow,
} from './purge';
