// The JSON body of an error answer (contract 14.1).
import type { ApiError } from '@bmg/common/errors';
import { errorAnchor } from '.';

export interface ErrorBody {
  success: false;
  error: Record<string, unknown>;
}

/** `docs_url`: the page that has the anchors of all codes. */
export const errorBody = (error: ApiError, request_id: string, docs_url?: string): ErrorBody => ({
  success: false,
  error: {
    code: error.code,
    message: error.message,
    ...(error.upstream_code !== undefined && { upstream_code: error.upstream_code }),
    upstream_subcode: error.upstream_subcode,
    details: error.details,
    retryable: error.retryable,
    ...(error.payment_url !== undefined && { payment_url: error.payment_url }),
    ...(docs_url !== undefined && {
      doc_url: `${docs_url}#${errorAnchor(error.code, error.upstream_code)}`,
    }),
    request_id,
  },
});
