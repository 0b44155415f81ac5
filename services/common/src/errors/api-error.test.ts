import { ApiError, rewrap, type ErrorExtras } from './api-error';

describe('rewrap', () => {
  const extras: ErrorExtras = {
    upstream_code: 130_429,
    upstream_subcode: 7,
    upstream_trace_id: 'trace',
    details: { outcome: 'unknown' },
    retryable: true,
    payment_url: 'https://pay.example',
    retry_after_s: 6,
  };
  const error = new ApiError('UPSTREAM_ERROR', 'refused', extras);

  test('keeps the other properties, and the original as the cause', () => {
    expect(rewrap(error, {})).toMatchObject({
      ...extras,
      code: 'UPSTREAM_ERROR',
      message: 'refused',
      cause: error,
    });
  });

  test('replaces the code, the message and single properties', () => {
    const changed = rewrap(error, {
      code: 'DISCOVERY_FAILED',
      message: 'refused; sign up again',
      retryable: false,
      retry_after_s: undefined,
    });
    expect(changed).toMatchObject({
      ...extras,
      code: 'DISCOVERY_FAILED',
      message: 'refused; sign up again',
      http: 400,
      retryable: false,
      retry_after_s: undefined,
    });
  });
});
