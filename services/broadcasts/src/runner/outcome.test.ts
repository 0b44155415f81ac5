import { ApiError, type ErrorCode, type ErrorExtras } from '@bmg/common/errors';
import { outcomeOf, retryDelayMs, type RetryReason } from './outcome';

const upstream = (upstream_code: number, retryable = true): ApiError =>
  new ApiError('UPSTREAM_ERROR', 'refused', { upstream_code, retryable });
const ours = (code: ErrorCode, extras: ErrorExtras = {}): ApiError =>
  new ApiError(code, 'no', extras);
/** Errors under the code by which they are counted. */
const byCode = (...errors: ApiError[]): Array<[string, ApiError]> =>
  errors.map((error) => [String(error.upstream_code ?? error.code), error]);

test.each([
  ['throttled', upstream(130_429)],
  ['pair', upstream(131_056)],
  // Neither messaging nor the upstream behind it was reached.
  ['unreachable', ours('UPSTREAM_ERROR', { retryable: true })],
  ['unreachable', ours('SERVICE_UNAVAILABLE', { retryable: true })],
])('a contact is retried as %s, because nothing was sent: %p', (reason, error) => {
  expect(outcomeOf(error)).toEqual({
    kind: 'retry',
    reason,
    code: String(error.upstream_code ?? error.code),
    retry_after_s: error.retry_after_s ?? 0,
  });
});

test.each(
  byCode(
    ...[190, 132_001, 132_015, 132_016].map((code) => upstream(code, false)),
    ours('WABA_NOT_REGISTERED'),
    ours('NO_ACTIVE_WABA'),
    ours('PAYMENT_FAILED'),
    ours('PAYMENT_ACTION_REQUIRED'),
    ours('PAYMENT_REQUIRED'),
    ours('SUBSCRIPTION_CANCELLED'),
    ours('TRIAL_EXPIRED'),
    ours('PARTNER_SUSPENDED'),
  ),
)('%s stops the broadcast', (code, error) => {
  expect(outcomeOf(error)).toMatchObject({ kind: 'stop', code });
});

const FINAL = [100, 131_000, 131_016, 131_026, 131_047, 131_049, 132_000, 80_007];

test.each(
  byCode(
    ...FINAL.map((code) => upstream(code)),
    ours('AUTH_TEMPLATE_NEEDS_PHONE', { upstream_code: 131_062 }),
    ours('INVALID_FIELD'),
    ours('UPSTREAM_ERROR'),
  ),
)('%s is final for its contact only, even if it is retryable', (code, error) => {
  expect(outcomeOf(error)).toEqual({ kind: 'refused', code });
});

test.each<[string, unknown]>([
  ['the upstream did not answer', ours('UPSTREAM_ERROR', { details: { outcome: 'unknown' } })],
  ['the call to messaging broke off', ours('SERVICE_UNAVAILABLE', { retryable: false })],
  ['messaging did not answer in time', ours('SERVER_ERROR')],
  ['messaging failed', ours('INTERNAL_ERROR')],
  ['something else was thrown', new Error('x')],
])('%s: the outcome is unknown', (_what, error) => {
  expect(outcomeOf(error)).toEqual({ kind: 'unknown' });
});

describe('the retry delay', () => {
  const delay = (reason: RetryReason, tries: number, retry_after_s = 0, random = 0) =>
    retryDelayMs({ reason, retry_after_s }, tries, random);

  test.each<[string, number, ...Parameters<typeof delay>]>([
    ['is at least six seconds after a pair limit', 6_000, 'pair', 1],
    ['doubles', 12_000, 'pair', 2],
    ['ends at a minute', 60_000, 'pair', 50],
    ['honours retry_after_s', 5_000, 'throttled', 1, 5],
    ['honours it within bounds', 30_000, 'throttled', 1, 3_600],
    ['has jitter, so that contacts are not retried together', 1_200, 'throttled', 1, 0, 1],
  ])('%s: %i ms', (_name, ms, ...given) => expect(delay(...given)).toBe(ms));

  test.each<RetryReason>(['throttled', 'pair', 'unreachable'])(
    '%s ends after a maximum of refusals',
    (reason) => {
      expect(delay(reason, 1)).toBeDefined();
      expect(delay(reason, 20_000)).toBeUndefined();
    },
  );
});
