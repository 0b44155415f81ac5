import { ApiError, type ErrorCode } from '@bmg/common/errors';
import { outcomeOf, retryDelayMs, type RetryReason } from './outcome';

const upstream = (upstream_code: number, retryable = false): ApiError =>
  new ApiError('UPSTREAM_ERROR', 'refused', { upstream_code, retryable });

test.each([
  [130_429, 'throttled'],
  [131_056, 'pair'],
])('upstream code %d is retried as %s: nothing was sent', (code, reason) => {
  expect(outcomeOf(upstream(code, true))).toMatchObject({
    kind: 'retry',
    reason,
    code: String(code),
  });
});

test.each([190, 132_001, 132_015, 132_016])('upstream code %d stops the broadcast', (code) => {
  expect(outcomeOf(upstream(code))).toMatchObject({ kind: 'stop', code: String(code) });
});

test.each<ErrorCode>([
  'WABA_NOT_REGISTERED',
  'NO_ACTIVE_WABA',
  'PAYMENT_FAILED',
  'PAYMENT_ACTION_REQUIRED',
  'PAYMENT_REQUIRED',
  'SUBSCRIPTION_CANCELLED',
  'TRIAL_EXPIRED',
  'PARTNER_SUSPENDED',
])('%s stops the broadcast', (code) => {
  expect(outcomeOf(new ApiError(code, 'no'))).toMatchObject({ kind: 'stop', code });
});

test.each([100, 131_000, 131_016, 131_026, 131_047, 131_049, 132_000, 80_007])(
  'upstream code %d is final for its contact only, even if it is retryable',
  (code) => {
    expect(outcomeOf(upstream(code, true))).toEqual({ kind: 'refused', code: String(code) });
  },
);

test('AUTH_TEMPLATE_NEEDS_PHONE is final for its contact only', () => {
  const error = new ApiError('AUTH_TEMPLATE_NEEDS_PHONE', 'no', { upstream_code: 131_062 });
  expect(outcomeOf(error)).toEqual({ kind: 'refused', code: '131062' });
});

test.each<[string, ApiError]>([
  ['the upstream cannot be reached', new ApiError('UPSTREAM_ERROR', 'x', { retryable: true })],
  ['messaging cannot be reached', new ApiError('SERVICE_UNAVAILABLE', 'x', { retryable: true })],
])('%s: nothing was sent, so the contact is retried', (_what, error) => {
  expect(outcomeOf(error)).toMatchObject({ kind: 'retry', reason: 'unreachable' });
});

test.each<[string, unknown]>([
  [
    'the upstream did not answer',
    new ApiError('UPSTREAM_ERROR', 'x', { details: { outcome: 'unknown' } }),
  ],
  [
    'the call to messaging broke off',
    new ApiError('SERVICE_UNAVAILABLE', 'x', { retryable: false }),
  ],
  ['messaging did not answer in time', new ApiError('SERVER_ERROR', 'x')],
  ['messaging failed', new ApiError('INTERNAL_ERROR', 'x')],
  ['something else was thrown', new Error('x')],
])('%s: the outcome is unknown', (_what, error) => {
  expect(outcomeOf(error)).toEqual({ kind: 'unknown' });
});

test('a refusal by messaging is final', () => {
  expect(outcomeOf(new ApiError('INVALID_FIELD', 'x'))).toEqual({
    kind: 'refused',
    code: 'INVALID_FIELD',
  });
  expect(outcomeOf(new ApiError('UPSTREAM_ERROR', 'HTTP 404'))).toEqual({
    kind: 'refused',
    code: 'UPSTREAM_ERROR',
  });
});

describe('the retry delay', () => {
  const delay = (reason: RetryReason, tries: number, retry_after_s = 0, random = 0) =>
    retryDelayMs({ reason, retry_after_s }, tries, random);

  test('is at least six seconds after a pair limit', () => {
    expect(delay('pair', 1)).toBe(6_000);
    expect(delay('pair', 2)).toBe(12_000);
    expect(delay('pair', 50)).toBe(60_000);
  });

  test('honours retry_after_s, within bounds', () => {
    expect(delay('throttled', 1, 5)).toBe(5_000);
    expect(delay('throttled', 1, 3_600)).toBe(30_000);
  });

  test('has jitter, so that contacts are not retried together', () => {
    expect(delay('throttled', 1, 0, 1)).toBe(1_200);
  });

  test.each<RetryReason>(['throttled', 'pair', 'unreachable'])(
    '%s ends after a maximum of refusals',
    (reason) => {
      expect(delay(reason, 1)).toBeDefined();
      expect(delay(reason, 20_000)).toBeUndefined();
    },
  );
});
