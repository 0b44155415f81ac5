export { expiresAt, isAlive, isToBeTouched, newSession, sessionMessage } from './rules';
export * from './store';
