// The refusal of every bound on concurrent work and memory.
import { ApiError } from '@bmg/common/errors';

export const overloaded = (message = 'too many requests are in flight: try again'): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', message);
