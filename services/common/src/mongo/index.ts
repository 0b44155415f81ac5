export { createIndexes, missingIndexes, type Indexes } from './indexes';
export { isDuplicateKey, openMongo, type Database } from './open';
export { createBatchWriter, type BatchWriter } from './batch-writer';
export { createClaimWriter, settleClaim, writeClaims, type ClaimWriter } from './claim-writer';
