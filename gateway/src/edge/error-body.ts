// The JSON body of an error answer (contract, Errors).
import type { ApiError } from '@bmg/common/errors';

export interface ErrorBody {
  success: false;
  error: Record<string, unknown>;
}

export const errorBody = (error: ApiError, request_id: string): ErrorBody => ({
  success: false,
  error: {
    code: error.code,
    message: error.message,
    ...(error.upstream_code !== undefined && { upstream_code: error.upstream_code }),
    upstream_subcode: error.upstream_subcode,
    details: error.details,
    retryable: error.retryable,
    ...(error.payment_url !== undefined && { payment_url: error.payment_url }),
    request_id,
  },
});
