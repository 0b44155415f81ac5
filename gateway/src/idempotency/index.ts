export { writeAnswer, type Answer } from './answer';
export { createGuards, type Guards, type Work } from './guard';
export { fingerprint, hasKey, IDEMPOTENCY_KEY } from './key';
