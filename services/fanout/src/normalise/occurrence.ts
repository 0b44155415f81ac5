// The key by which a repetition of an upstream occurrence is recognised. Upstream repeats whole
// bodies, so a key may hold anything that is in the body, and nothing else: never the present time.

import { hash } from 'node:crypto';
import { isLosslessNumber } from 'lossless-json';

/** 132 bits: no two contents meet by accident. */
const FINGERPRINT_LENGTH = 22;

export function occurrence(space: string, ...parts: readonly (string | number | null)[]): string {
  let key = space;
  for (const part of parts) key += `|${part === null ? '' : escapePart(part)}`;
  return key;
}

/** Tells contents apart where upstream gives no id; blind to the order of keys. */
export function fingerprint(value: unknown): string {
  return hash('sha256', canonical(value), 'base64url').slice(0, FINGERPRINT_LENGTH);
}

/** A separator inside an id must not make two keys equal. */
function escapePart(part: string | number): string {
  const text = typeof part === 'number' ? String(part) : part;
  if (!text.includes('|') && !text.includes('%')) return text;
  return text.replace(/[%|]/g, encodeURIComponent);
}

function canonical(value: unknown): string {
  if (isLosslessNumber(value)) return value.value;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}
