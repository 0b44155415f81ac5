// What the tests of the Idempotency-Key send, and how they read the answers.
import type { Answer } from '../testkit/rest';

export const HELLO = { to: '15550100777', text: 'Hello' };
export const UNKNOWN = {
  code: 'UPSTREAM_ERROR',
  retryable: true,
  details: { outcome: 'unknown' },
};

export const isReplay = ({ headers }: Answer): boolean =>
  headers.get('idempotency-replayed') === 'true';
export const codeOf = ({ status, body }: Answer): unknown[] => [status, body.error?.code];
