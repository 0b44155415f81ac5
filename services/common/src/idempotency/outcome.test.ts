import { ApiError, CATALOG, type ErrorCode, type ErrorExtras } from '../errors';
import { earlierUnknown, outcomeOf, unknownOutcome, type Outcome } from './outcome';

const failure = (code: ErrorCode, extras: ErrorExtras = {}): ApiError =>
  new ApiError(code, 'why', extras);

describe('the outcome of a failed request', () => {
  test.each<[string, ApiError, Outcome]>([
    ['a missing field', failure('MISSING_FIELDS'), 'not_done'],
    ['a wrong field', failure('INVALID_FIELD', { retryable: true }), 'not_done'],
    [
      'an upstream refusal answered as 400',
      failure('AUTH_TEMPLATE_NEEDS_PHONE', { upstream_code: 131062 }),
      'not_done',
    ],
    ['a revoked partner key', failure('INVALID_PARTNER_KEY'), 'not_done'],
    ['an unpaid invoice', failure('PAYMENT_FAILED'), 'not_done'],
    ['a suspended partner', failure('PARTNER_SUSPENDED'), 'not_done'],
    ['too many contacts', failure('TOO_MANY_CONTACTS'), 'not_done'],
    ['a paused number', failure('NO_ACTIVE_WABA'), 'not_done'],
    ['an unknown medium', failure('MEDIA_NOT_FOUND'), 'not_done'],
    ['a rate limit', failure('RATE_LIMIT'), 'not_done'],
    ['a feature that is not configured', failure('NOT_CONFIGURED'), 'not_done'],
    ['a service that could not be reached', failure('SERVICE_UNAVAILABLE'), 'not_done'],
    [
      'a service whose connection broke',
      failure('SERVICE_UNAVAILABLE', { retryable: false }),
      'unknown',
    ],
    ['a timeout between our services', failure('SERVER_ERROR'), 'unknown'],
    ['a fault of our own', failure('INTERNAL_ERROR'), 'unknown'],
    [
      'a fault before anything was sent',
      failure('SERVER_ERROR', { retryable: true, details: { outcome: 'not_sent' } }),
      'not_done',
    ],
    [
      'a retryable upstream refusal',
      failure('UPSTREAM_ERROR', { upstream_code: 130429, retryable: true }),
      'not_done',
    ],
    [
      'an upstream that could not be reached',
      failure('UPSTREAM_ERROR', { retryable: true }),
      'not_done',
    ],
    ['a permanent upstream refusal', failure('UPSTREAM_ERROR', { upstream_code: 131047 }), 'final'],
    ['an upstream refusal without a reason', failure('UPSTREAM_ERROR'), 'final'],
    [
      'a connection to the upstream that broke',
      failure('UPSTREAM_ERROR', { details: { outcome: 'unknown' } }),
      'unknown',
    ],
    [
      'an interrupted upload',
      failure('UPSTREAM_ERROR', { retryable: true, details: { outcome: 'unknown' } }),
      'unknown',
    ],
    [
      'upstream details that look like ours',
      failure('UPSTREAM_ERROR', { upstream_code: 100, details: { outcome: 'not_sent' } }),
      'final',
    ],
    ['a conflict of state', failure('CANNOT_CANCEL'), 'final'],
    ['work that another run is doing', failure('IDEMPOTENCY_KEY_IN_USE'), 'not_done'],
    ['a key that an earlier request holds', failure('IDEMPOTENCY_KEY_REUSED'), 'not_done'],
    ['an earlier request whose outcome is unknown', earlierUnknown(), 'not_done'],
  ])('%s', (_name, error, outcome) => {
    expect(outcomeOf(error)).toBe(outcome);
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
});
