// The refusals of limits: one for rates, counted in one metric, and one for every bound on
// concurrent work and memory.
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

export const overloaded = (message = 'too many requests are in flight: try again'): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', message);
