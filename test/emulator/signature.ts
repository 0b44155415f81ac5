// Serialises and signs webhooks as the platform does: non-ASCII characters as \uXXXX, and an HMAC
// over exactly those bytes.
import { createHmac } from 'node:crypto';

// IDs beyond 2^53 do not fit a JavaScript number: they are marked strings that lose their quotes
// here.
const NUMERIC_ID = /"(message_template_id|flow_id)":"(\d+)"/g;
const NON_ASCII = /[\u007f-\uffff]/g;

export function serialise(body: unknown): string {
  return escapeNonAscii(JSON.stringify(body).replace(NUMERIC_ID, '"$1":$2'));
}

export function escapeNonAscii(text: string): string {
  return text.replace(
    NON_ASCII,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The headers that sign a body. */
export const signatureHeaders = (body: string, secret: string): Record<string, string> => {
  const sign = (algorithm: string): string =>
    `${algorithm}=${createHmac(algorithm, secret).update(body, 'utf8').digest('hex')}`;
  return { 'x-hub-signature-256': sign('sha256'), 'x-hub-signature': sign('sha1') };
};
