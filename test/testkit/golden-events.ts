// The pairs of test/golden/events: a raw body, and the outcome of normalising it. An outcome names
// a part that it repeats from the body by its place: `=/entry/0/changes/0/value/messages/0`. It
// leaves out the fields that have their usual value.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const FOLDER = join(__dirname, '../golden/events');

const USUAL_OUTCOME = { events: [], state: [], ignored: [], unreadable: [] };
/** An event and a change of state both have them. */
const USUAL_EVENT = {
  waba_id: '900000000000001',
  phone_number_id: '800000000000001',
  display_phone_number: null,
  contact: null,
  timestamp: 1_790_000_000,
};
/** Stands for a field that an outcome lacks, which is not usual. */
const ABSENT = '=absent';

/** What is shorter is easier to read than its place. */
const PLACE_MIN_LENGTH = 60;
const PLACE = /^=(\/.*)$/;

export const goldenNames = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.in.json'))
  .map((file) => file.slice(0, -'.in.json'.length));

export const readGolden = (name: string, side: 'in' | 'out'): string =>
  readFileSync(join(FOLDER, `${name}.${side}.json`), 'utf8');

type Print = (value: unknown) => string;
type Fields = Record<string, unknown>;

/** The outcome as its file has it: with the places of what it repeats, and what is not usual. */
export function shorten(
  outcome: Fields & { events: object[]; state: object[] },
  body: unknown,
  print: Print,
): object {
  const places = placesOf(body, print);
  const placed = mapped(outcome, (value) => places.get(print(value))) as typeof outcome;
  const [events, state] = [placed.events, placed.state].map((list) =>
    list.map((one) => withoutUsual(one as Fields, USUAL_EVENT, print)),
  );
  return withoutUsual({ ...placed, events, state }, USUAL_OUTCOME, print);
}

/** The places of the body's parts by their texts. */
function placesOf(body: unknown, print: Print): Map<string, string> {
  const places = new Map<string, string>();
  const note = (value: unknown, place: string): void => {
    if (!isComposed(value)) return;
    const text = print(value);
    if (text.length >= PLACE_MIN_LENGTH && !places.has(text)) places.set(text, place);
    for (const [key, part] of Object.entries(value)) note(part, `${place}/${key}`);
  };
  // Not for the whole body, which has no place of its own.
  for (const [key, part] of Object.entries(body ?? {})) note(part, `=/${key}`);
  return places;
}

function withoutUsual(fields: Fields, usual: Fields, print: Print): Fields {
  const absent = Object.keys(usual).filter((name) => fields[name] === undefined);
  const kept = Object.entries(fields).filter(
    ([name, value]) => !(name in usual) || print(value) !== print(usual[name]),
  );
  return Object.fromEntries([...kept, ...absent.map((name) => [name, ABSENT])]);
}

/** The events of an outcome, with their usual fields and all that they repeat from the body. */
export function goldenEvents<T>(name: string): T[] {
  const body = JSON.parse(readGolden(name, 'in')) as unknown;
  const { events = [] } = JSON.parse(readGolden(name, 'out')) as { events?: object[] };
  const whole = events.map((event) => ({ ...USUAL_EVENT, ...event }));
  return mapped(whole, (value) => {
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
