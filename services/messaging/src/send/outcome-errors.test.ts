import { ApiError, type ErrorCode, type ErrorExtras } from '@bmg/common/errors';
import type { Credentials } from '@bmg/common/directory';
import { TARGET } from '../../test/builders';
import { aCall } from '../../../../test/testkit/call';
import { failingAsNotSent, repeatable, uploadedOnce } from './outcome-errors';

const failure = (code: ErrorCode, extras: ErrorExtras = {}): ApiError =>
  new ApiError(code, 'why', extras);
const told = async (step: Promise<unknown>): Promise<ApiError> =>
  step.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: ApiError) => error,
  );
const keyed = aCall({ idempotency: { key: 'req_1', fingerprint: '' } });
const broke = (code?: string): ErrorExtras => ({
  retryable: true,
  cause: Object.assign(new Error('broke'), { code }),
});

describe('a failure to fetch the token', () => {
  const given = (error: ApiError): Credentials =>
    failingAsNotSent({
      of: () => Promise.reject(error),
      forSending: () => Promise.reject(error),
    });

  test.each<[ErrorCode, ErrorExtras]>([
    ['SERVER_ERROR', {}],
    ['INTERNAL_ERROR', {}],
    ['SERVICE_UNAVAILABLE', { retryable: false }],
  ])('because of %s is retryable: nothing was sent', async (code, extras) => {
    const error = failure(code, extras);
    const { of, forSending } = given(error);
    for (const step of [of(TARGET, aCall()), forSending(TARGET, aCall())]) {
      const { message, retryable, details, cause } = await told(step);
      expect({ message, retryable, details, cause }).toEqual({
        message: 'why',
        retryable: true,
        details: { outcome: 'not_sent' },
        cause: error,
      });
    }
  });

  test.each([
    failure('WABA_NOT_REGISTERED'),
    failure('PAYMENT_ACTION_REQUIRED', { payment_url: 'https://pay.example' }),
    failure('SERVICE_UNAVAILABLE'),
  ])('because of $code is passed on unchanged', async (error) => {
    expect(await told(given(error).forSending(TARGET, aCall()))).toBe(error);
  });
});

describe('marking as read', () => {
  test('is retryable if the upstream did not answer', async () => {
    const error = failure('UPSTREAM_ERROR');
    expect(await told(repeatable(Promise.reject(error)))).toMatchObject({
      code: 'UPSTREAM_ERROR',
      retryable: true,
    });
  });

  test.each([failure('UPSTREAM_ERROR', { upstream_code: 100 }), failure('INTERNAL_ERROR')])(
    'is left as it is otherwise: $code',
    async (error) => {
      expect(await told(repeatable(Promise.reject(error)))).toBe(error);
    },
  );
});

describe('an upload', () => {
  test('that broke off may have arrived: under an Idempotency-Key the error states it', async () => {
    for (const error of [
      failure('UPSTREAM_ERROR', broke('ECONNRESET')),
      failure('UPSTREAM_ERROR', broke()),
      failure('UPSTREAM_ERROR', { retryable: true }),
    ]) {
      const { retryable, details } = await told(uploadedOnce(Promise.reject(error), keyed));
      expect({ retryable, details }).toEqual({ retryable: true, details: { outcome: 'unknown' } });
      expect(await told(uploadedOnce(Promise.reject(error), aCall()))).toBe(error);
    }
  });

  test.each([
    failure('UPSTREAM_ERROR', broke('ECONNREFUSED')),
    failure('UPSTREAM_ERROR', { upstream_code: 130429, retryable: true }),
    failure('UPSTREAM_ERROR', { upstream_code: 100 }),
    failure('MEDIA_TOO_LARGE'),
    failure('SERVICE_UNAVAILABLE'),
  ])('that certainly did not happen keeps its error: $code', async (error) => {
    expect(await told(uploadedOnce(Promise.reject(error), keyed))).toBe(error);
  });
});
