export { keyText, type IndexDifference, type Indexes } from './compare-indexes';
export { createIndexes, type IndexChange } from './indexes';
export { duplicatesIn, isDuplicateKey } from './duplicate-key';
export { deleteInPages } from './delete-in-pages';
export { openMongo, type Database, type Databases } from './open';
export { LONG_CURSOR } from './work-classes';
export { createBatchWriter, type BatchWriter } from './batch-writer';
export { createClaimWriter, settleClaim, writeClaims, type ClaimWriter } from './claim-writer';
