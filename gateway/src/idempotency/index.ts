export { createGuards, writeAnswer, type Answer, type Guards } from './guard';
export { fingerprint, hasKey, IDEMPOTENCY_KEY } from './key';
