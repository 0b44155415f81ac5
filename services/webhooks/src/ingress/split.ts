// Splits a raw webhook body into Kafka messages. Usually one message with the unchanged bytes,
// keyed by the number that it concerns. A body that mixes numbers is split by number, because Kafka
// keeps order only within a key.
import { parse, stringify } from 'lossless-json';
import { groupBy } from '@bmg/common/collections';

export interface Part {
  key: string;
  bytes: Buffer;
}

// The quotes are unescaped, so text that a user wrote cannot match.
const NUMBER = /"phone_number_id"\s*:\s*"?(\d+)"?/g;
const ENTRY = /"id"\s*:\s*"(\d+)"/;

interface Change {
  value?: { metadata?: { phone_number_id?: unknown } };
}
interface Entry {
  id?: unknown;
  changes?: Change[];
}
interface Body {
  entry?: Entry[];
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
    // Not JSON, or nested too deep: fan-out refuses it and gives the reason.
  }
  return [{ key: '', bytes: body }];
}

/** One part per number; undefined for a body of an unexpected shape. Throws if it is not JSON. */
function cut(body: Buffer): Part[] | undefined {
  // Numbers beyond 2^53 keep their digits.
  const whole = parse(body.toString('utf8')) as Body & Record<string, unknown>;
  if (!Array.isArray(whole?.entry)) return undefined;
  const parts: Array<{ key: string; entry: Entry }> = [];
  for (const entry of whole.entry) {
    if (typeof entry !== 'object' || entry === null || !Array.isArray(entry.changes))
      return undefined;
    const byNumber = groupBy(entry.changes, (change) => {
      const number = change?.value?.metadata?.phone_number_id;
      return typeof number === 'string' ? number : String(entry.id ?? '');
    });
    for (const [key, changes] of byNumber) parts.push({ key, entry: { ...entry, changes } });
  }
  return [...groupBy(parts, ({ key }) => key)].map(([key, found]) => ({
    key,
    bytes: Buffer.from(
      stringify({ ...whole, entry: found.map(({ entry }) => entry) }) ?? '',
      'utf8',
    ),
  }));
}
