// Which Kafka messages a raw body becomes. As a rule one, with the bytes as they came, keyed by the
// number that it concerns; a body that mixes numbers is cut along them, since order holds within a
// key alone.
import { parse, stringify } from 'lossless-json';

export interface Part {
  key: string;
  bytes: Buffer;
}

// An unescaped key in front of a text or a number: text that a user wrote has its quotes escaped.
const NUMBER = /"phone_number_id"\s*:\s*"?(\d+)"?/g;
const ENTRY = /"id"\s*:\s*"(\d+)"/;

interface Change {
  value?: { metadata?: { phone_number_id?: unknown } };
}
interface Body {
  entry?: Array<{ id?: unknown; changes?: Change[] }>;
}

export function split(body: Buffer): Part[] {
  // Latin 1 keeps one character a byte and is enough to find ids.
  const text = body.toString('latin1');
  const numbers = new Set<string>();
  for (const match of text.matchAll(NUMBER)) numbers.add(match[1] as string);
  if (numbers.size <= 1) {
    const [number] = numbers;
    return [{ key: number ?? ENTRY.exec(text)?.[1] ?? '', bytes: body }];
  }
  try {
    const parts = cut(body);
    if (parts) return parts;
  } catch {
    // No JSON, or nested too deep: what it is, is found out behind the stream.
  }
  return [{ key: '', bytes: body }];
}

/**
 * Groups the changes by number; undefined for a body that is not shaped as expected. Throws for no
 * JSON.
 */
function cut(body: Buffer): Part[] | undefined {
  // Numbers beyond 2^53 keep their digits.
  const whole = parse(body.toString('utf8')) as Body & Record<string, unknown>;
  if (!Array.isArray(whole?.entry)) return undefined;
  const groups = new Map<string, Array<Record<string, unknown>>>();
  for (const entry of whole.entry) {
    if (typeof entry !== 'object' || entry === null || !Array.isArray(entry.changes))
      return undefined;
    const byKey = new Map<string, Change[]>();
    for (const change of entry.changes) {
      const number = change?.value?.metadata?.phone_number_id;
      const key = typeof number === 'string' ? number : String(entry.id ?? '');
      const list = byKey.get(key);
      if (list) list.push(change);
      else byKey.set(key, [change]);
    }
    for (const [key, changes] of byKey) {
      const list = groups.get(key);
      if (list) list.push({ ...entry, changes });
      else groups.set(key, [{ ...entry, changes }]);
    }
  }
  return [...groups].map(([key, entry]) => ({
    key,
    bytes: Buffer.from(stringify({ ...whole, entry }) ?? '', 'utf8'),
  }));
}
