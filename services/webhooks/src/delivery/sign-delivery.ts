// Signs a delivery: the contract's own header and the three of the Standard Webhooks convention.
import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/**
 * The signing headers of one attempt (contract 13.1). `secrets` are the partner's, newest first.
 * `x-service-signature` is made with the newest secret only, and the whole secret text is the key.
 * `webhook-signature` has one signature per secret (prefix off, base64 decoded), so that a receiver
 * can switch secrets during a rotation. `at_s` is the attempt's time in epoch seconds.
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
