import { ApiError, CATALOG, type ErrorCode, type ErrorExtras } from '@bmg/common/errors';
import { judge, unknownOutcome, type Verdict } from './outcome';

const failure = (code: ErrorCode, extras: ErrorExtras = {}): ApiError =>
  new ApiError(code, 'why', extras);

describe('what becomes of a key whose request has failed', () => {
  test.each<[string, ApiError, Verdict]>([
    ['a missing field', failure('MISSING_FIELDS'), 'forget'],
    ['a wrong field', failure('INVALID_FIELD', { retryable: true }), 'forget'],
    [
      'an upstream refusal told as a 400',
      failure('AUTH_TEMPLATE_NEEDS_PHONE', { upstream_code: 131062 }),
      'forget',
    ],
    ['a key that is revoked', failure('INVALID_PARTNER_KEY'), 'forget'],
    ['an unpaid invoice', failure('PAYMENT_FAILED'), 'forget'],
    ['a suspended partner', failure('PARTNER_SUSPENDED'), 'forget'],
    ['too many contacts', failure('TOO_MANY_CONTACTS'), 'forget'],
    ['a paused number', failure('NO_ACTIVE_WABA'), 'forget'],
    ['an unknown medium', failure('MEDIA_NOT_FOUND'), 'forget'],
    ['a rate limit', failure('RATE_LIMIT'), 'forget'],
    ['a part that is not configured', failure('NOT_CONFIGURED'), 'forget'],
    ['a service that could not be reached', failure('SERVICE_UNAVAILABLE'), 'forget'],
    [
      'a service whose connection broke',
      failure('SERVICE_UNAVAILABLE', { retryable: false }),
      'unknown',
    ],
    ['a time out between us', failure('SERVER_ERROR'), 'unknown'],
    ['a fault of our own', failure('INTERNAL_ERROR'), 'unknown'],
    [
      'a fault before anything left',
      failure('SERVER_ERROR', { retryable: true, details: { outcome: 'not_sent' } }),
      'forget',
    ],
    [
      'an upstream refusal that passes',
      failure('UPSTREAM_ERROR', { upstream_code: 130429, retryable: true }),
      'forget',
    ],
    [
      'an upstream that could not be reached',
      failure('UPSTREAM_ERROR', { retryable: true }),
      'forget',
    ],
    [
      'an upstream refusal that stays',
      failure('UPSTREAM_ERROR', { upstream_code: 131047 }),
      'keep',
    ],
    ['an upstream refusal without a reason', failure('UPSTREAM_ERROR'), 'keep'],
    [
      'a connection to the upstream that broke',
      failure('UPSTREAM_ERROR', { details: { outcome: 'unknown' } }),
      'unknown',
    ],
    [
      'an upload that broke off',
      failure('UPSTREAM_ERROR', { retryable: true, details: { outcome: 'unknown' } }),
      'unknown',
    ],
    [
      'words of the upstream that look like ours',
      failure('UPSTREAM_ERROR', { upstream_code: 100, details: { outcome: 'not_sent' } }),
      'keep',
    ],
    ['a conflict of state', failure('CANNOT_CANCEL'), 'keep'],
    ['work that another attempt is at', failure('IDEMPOTENCY_KEY_IN_USE'), 'unknown'],
  ])('%s', (_name, error, verdict) => {
    expect(judge(error)).toBe(verdict);
  });

  test('never is a failure kept that says to try again, nor one that says nothing', () => {
    for (const code of Object.keys(CATALOG) as ErrorCode[]) {
      for (const extras of [{}, { retryable: true }, { retryable: false }]) {
        const error = failure(code, extras);
        if (judge(error) !== 'keep') continue;
        const kept = error.http === 409 || error.http === 422 || code === 'UPSTREAM_ERROR';
        expect([code, extras, kept]).toEqual([code, extras, true]);
      }
    }
  });

  test('an unknown outcome looks the same whatever has failed, and keeps its cause for the log', () => {
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
    expect(judge(unknownOutcome())).toBe('unknown');
  });
});
