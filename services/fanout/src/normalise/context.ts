// The context that a field function gets beside its value, and the functions that record its
// results. Nothing here depends on a specific field.
import { hash } from 'node:crypto';
import { isLosslessNumber } from 'lossless-json';
import { occurrence, type ExtraUpstreamEvent } from '@bmg/common/messages';
import {
  createContacts,
  isObject,
  listOf,
  objectOf,
  placeOf,
  toEpoch,
  toText,
  VALUE_FRAME,
  type Contacts,
  type Entry,
  type JsonObject,
  type Place,
} from '@bmg/common/upstream-webhook';
import type { Ignored, IgnoredReason, Normalised, NormalisedEvent, StateChangeKind } from './types';

/** A field's name comes from the body: bounds its length in log lines and metrics. */
const FIELD_NAME_MAX = 64;
/** 132 bits: collisions are practically impossible. */
const FINGERPRINT_LENGTH = 22;

export interface Context {
  readonly field: string;
  readonly entry: Entry;
  readonly now: number;
  readonly place: Place;
  readonly contacts: Contacts;
  readonly out: Normalised;
}

/** Reads a value of a field, or an item of a list in it. */
export type FieldFunction = (value: JsonObject, context: Context) => void;
/** A known field without an event of its own: it becomes `upstream.other`. */
export const NO_EVENT = null;
/** A chapter's fields, by the upstream's name, with the functions that read them. */
export type FieldRows = Readonly<Record<string, FieldFunction | typeof NO_EVENT>>;

export const createOutbox = (): Normalised => ({
  events: [],
  state: [],
  ignored: new Map(),
  unreadable: [],
});

export function createContext(
  value: JsonObject,
  { field, entry, now, out }: Pick<Context, 'field' | 'entry' | 'now' | 'out'>,
): Context {
  const place = placeOf(value, entry);
  return { field, entry, now, place, contacts: createContacts(value.contacts), out };
}

/** The part of an event or a state change that its field knows. */
interface Given {
  occurrence: string;
  contact?: string | null;
  /** Defaults to the entry's time. */
  timestamp?: number;
  data: Record<string, unknown>;
  /** A number that only this value names. */
  digits?: string | null;
}

export function emit(
  context: Context,
  event: Given & Pick<NormalisedEvent, 'event' | 'ignored_as'> & { callback_data?: string | null },
): void {
  const { place } = context;
  const { callback_data, ignored_as } = event;
  const digits = event.digits ?? place.digits;
  const emitted: NormalisedEvent = {
    occurrence: event.occurrence,
    event: event.event,
    waba_id: place.waba_id,
    phone_number_id: place.phone_number_id,
    display_phone_number: place.phone_number_id === null ? digits : null,
    contact: event.contact ?? null,
    timestamp: event.timestamp ?? timeOf(undefined, context),
    data: event.data,
  };
  // Spreading would be ten times as slow.
  if (callback_data) emitted.callback_data = callback_data;
  if (ignored_as) emitted.ignored_as = ignored_as;
  context.out.events.push(emitted);
}

/** Emits an event that a partner gets only if a filter of its own names it. */
export function emitExtra(
  context: Context,
  { reason = 'no_event', ...event }: Given & { event: ExtraUpstreamEvent; reason?: IgnoredReason },
): void {
  const ignored_as = { field: context.field.slice(0, FIELD_NAME_MAX), reason };
  emit(context, { ...event, ignored_as });
}

/** Emits a field without a row as it is; `item` names the list of a value whose item has none. */
export function emitOther(
  context: Context,
  reason: IgnoredReason,
  value: unknown,
  item?: string,
): void {
  const field = context.field.slice(0, FIELD_NAME_MAX);
  const key = item?.slice(0, FIELD_NAME_MAX);
  emitExtra(context, {
    event: 'upstream.other',
    occurrence: keyOfContent('other', value, context, field, key ?? null),
    timestamp: timeOf(objectOf(value)?.timestamp, context),
    data: { field, ...(key !== undefined && { item: key }), value },
    reason,
  });
}

export function changeState(context: Context, change: Given & { kind: StateChangeKind }): void {
  const { place } = context;
  const digits = change.digits ?? place.digits;
  context.out.state.push({
    occurrence: change.occurrence,
    kind: change.kind,
    waba_id: place.waba_id,
    phone_number_id: place.phone_number_id,
    display_phone_number: place.phone_number_id === null ? digits : null,
    contact: change.contact ?? null,
    timestamp: change.timestamp ?? timeOf(undefined, context),
    data: change.data,
  });
}

export function ignore(
  { out, field }: Pick<Context, 'out' | 'field'>,
  reason: IgnoredReason,
): void {
  countIgnored(out, { field: field.slice(0, FIELD_NAME_MAX), reason });
}

export function countIgnored(
  { ignored }: Pick<Normalised, 'ignored'>,
  item: Pick<Ignored, 'field' | 'reason'>,
): void {
  const key = `${item.reason}|${item.field}`;
  const known = ignored.get(key);
  if (known === undefined) ignored.set(key, { ...item, count: 1 });
  else known.count += 1;
}

export function refuse(
  { out, field }: Pick<Context, 'out' | 'field'>,
  reason: string,
  item: unknown,
): void {
  out.unreadable.push({ field: field.slice(0, FIELD_NAME_MAX), reason, item });
}

/** Reads every item of a list. An unreadable item is refused and the others continue. */
export function eachItem(list: unknown, context: Context, read: FieldFunction): void {
  for (const item of listOf(list)) {
    try {
      if (isObject(item)) read(item, context);
      else refuse(context, 'not_an_object', item);
    } catch (error) {
      refuse(context, reasonOf(error), item);
    }
  }
}

/** Reads the lists of a value in the value's own order. Others are emitted as they are. */
export function lists(readers: Readonly<Record<string, FieldFunction>>): FieldFunction {
  const known = new Map(Object.entries({ ...readers, errors: valueErrors }));
  return (value, context) => {
    let empty = true;
    for (const name of Object.keys(value)) {
      const read = known.get(name);
      if (read === undefined && VALUE_FRAME.has(name)) continue;
      const list = value[name];
      if (listOf(list).length > 0) empty = false;
      if (read !== undefined) eachItem(list, context, read);
      else if (isObject(list) || listOf(list).length > 0) {
        emitOther(context, 'no_event', list, name);
      }
    }
    if (empty) ignore(context, 'empty');
  };
}

/** The reason for an item on which our own code failed. */
export function reasonOf(error: unknown): string {
  return `unexpected_error: ${error instanceof Error ? error.name : typeof error}`;
}

/** The item's own time, else the entry's, else now: an event always has a timestamp. */
export function timeOf(timestamp: unknown, context: Pick<Context, 'entry' | 'now'>): number {
  return toEpoch(timestamp) ?? context.entry.time ?? context.now;
}

/** The occurrence key of an item: its upstream id, or a fingerprint of its content without one. */
export function keyOfItem(space: string, item: JsonObject, context: Context): string {
  const id = toText(item.id);
  return id === null
    ? occurrence(space, context.place.key, '', fingerprint(item))
    : occurrence(space, context.place.key, id);
}

/** The occurrence key of a value without an id: number, `parts`, the entry's time, the content. */
export function keyOfContent(
  space: string,
  value: unknown,
  context: Context,
  ...parts: readonly (string | null)[]
): string {
  return occurrence(space, context.place.key, ...parts, context.entry.time, fingerprint(value));
}

/** Errors of a value as a whole. */
function valueErrors(item: JsonObject, context: Context): void {
  emitOther(context, 'value_errors', item, 'errors');
}

/**
 * A hash of the content, for items without an upstream id. The order of keys does not matter.
 * Upstream repeats whole bodies, so it depends only on the body, never on the current time.
 */
function fingerprint(value: unknown): string {
  return hash('sha256', canonical(value), 'base64url').slice(0, FINGERPRINT_LENGTH);
}

function canonical(value: unknown): string {
  if (isLosslessNumber(value)) return value.value;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}
