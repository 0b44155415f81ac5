// How a delivery is signed: the contract's own header and the three of the Standard Webhooks convention.
import { createHmac, timingSafeEqual } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/**
 * The signing headers of one attempt. `secrets` are the partner's, newest first: the contract's header is
 * made with the newest (the whole text is the key), `webhook-signature` carries one signature for each
 * (prefix off, base64 decoded), so that a receiver can change over during a rotation.
 */
export function signatureHeaders(
  body: Buffer,
  secrets: readonly string[],
  event_id: string,
  at_s: number,
): Record<string, string> {
  const [newest = ''] = secrets;
  const signed = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    const mac = createHmac('sha256', key).update(`${event_id}.${at_s}.`).update(body);
    return `v1,${mac.digest('base64')}`;
  });
  return {
    'x-service-signature': `sha256=${createHmac('sha256', newest).update(body).digest('hex')}`,
    'webhook-id': event_id,
    'webhook-timestamp': String(at_s),
    'webhook-signature': signed.join(' '),
  };
}

const UPSTREAM_SIGNATURE = /^sha256=([0-9a-f]{64})$/i;

/** The upstream's X-Hub-Signature-256 over the raw bytes, compared in constant time. */
export function isSignedByUpstream(
  body: Buffer,
  header: string | undefined,
  secret: string,
): boolean {
  const given = header === undefined ? null : UPSTREAM_SIGNATURE.exec(header.trim());
  if (!given) return false;
  const expected = createHmac('sha256', secret).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(given[1] as string, 'hex'));
}
