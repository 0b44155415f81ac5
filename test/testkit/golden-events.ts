// The pairs of test/golden/events: a raw body, and the outcome of normalising it. An outcome names a
// part that it repeats from the body by its place there: `=/entry/0/changes/0/value/messages/0`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const FOLDER = join(__dirname, '../golden/events');

/** What is shorter is easier to read than its place. */
const PLACE_MIN_LENGTH = 60;
const PLACE = /^=(\/.*)$/;

export const goldenNames = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.in.json'))
  .map((file) => file.slice(0, -'.in.json'.length));

export const readGolden = (name: string, side: 'in' | 'out'): string =>
  readFileSync(join(FOLDER, `${name}.${side}.json`), 'utf8');

/** Replaces what an outcome repeats from the body, by its text, with its place in the body. */
export function withPlaces(
  outcome: unknown,
  body: unknown,
  print: (value: unknown) => string,
): unknown {
  const places = new Map<string, string>();
  const note = (value: unknown, place: string): void => {
    if (!isComposed(value)) return;
    const text = print(value);
    if (text.length >= PLACE_MIN_LENGTH && !places.has(text)) places.set(text, place);
    for (const [key, part] of Object.entries(value)) note(part, `${place}/${key}`);
  };
  // Not for the whole body, which has no place of its own.
  for (const [key, part] of Object.entries(body ?? {})) note(part, `=/${key}`);
  return mapped(outcome, (value) => places.get(print(value)));
}

/** The events of an outcome, with all that they repeat from the body. */
export function goldenEvents<T>(name: string): T[] {
  const body = JSON.parse(readGolden(name, 'in')) as unknown;
  const { events } = JSON.parse(readGolden(name, 'out')) as { events: T[] };
  return mapped(events, (value) => {
    const [, place] = PLACE.exec(String(value)) ?? [];
    const keys = place?.split('/').slice(1);
    return keys?.reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], body);
  }) as T[];
}

/** Copies a value; `change` returns what stands for a part, or undefined. */
function mapped(value: unknown, change: (part: unknown) => unknown): unknown {
  const other = change(value);
  if (other !== undefined) return other;
  if (!isComposed(value)) return value;
  if (Array.isArray(value)) return value.map((part) => mapped(part, change));
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, mapped(part, change)]),
  );
}

/** An object or a list, but no number of a library. */
const isComposed = (value: unknown): value is object =>
  Array.isArray(value) ||
  (typeof value === 'object' &&
    value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null));
