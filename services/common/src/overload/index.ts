export { createByteRate, type ByteRate } from './byte-rate';
export { createBound, type Bound } from './bound';
export {
  createBoundedServer,
  HTTP_LIMITS,
  type BoundedServer,
  type BoundedServerOptions,
  type HttpLimits,
  type RefusalAnswer,
  type RefusalReason,
} from './http-server';
export { createFailureLimit, type FailureLimit } from './failure-limit';
export { networkOf, senderOf } from './network';
export { createPool, type Pool, type PoolOptions } from './pool';
export { watchMinimumRate } from './minimum-rate';
export { createRefusals, REFUSAL_DELAY_MS, type Refusals } from './refusals';
export {
  createTransferPool,
  createTransfers,
  EVICTED_BELOW_BYTES_PER_S,
  EVICTION_GRACE_MS,
  type Transfer,
  type TransferPool,
  type Transfers,
} from './transfers';
export { BodyRefused, readBody, type BodyProblem } from './read-body';
