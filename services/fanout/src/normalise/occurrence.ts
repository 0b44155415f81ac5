// Builds the occurrence key, which identifies repetitions of one upstream occurrence. Upstream
// repeats whole bodies, so a key depends on the body alone, never on the current time.

import { hash } from 'node:crypto';
import { isLosslessNumber } from 'lossless-json';

/** 132 bits: collisions are practically impossible. */
const FINGERPRINT_LENGTH = 22;

export function occurrence(space: string, ...parts: readonly (string | number | null)[]): string {
  let key = space;
  for (const part of parts) key += `|${part === null ? '' : escapePart(part)}`;
  return key;
}

/** A hash of the content, for items without an upstream id. The order of keys does not matter. */
export function fingerprint(value: unknown): string {
  return hash('sha256', canonical(value), 'base64url').slice(0, FINGERPRINT_LENGTH);
}

/** Escapes the separator, so that ids containing it cannot make two keys equal. */
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
