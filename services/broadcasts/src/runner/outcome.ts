// What the answer to one send means for its contact and for the broadcast. Only what certainly was not
// sent is ever tried again.
import { ApiError } from '@bmg/common/errors';

export type RetryReason = 'throttled' | 'pair' | 'unreachable';

export type Outcome =
  | { kind: 'refused'; code: string }
  | { kind: 'retry'; reason: RetryReason; code: string; retry_after_s: number }
  /** No further contact could fare better. */
  | { kind: 'stop'; code: string; message: string }
  /** The message may be on its way. */
  | { kind: 'unknown' };

const THROTTLED = 130_429;
const PAIR_LIMIT = 131_056;
/** The token is dead; the template is unknown, paused or disabled: true for every contact. */
const STOPPING_UPSTREAM = new Set([190, 132_001, 132_015, 132_016]);
const STOPPING = new Set(['WABA_NOT_REGISTERED', 'NO_ACTIVE_WABA', 'PARTNER_SUSPENDED']);
const PAYMENT_HTTP = 402;
/** Ours, not an answer: the call broke off somewhere. */
const BROKEN_OFF = new Set(['SERVER_ERROR', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE']);

/** The reason under which a failure is counted: the upstream's code where there is one. */
export const codeOf = ({ upstream_code, code }: ApiError): string =>
  upstream_code === undefined ? code : String(upstream_code);

export function judge(error: unknown): Outcome {
  if (!(error instanceof ApiError)) return { kind: 'unknown' };
  const code = codeOf(error);
  const retry_after_s = error.retry_after_s ?? 0;
  if (error.upstream_code === THROTTLED)
    return { kind: 'retry', reason: 'throttled', code, retry_after_s };
  if (error.upstream_code === PAIR_LIMIT)
    return { kind: 'retry', reason: 'pair', code, retry_after_s };
  if (isStop(error)) return { kind: 'stop', code, message: error.message };
  if (error.upstream_code !== undefined) return { kind: 'refused', code };
  // Before anything left: the messaging service, or the upstream, could not be reached.
  if (
    error.retryable &&
    (error.code === 'UPSTREAM_ERROR' || error.code === 'SERVICE_UNAVAILABLE')
  ) {
    return { kind: 'retry', reason: 'unreachable', code, retry_after_s };
  }
  if (BROKEN_OFF.has(error.code) || saysUnknown(error.details)) return { kind: 'unknown' };
  return { kind: 'refused', code };
}

/** Whether an error of the number or the account means that nothing more can be sent. */
export const isStop = (error: ApiError): boolean =>
  error.upstream_code === undefined
    ? STOPPING.has(error.code) || error.http === PAYMENT_HTTP
    : STOPPING_UPSTREAM.has(error.upstream_code);

const saysUnknown = (details: unknown): boolean =>
  typeof details === 'object' &&
  details !== null &&
  (details as { outcome?: unknown }).outcome === 'unknown';

interface RetryRule {
  base_ms: number;
  max_ms: number;
  /** Past this many, the refusal is final: nothing is tried for ever. */
  tries_max: number;
}

const SECOND_MS = 1_000;
const RETRY: Record<RetryReason, RetryRule> = {
  throttled: { base_ms: SECOND_MS, max_ms: 30 * SECOND_MS, tries_max: 1_000 },
  // The upstream takes about one message in 6 s for the same person, 600 an hour.
  pair: { base_ms: 6 * SECOND_MS, max_ms: 60 * SECOND_MS, tries_max: 100 },
  // Long outages are waited for; the lane itself slows down to one try in some seconds.
  unreachable: { base_ms: SECOND_MS, max_ms: 10 * SECOND_MS, tries_max: 20_000 },
};
const JITTER = 0.2;

/** How long the contact waits after its n-th try was refused; undefined when there is no further one. */
export function retryDelayMs(
  { reason, retry_after_s }: { reason: RetryReason; retry_after_s: number },
  tries: number,
  random = Math.random(),
): number | undefined {
  const { base_ms, max_ms, tries_max } = RETRY[reason];
  if (tries >= tries_max) return undefined;
  const doubled = Math.min(max_ms, base_ms * 2 ** Math.min(tries - 1, 16));
  const asked = Math.min(max_ms, retry_after_s * SECOND_MS);
  return Math.max(doubled, asked) * (1 + JITTER * random);
}
