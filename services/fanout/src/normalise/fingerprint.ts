// The part of an occurrence key that stands for content without an id. Upstream repeats whole bodies,
// so a key depends only on the body, never on the current time.

import { hash } from 'node:crypto';
import { isLosslessNumber } from 'lossless-json';

/** 132 bits: collisions are practically impossible. */
const FINGERPRINT_LENGTH = 22;

/** A hash of the content, for items without an upstream id. The order of keys does not matter. */
export function fingerprint(value: unknown): string {
  return hash('sha256', canonical(value), 'base64url').slice(0, FINGERPRINT_LENGTH);
}

function canonical(value: unknown): string {
  if (isLosslessNumber(value)) return value.value;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}
