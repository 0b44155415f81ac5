// Checks the URLs that a partner gives.
import { ApiError } from '@bmg/common/errors';
import { checkUrl, UrlRefused, type CheckUrlOptions } from '@bmg/common/outbound';

/** Returns the URL without its fragment. Throws INVALID_FIELD naming the field. */
export function checkPartnerUrl(url: string, options: CheckUrlOptions): URL {
  try {
    return checkUrl(url, options);
  } catch (error) {
    if (!(error instanceof UrlRefused)) throw error;
    throw new ApiError('INVALID_FIELD', error.message, {
      details: { field: error.field, reason: error.reason },
    });
  }
}
