import { ApiError, CATALOG, type ErrorCode, type ErrorExtras } from '../errors';
import {
  earlierUnknown,
  leavesEarlierUnknown,
  outcomeOf,
  unknownOutcome,
  type Outcome,
} from './outcome';

const failure = (code: ErrorCode, extras: ErrorExtras = {}): ApiError =>
  new ApiError(code, 'why', extras);

const UNKNOWN = { details: { outcome: 'unknown' } };
const NOT_SENT = { details: { outcome: 'not_sent' } };
const OUTCOMES: Record<Outcome, Array<[name: string, code: ErrorCode, extras?: ErrorExtras]>> = {
  not_done: [
    ['a missing field', 'MISSING_FIELDS'],
    ['a wrong field', 'INVALID_FIELD', { retryable: true }],
    ['an upstream refusal answered as 400', 'AUTH_TEMPLATE_NEEDS_PHONE', { upstream_code: 131062 }],
    ['a revoked partner key', 'INVALID_PARTNER_KEY'],
    ['an unpaid invoice', 'PAYMENT_FAILED'],
    ['a suspended partner', 'PARTNER_SUSPENDED'],
    ['too many contacts', 'TOO_MANY_CONTACTS'],
    ['a paused number', 'NO_ACTIVE_WABA'],
    ['an unknown medium', 'MEDIA_NOT_FOUND'],
    ['a rate limit', 'RATE_LIMIT'],
    ['a feature that is not configured', 'NOT_CONFIGURED'],
    ['a service that could not be reached', 'SERVICE_UNAVAILABLE'],
    ['a fault before anything was sent', 'SERVER_ERROR', { retryable: true, ...NOT_SENT }],
    ['a retryable refusal', 'UPSTREAM_ERROR', { upstream_code: 130429, retryable: true }],
    ['an upstream that could not be reached', 'UPSTREAM_ERROR', { retryable: true }],
    ['work that another run is doing', 'IDEMPOTENCY_KEY_IN_USE'],
    ['a key that an earlier request holds', 'IDEMPOTENCY_KEY_REUSED'],
  ],
  unknown: [
    ['a service whose connection broke', 'SERVICE_UNAVAILABLE', { retryable: false }],
    ['a timeout between our services', 'SERVER_ERROR'],
    ['a fault of our own', 'INTERNAL_ERROR'],
    ['a connection to the upstream that broke', 'UPSTREAM_ERROR', UNKNOWN],
    ['an interrupted upload', 'UPSTREAM_ERROR', { retryable: true, ...UNKNOWN }],
  ],
  final: [
    ['a permanent upstream refusal', 'UPSTREAM_ERROR', { upstream_code: 131047 }],
    ['an upstream refusal without a reason', 'UPSTREAM_ERROR'],
    ['details that look like ours', 'UPSTREAM_ERROR', { upstream_code: 100, ...NOT_SENT }],
    ['a conflict of state', 'CANNOT_CANCEL'],
  ],
};

describe('the outcome of a failed request', () => {
  describe.each(Object.entries(OUTCOMES))('is %s', (outcome, rows) => {
    test.each(rows)('after %s', (_name, code, extras = {}) => {
      expect(outcomeOf(failure(code, extras))).toBe(outcome);
    });
  });

  test('stores no failure that is retryable or leaves the outcome open', () => {
    for (const code of Object.keys(CATALOG) as ErrorCode[]) {
      for (const extras of [{}, { retryable: true }, { retryable: false }]) {
        const error = failure(code, extras);
        if (outcomeOf(error) !== 'final') continue;
        const storable = error.http === 409 || error.http === 422 || code === 'UPSTREAM_ERROR';
        expect([code, extras, storable]).toEqual([code, extras, true]);
      }
    }
  });

  test('answers the same for every unknown outcome, with the cause for the log', () => {
    const cause = failure('SERVER_ERROR');
    expect(unknownOutcome(cause, 2)).toMatchObject({
      code: 'UPSTREAM_ERROR',
      http: 502,
      retryable: true,
      details: { outcome: 'unknown' },
      upstream_code: undefined,
      retry_after_s: 2,
      cause,
    });
    expect(outcomeOf(unknownOutcome())).toBe('unknown');
  });

  test('states to the gateway that the first request with the key left it open', () => {
    expect(earlierUnknown()).toMatchObject({
      ...{ code: 'UPSTREAM_ERROR', retryable: true },
      message: 'the outcome of the first request with this key is unknown',
    });
    expect(outcomeOf(earlierUnknown())).toBe('not_done');
    expect([earlierUnknown(), unknownOutcome()].map(leavesEarlierUnknown)).toEqual([true, false]);
  });
});
