export { identityOf, REQUEST_CLAIMS, requestClaimIndexes, RETENTION_MS } from './claims';
export { createOnce, type Once } from './once';
export {
  cannotProtect,
  earlierUnknown,
  keyInUse,
  keyReused,
  leavesEarlierUnknown,
  outcomeOf,
  unknownOutcome,
  type Outcome,
} from './outcome';
