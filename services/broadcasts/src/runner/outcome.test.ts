import { ApiError, type ErrorCode } from '@bmg/common/errors';
import { outcomeOf, retryDelayMs, type RetryReason } from './outcome';

const upstream = (upstream_code: number, retryable = false): ApiError =>
  new ApiError('UPSTREAM_ERROR', 'refused', { upstream_code, retryable });

test.each([
  [130_429, 'throttled'],
  [131_056, 'pair'],
])(
  'upstream code %d means that nothing was sent, and that the contact is tried again',
  (code, reason) => {
    expect(outcomeOf(upstream(code, true))).toMatchObject({
      kind: 'retry',
      reason,
      code: String(code),
    });
  },
);

test.each([190, 132_001, 132_015, 132_016])(
  'upstream code %d is true for every contact: it stops',
  (code) => {
    expect(outcomeOf(upstream(code))).toMatchObject({ kind: 'stop', code: String(code) });
  },
);

test.each<ErrorCode>([
  'WABA_NOT_REGISTERED',
  'NO_ACTIVE_WABA',
  'PAYMENT_FAILED',
  'PAYMENT_ACTION_REQUIRED',
  'PAYMENT_REQUIRED',
  'SUBSCRIPTION_CANCELLED',
  'TRIAL_EXPIRED',
  'PARTNER_SUSPENDED',
])('%s is true for every contact: it stops', (code) => {
  expect(outcomeOf(new ApiError(code, 'no'))).toMatchObject({ kind: 'stop', code });
});

test.each([100, 131_000, 131_016, 131_026, 131_047, 131_049, 132_000, 80_007])(
  'upstream code %d is final for its contact alone, whether it may be repeated or not',
  (code) => {
    expect(outcomeOf(upstream(code, true))).toEqual({ kind: 'refused', code: String(code) });
  },
);

test('a BSUID that cannot get this template is final for that contact', () => {
  const error = new ApiError('AUTH_TEMPLATE_NEEDS_PHONE', 'no', { upstream_code: 131_062 });
  expect(outcomeOf(error)).toEqual({ kind: 'refused', code: '131062' });
});

test.each<[string, ApiError]>([
  ['the upstream cannot be reached', new ApiError('UPSTREAM_ERROR', 'x', { retryable: true })],
  ['messaging cannot be reached', new ApiError('SERVICE_UNAVAILABLE', 'x', { retryable: true })],
])('%s: nothing left, it is tried again', (_what, error) => {
  expect(outcomeOf(error)).toMatchObject({ kind: 'retry', reason: 'unreachable' });
});

test.each<[string, unknown]>([
  [
    'the upstream did not answer',
    new ApiError('UPSTREAM_ERROR', 'x', { details: { outcome: 'unknown' } }),
  ],
  ['messaging broke off', new ApiError('SERVICE_UNAVAILABLE', 'x', { retryable: false })],
  ['messaging did not answer in time', new ApiError('SERVER_ERROR', 'x')],
  ['messaging failed', new ApiError('INTERNAL_ERROR', 'x')],
  ['something else was thrown', new Error('x')],
])('%s: the message may be on its way', (_what, error) => {
  expect(outcomeOf(error)).toEqual({ kind: 'unknown' });
});

test('what messaging refuses by itself is final', () => {
  expect(outcomeOf(new ApiError('INVALID_FIELD', 'x'))).toEqual({
    kind: 'refused',
    code: 'INVALID_FIELD',
  });
  expect(outcomeOf(new ApiError('UPSTREAM_ERROR', 'HTTP 404'))).toEqual({
    kind: 'refused',
    code: 'UPSTREAM_ERROR',
  });
});

describe('waiting for another try', () => {
  const delay = (reason: RetryReason, tries: number, retry_after_s = 0, random = 0) =>
    retryDelayMs({ reason, retry_after_s }, tries, random);

  test('a pair limit waits for six seconds at least', () => {
    expect(delay('pair', 1)).toBe(6_000);
    expect(delay('pair', 2)).toBe(12_000);
    expect(delay('pair', 50)).toBe(60_000);
  });

  test('what the refusal asks for is honoured, within bounds', () => {
    expect(delay('throttled', 1, 5)).toBe(5_000);
    expect(delay('throttled', 1, 3_600)).toBe(30_000);
  });

  test('waiting varies a little, so that contacts do not come back together', () => {
    expect(delay('throttled', 1, 0, 1)).toBe(1_200);
  });

  test.each<RetryReason>(['throttled', 'pair', 'unreachable'])(
    '%s is not tried for ever',
    (reason) => {
      expect(delay(reason, 1)).toBeDefined();
      expect(delay(reason, 20_000)).toBeUndefined();
    },
  );
});
