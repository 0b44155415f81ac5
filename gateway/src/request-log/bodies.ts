// The record of a body: its structure and its keys, without what people wrote. Bounded in depth,
// keys, items and bytes, so that the cost does not grow with the body. Pure.
import { JsonText } from '../endpoints/parts/json-text';
import { showsKey, showsNumber, showsText, type Place } from './allowed';

const BYTES_MAX = 4 * 1_024;
const DEPTH_MAX = 10;
const KEYS_MAX = 50;
const ITEMS_MAX = 20;
/** What JSON adds to a key and its value. */
const PUNCTUATION = 6;
/** The key under which an object says that some of its keys were cut. */
const CUT = '…';

interface Room {
  /** Bytes. */
  left: number;
}

/** What stands instead of a value that is not shown. */
export const hidden = (what: string): string => `… (${what})`;

const counted = (count: number, noun: string): string =>
  hidden(`${count} ${noun}${count === 1 ? '' : 's'}`);

/** JSON text. `top` is the parent of the keys at the top. */
export const recordOf = (body: object, top: string): string =>
  JSON.stringify(shown(body, { key: top, parent: '' }, { left: BYTES_MAX }, 0));

function shown(value: unknown, place: Place, room: Room, depth: number): unknown {
  if (typeof value === 'object' && value !== null) return shownObject(value, place, room, depth);
  const record = shownLeaf(value, place);
  room.left -= Buffer.byteLength(String(record));
  return record;
}

function shownLeaf(value: unknown, place: Place): unknown {
  if (typeof value === 'string') {
    return showsText(value, place) ? value : counted(value.length, 'character');
  }
  if (typeof value === 'number' && showsNumber(value, place.key)) return value;
  if (typeof value === 'number' || typeof value === 'bigint') return hidden('a number');
  return typeof value === 'boolean' ? value : null;
}

function shownObject(value: object, place: Place, room: Room, depth: number): unknown {
  if (value instanceof Date) {
    room.left -= 'YYYY-MM-DDTHH:MM:SS.mmmZ'.length;
    return value;
  }
  if (value instanceof JsonText) return counted(value.text.length, 'character');
  if (ArrayBuffer.isView(value)) return counted(value.byteLength, 'byte');
  if (depth === DEPTH_MAX) return hidden('nested deeper');
  return Array.isArray(value)
    ? shownItems(value, place, room, depth + 1)
    : shownKeys(value as Record<string, unknown>, place, room, depth + 1);
}

function shownItems(items: unknown[], place: Place, room: Room, depth: number): unknown[] {
  const record: unknown[] = [];
  for (const item of items) {
    if (record.length === ITEMS_MAX || room.left <= 0) break;
    room.left -= PUNCTUATION;
    record.push(shown(item, place, room, depth));
  }
  const more = items.length - record.length;
  if (more > 0) record.push(hidden(`${more} more`));
  return record;
}

function shownKeys(
  fields: Record<string, unknown>,
  { key: parent }: Place,
  room: Room,
  depth: number,
): object {
  const record = new Map<string, unknown>();
  const keys = Object.keys(fields).filter((key) => fields[key] !== undefined);
  for (const [index, key] of keys.entries()) {
    if (index === KEYS_MAX || room.left <= 0) {
      record.set(CUT, hidden(`${keys.length - index} more, cut`));
      break;
    }
    const name = showsKey(key) ? key : counted(key.length, 'character');
    room.left -= Buffer.byteLength(name) + PUNCTUATION;
    record.set(name, shown(fields[key], { key, parent }, room, depth));
  }
  return Object.fromEntries(record);
}
