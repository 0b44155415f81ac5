export { createAccountLimits, type AccountLimits } from './account-limits';
export * from './answers';
export * from './client';
export * from './exchange';
export * from './messaging-limit';
export * from './operations';
export * from './upstream-codes';
