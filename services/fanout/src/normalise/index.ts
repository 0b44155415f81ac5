// The normaliser turns an upstream webhook body into events and state changes. It is pure (no
// clock, store or network) and never throws: unreadable items are returned with a reason.
import {
  fieldOf,
  isObject,
  listOf,
  objectOf,
  toEpoch,
  toText,
  type Entry,
  type JsonObject,
} from '@bmg/common/upstream-webhook';
import {
  createContext,
  createOutbox,
  emitOther,
  ignore,
  reasonOf,
  refuse,
  type FieldFunction,
} from './context';
import { FIELDS } from './fields';
import type { Normalised } from './types';

export { countIgnored } from './context';
export type { Normalised, NormalisedEvent, StateChange, StateChangeKind } from './types';

/** The `object` of every body that upstream sends for business accounts. */
const OBJECT = 'whatsapp_business_account';

interface Run {
  readonly now: number;
  readonly out: Normalised;
}

/** Reads any parsed body without throwing. `now` is in epoch seconds. */
export function normalise(body: unknown, now: number): Normalised {
  const run: Run = { now, out: createOutbox() };
  guarded(run, '', body, () => readBody(body, run));
  return run.out;
}

function readBody(body: unknown, run: Run): void {
  const about = { out: run.out, field: '' };
  if (!isObject(body)) return refuse(about, 'not_an_object', body);
  if (body.object !== OBJECT) return refuse(about, 'wrong_object', body);
  if (body.entry === undefined || body.entry === null) return refuse(about, 'no_entry', body);
  const entries = listOf(body.entry);
  if (entries.length === 0) ignore(about, 'empty');
  for (const entry of entries) guarded(run, '', entry, () => readEntry(entry, run));
}

function readEntry(entry: unknown, run: Run): void {
  const about = { out: run.out, field: '' };
  if (!isObject(entry)) return refuse(about, 'not_an_object', entry);
  const changes = listOf(entry.changes);
  if (changes.length === 0) return ignore(about, 'empty');
  const read: Entry = { id: toText(entry.id), time: toEpoch(entry.time) };
  for (const change of changes) guarded(run, '', change, () => readChange(change, read, run));
}

function readChange(change: unknown, entry: Entry, run: Run): void {
  if (!isObject(change)) return refuse({ out: run.out, field: '' }, 'not_an_object', change);
  const field = fieldOf(change);
  const about = { out: run.out, field: field ?? '' };
  if (field === null) return refuse(about, 'no_field', change);
  const row = FIELDS.get(field);
  if (!row) return readOther(change, { field, entry, known: row !== undefined }, run);
  const values = listOf(change.value);
  if (values.length === 0) return refuse(about, 'no_value', change);
  for (const value of values) {
    guarded(run, field, value, () => readValue(value, { row, field, entry }, run));
  }
}

/** A field without a row is never refused: partners that ask for `upstream.other` get it. */
function readOther(
  change: JsonObject,
  { field, entry, known }: { field: string; entry: Entry; known: boolean },
  { now, out }: Run,
): void {
  const reason = known ? 'no_event' : 'unknown_field';
  const values = listOf(change.value);
  if (values.length === 0) return ignore({ out, field }, reason);
  for (const value of values) {
    const context = createContext(objectOf(value) ?? {}, { field, entry, now, out });
    if (context.place.key === '') ignore(context, reason);
    else emitOther(context, reason, value);
  }
}

function readValue(
  value: unknown,
  { row, field, entry }: { row: FieldFunction; field: string; entry: Entry },
  { now, out }: Run,
): void {
  if (!isObject(value)) return refuse({ out, field }, 'not_an_object', value);
  const context = createContext(value, { field, entry, now, out });
  // No recipient can be found if there is neither an account nor a number.
  if (context.place.key === '') return refuse(context, 'no_account', value);
  row(value, context);
}

/** An error in one part of a body makes only that part unreadable. */
function guarded({ out }: Run, field: string, item: unknown, read: () => void): void {
  try {
    read();
  } catch (error) {
    refuse({ out, field }, reasonOf(error), item);
  }
}
