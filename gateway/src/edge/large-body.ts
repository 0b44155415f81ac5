// A body of many megabytes, a broadcast's contacts, must not hold up other requests. It passes
// three stages, each split into short turns in its own way, because each has the body in another
// form: `JsonScan` sees bytes as they arrive, counts what limits refuse, and finds where long
// arrays can be cut; `parseSliced` parses the text between the cuts; `encodeLong` encodes the
// request of the service item by item.
import { randomUUID } from 'node:crypto';
import { parse as secureParse } from 'secure-json-parse';
import { ApiError } from '@bmg/common/errors';
import { reviverOf } from '@bmg/common/json';
import { inTurns } from '@bmg/common/lifecycle';
import type { Codec } from '@bmg/common/rpc';
import type { Fields } from '../endpoints/endpoint';

// Character codes. No byte of a multi-byte UTF-8 character equals one of them.
const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** A long array of the top object: the places of its brackets and of some of its commas. */
interface LongArray {
  from: number;
  to: number;
  cuts: number[];
}

/** It accepts any bytes; the parser decides whether they are JSON. */
export class JsonScan {
  /** Upper bound of the number of values; keys do not count. */
  nodes = 1;
  deepest = 0;
  /** Length of the longest array of the top object. */
  items = 0;
  readonly long_arrays: LongArray[] = [];
  private depth = 0;
  private in_text = false;
  private escaped = false;
  private at = 0;
  private array: (LongArray & { items: number }) | undefined;

  /** Arrays of the top object are cut after at least `slice_bytes`. */
  constructor(private readonly slice_bytes: number) {}

  push(chunk: Uint8Array): void {
    const { length } = chunk;
    let { in_text, escaped } = this;
    for (let index = 0; index < length; index += 1) {
      const code = chunk[index] as number;
      if (in_text) {
        if (escaped) escaped = false;
        else if (code === BACKSLASH) escaped = true;
        else if (code === QUOTE) in_text = false;
      } else if (code === QUOTE) in_text = true;
      else if (code === COMMA) this.separate(this.at + index);
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.open(code, this.at + index);
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.close(this.at + index);
    }
    this.in_text = in_text;
    this.escaped = escaped;
    this.at += length;
  }

  private open(code: number, place: number): void {
    this.nodes += 1;
    this.depth += 1;
    if (this.depth > this.deepest) this.deepest = this.depth;
    if (this.depth === 2 && code === OPEN_BRACKET) {
      this.array = { from: place, to: place, cuts: [], items: 1 };
    }
  }

  private separate(place: number): void {
    this.nodes += 1;
    if (this.depth !== 2 || !this.array) return;
    this.array.items += 1;
    if (this.array.items > this.items) this.items = this.array.items;
    const last = this.array.cuts.at(-1) ?? this.array.from;
    if (place - last >= this.slice_bytes) this.array.cuts.push(place);
  }

  private close(place: number): void {
    this.depth -= 1;
    if (this.depth !== 1 || !this.array) return;
    this.array.to = place;
    if (this.array.cuts.length > 0) this.long_arrays.push(this.array);
    this.array = undefined;
  }
}

/** Long arrays are cut into slices of at least this size. */
export const SLICE_BYTES = 64 * 1024;
/** Parsed in one turn; a larger body is parsed slice by slice. */
const SLICE_BYTES_MAX = 1024 * 1024;
/** More items are encoded in turns with other requests. */
const ITEMS_MAX = 1_000;

/** Parses a body. Long arrays of its top object are parsed in turns with other requests. */
export async function parseSliced(bytes: Buffer, arrays: LongArray[]): Promise<unknown> {
  if (bytes.length <= SLICE_BYTES_MAX) return parseText(bytes.toString());
  // The text without the long arrays' items, each array marked by its number and an unguessable
  // word.
  const mark = randomUUID();
  const rest: Buffer[] = [];
  const items: unknown[][] = [];
  let from = 0;
  for (const [number, array] of arrays.entries()) {
    rest.push(bytes.subarray(from, array.from), Buffer.from(`["${mark}",${number}`));
    from = array.to;
    items.push(await parseItems(bytes, array));
  }
  const text = Buffer.concat([...rest, bytes.subarray(from)]);
  const value = parseText(slice(text, 0, text.length));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]: [string, unknown]) => [
      key,
      Array.isArray(member) && member[0] === mark ? items[member[1] as number] : member,
    ]),
  );
}

async function parseItems(bytes: Buffer, { from, to, cuts }: LongArray): Promise<unknown[]> {
  const items: unknown[] = [];
  let start = from + 1;
  await inTurns([...cuts, to], (end) => {
    const some = parseText(`[${slice(bytes, start, end)}]`) as unknown[];
    if (some.length === 0) throw notJson();
    for (const item of some) items.push(item);
    start = end + 1;
  });
  return items;
}

/** A part that cannot be cut is bounded: it is parsed in one turn. */
function slice(bytes: Buffer, from: number, to: number): string {
  if (to - from <= SLICE_BYTES_MAX) return bytes.toString('utf8', from, to);
  throw new ApiError('INVALID_PAYLOAD', `the body has a part larger than ${SLICE_BYTES_MAX} bytes`);
}

function parseText(text: string): unknown {
  try {
    return secureParse(text, reviverOf(text), { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    const forbidden = /__proto__|constructor/.test(text) && isJson(text);
    if (!forbidden) throw notJson(error);
    throw new ApiError(
      'INVALID_PAYLOAD',
      'the keys __proto__ and constructor are not allowed in the body',
      { cause: error },
    );
  }
}

const notJson = (cause?: unknown): ApiError =>
  new ApiError('INVALID_PAYLOAD', 'the body is not valid JSON', { cause });

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The message; with a long list its bytes: messages that are joined are merged by the decoder. */
export async function encodeLong(codec: Codec<object>, fields: object): Promise<object> {
  const [name, items] = Object.entries(fields as Fields).find(isLongList) ?? [];
  if (name === undefined) return codec.fromPartial(fields);
  const encode = (part: Fields): Uint8Array => codec.encode(codec.fromPartial(part)).finish();
  const parts = [encode({ ...fields, [name]: [] })];
  await inTurns(items as unknown[], (item) => parts.push(encode({ [name]: [item] })));
  return Buffer.concat(parts);
}

const isLongList = ([, value]: [string, unknown]): boolean =>
  Array.isArray(value) && value.length > ITEMS_MAX;
