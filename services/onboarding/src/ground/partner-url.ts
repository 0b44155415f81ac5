// Checks the URLs that a partner gives, and the origins of its pages that may open a sign-up and to
// which the sign-up page may lead.
import { ApiError, invalidField } from '@bmg/common/errors';
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

export const CONNECT_ORIGINS_MAX = 20;
const FIELD = 'connect_origins';

/** Returns each origin once. Throws INVALID_FIELD naming the field of the first refused one. */
export function checkConnectOrigins(origins: string[], allowPrivate: boolean): string[] {
  if (origins.length > CONNECT_ORIGINS_MAX) {
    throw invalidField(FIELD, `must have at most ${CONNECT_ORIGINS_MAX} origins`);
  }
  origins.forEach((origin, index) => {
    const field = `${FIELD}[${index}]`;
    if (checkPartnerUrl(origin, { field, allowPrivate }).origin !== origin) {
      throw invalidField(field, 'must be an origin such as https://shop.example.com');
    }
  });
  return [...new Set(origins)];
}

/** Throws INVALID_FIELD for an origin that a list with entries lacks. */
export function refuseUnlessListed(field: string, origin: string, listed: string[]): void {
  if (listed.length > 0 && !listed.includes(origin)) throw notListed(field);
}

/**
 * Returns a URL to which the sign-up page may lead. Its origin must be listed, so that a link
 * cannot lead to a stranger's page. Throws INVALID_FIELD.
 */
export function checkReturnUrl(
  url: string,
  { field, allowPrivate, listed }: { field: string; allowPrivate: boolean; listed: string[] },
): string {
  const checked = checkPartnerUrl(url, { field, allowPrivate });
  if (!listed.includes(checked.origin)) throw notListed(field);
  // Pages with one document keep their route in the fragment.
  checked.hash = new URL(url).hash;
  return checked.href;
}

const notListed = (field: string) =>
  invalidField(field, 'must have an origin that your setting connect_origins lists');
