// Partner keys and connect tokens: a prefix that secret scanners find, 32 random characters, and a
// checksum, so that a typo is refused without a look-up. Only a keyed hash of them is ever stored.
import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const PARTNER_KEY_PREFIX = 'bmgk_';
export const CONNECT_TOKEN_PREFIX = 'bmgc_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^bmg[kc]_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

export function createKey(prefix: typeof PARTNER_KEY_PREFIX | typeof CONNECT_TOKEN_PREFIX): string {
  let random = '';
  for (let index = 0; index < RANDOM_LENGTH; index += 1) random += ALPHABET[randomInt(62)];
  return prefix + random + checksum(prefix + random);
}

/** True for a text with the right prefix and a matching checksum. */
export function isWellFormedKey(text: string, prefix: string): boolean {
  if (!text.startsWith(prefix) || !SHAPE.test(text)) return false;
  return text.slice(-CHECKSUM_LENGTH) === checksum(text.slice(0, -CHECKSUM_LENGTH));
}

/** Lets people tell keys apart: the prefix and the last four characters. */
export const keyHint = (key: string): string => `${key.slice(0, 5)}…${key.slice(-4)}`;

function checksum(text: string): string {
  let rest = crc32(text);
  let out = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    out = ALPHABET[rest % 62] + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}

/** What an API key may be allowed to do. The partner key has all scopes. */
export const KEY_SCOPES = ['send', 'read', 'manage', 'billing'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export const isKeyScope = (text: string): text is KeyScope =>
  (KEY_SCOPES as readonly string[]).includes(text);
