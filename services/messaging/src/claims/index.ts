export {
  type Attempt,
  type ClaimScope,
  createSendClaims,
  type NotedAttempt,
  SEND_CLAIMS,
  sendClaimIndexes,
  type SendClaims,
} from './store';
