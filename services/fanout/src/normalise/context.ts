// The context that a field function gets beside its value, and the functions that record its
// results. Nothing here depends on a specific field.

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
import type { EventName } from './event-names';
import { fingerprint } from './fingerprint';
import type { Ignored, IgnoredReason, Normalised, NormalisedEvent, StateChangeKind } from './types';

/** A field's name comes from the body: bounds its length in log lines and metrics. */
const FIELD_NAME_MAX = 64;

export interface Context {
  readonly field: string;
  readonly entry: Entry;
  readonly now: number;
  readonly place: Place;
  readonly contacts: Contacts;
  readonly out: Normalised;
}

export type FieldFunction = (value: JsonObject, context: Context) => void;
/** A known field without an event of its own: it becomes `upstream.other`. */
export const NO_EVENT = null;
/** A chapter's fields, by the upstream's name, with the functions that read them. */
export type FieldRows = Readonly<Record<string, FieldFunction | typeof NO_EVENT>>;

export type ItemReader = (item: JsonObject, context: Context) => void;

export const createOutbox = (): Normalised => ({
  events: [],
  state: [],
  ignored: new Map(),
  unreadable: [],
});

export function createContext(
  value: JsonObject,
  change: { field: string; entry: Entry; now: number; out: Normalised },
): Context {
  return {
    field: change.field,
    entry: change.entry,
    now: change.now,
    place: placeOf(value, change.entry),
    contacts: createContacts(value.contacts),
    out: change.out,
  };
}

export function emit(
  context: Context,
  event: {
    event: EventName;
    occurrence: string;
    contact: string | null;
    timestamp: number;
    data: Record<string, unknown>;
    callback_data?: string | null;
    /** A number that only this event names. */
    digits?: string | null;
    ignored_as?: NormalisedEvent['ignored_as'];
  },
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
    contact: event.contact,
    timestamp: event.timestamp,
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
  event: {
    event: ExtraUpstreamEvent;
    occurrence: string;
    contact?: string | null;
    timestamp: number;
    data: Record<string, unknown>;
    reason?: IgnoredReason;
  },
): void {
  const { reason = 'no_event', contact = null, ...emitted } = event;
  const ignored_as = { field: context.field.slice(0, FIELD_NAME_MAX), reason };
  emit(context, { ...emitted, contact, ignored_as });
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

export function changeState(
  context: Context,
  change: {
    kind: StateChangeKind;
    occurrence: string;
    contact: string | null;
    timestamp: number;
    data: Record<string, unknown>;
    /** A number that only this change names. */
    digits?: string | null;
  },
): void {
  const { place } = context;
  const digits = change.digits ?? place.digits;
  context.out.state.push({
    occurrence: change.occurrence,
    kind: change.kind,
    waba_id: place.waba_id,
    phone_number_id: place.phone_number_id,
    display_phone_number: place.phone_number_id === null ? digits : null,
    contact: change.contact,
    timestamp: change.timestamp,
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
export function eachItem(list: unknown, context: Context, read: ItemReader): void {
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
export function eachList(
  value: JsonObject,
  context: Context,
  readers: ReadonlyMap<string, ItemReader>,
): void {
  let empty = true;
  for (const name of Object.keys(value)) {
    const read = readers.get(name);
    if (read === undefined && VALUE_FRAME.has(name)) continue;
    const list = value[name];
    if (listOf(list).length > 0) empty = false;
    if (read !== undefined) eachItem(list, context, read);
    else if (isObject(list) || listOf(list).length > 0) emitOther(context, 'no_event', list, name);
  }
  if (empty) ignore(context, 'empty');
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

/**
 * The occurrence key of a value without an id: number, `parts`, the entry's time and the content.
 */
export function keyOfContent(
  space: string,
  value: unknown,
  context: Context,
  ...parts: readonly (string | null)[]
): string {
  return occurrence(space, context.place.key, ...parts, context.entry.time, fingerprint(value));
}

/** Errors of a value as a whole. */
export function valueErrors(item: JsonObject, context: Context): void {
  emitOther(context, 'value_errors', item, 'errors');
}
