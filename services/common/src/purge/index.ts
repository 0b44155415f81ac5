export { below, createPurge, ownersFrom, type ClientScope, type PurgeRow } from './purge';
