// The refusal of every rate limiter: counted in one metric, answered with one code.
import { ApiError } from '@bmg/common/errors';
import { metrics } from '@bmg/common/telemetry';

/** Counts the refusal and returns the error to throw. */
export function rateLimited(
  limiter: 'partner' | 'dashboard' | 'login' | 'connect' | 'credentials' | 'streams' | 'reads',
  retry_after_s: number,
  message = 'too many requests: slow down and try again',
): ApiError {
  metrics.rate_limited.inc({ limiter });
  return new ApiError('RATE_LIMIT_EXCEEDED', message, { retry_after_s });
}
