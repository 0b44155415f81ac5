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

export function sign(
  body: string,
  secret: string,
  algorithm: 'sha256' | 'sha1' = 'sha256',
): string {
  return `${algorithm}=${createHmac(algorithm, secret).update(body, 'utf8').digest('hex')}`;
}

export type SignatureKind = 'valid' | 'invalid' | 'missing' | 'malformed';

export function signatureHeaders(
  body: string,
  secret: string,
  kind: SignatureKind = 'valid',
): Record<string, string> {
  switch (kind) {
    case 'valid':
      return {
        'x-hub-signature-256': sign(body, secret),
        'x-hub-signature': sign(body, secret, 'sha1'),
      };
    case 'invalid':
      return { 'x-hub-signature-256': sign(body, `${secret}-wrong`) };
    case 'malformed':
      return { 'x-hub-signature-256': 'sha256=zz' };
    case 'missing':
      return {};
  }
}
