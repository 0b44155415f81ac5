export { createIndexes, missingIndexes, type Indexes } from './indexes';
export { duplicatesIn, isDuplicateKey } from './duplicate-key';
export { openMongo, type Database } from './open';
export { createBatchWriter, type BatchWriter } from './batch-writer';
export { createClaimWriter, settleClaim, writeClaims, type ClaimWriter } from './claim-writer';
