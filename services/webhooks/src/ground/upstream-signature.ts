// Checks that a webhook comes from the upstream: its X-Hub-Signature-256 header.
import { createHmac, timingSafeEqual } from 'node:crypto';

const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;

/** True if the header could be a signature; checked before the body is read. */
export const isSignature = (header: string | string[] | undefined): boolean =>
  typeof header === 'string' && SIGNATURE.test(header.trim());

/**
 * True if `header` is the HMAC-SHA256 of the raw body under the app secret. The comparison takes
 * constant time. A missing or malformed header is not an error, it is a wrong signature.
 */
export function isSignedByUpstream(
  body: Buffer,
  header: string | undefined,
  secret: string,
): boolean {
  const given = header === undefined ? null : SIGNATURE.exec(header.trim());
  // Anyone could sign with an empty secret.
  if (!given || secret === '') return false;
  const expected = createHmac('sha256', secret).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(given[1] as string, 'hex'));
}
