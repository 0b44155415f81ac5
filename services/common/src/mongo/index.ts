export { isDuplicateKey, openMongo, type Database } from './open';
export { createBatchWriter, type BatchWriter } from './batch-writer';
