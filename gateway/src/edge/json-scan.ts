// Scans JSON text while its bytes arrive: how deep it is nested, how many values it has, and where
// long arrays can be cut. It accepts any bytes; the parser decides whether they are JSON.

// Character codes. No byte of a multi-byte UTF-8 character equals one of them.
const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** A long array of the top object: the places of its brackets and of some of its commas. */
export interface LongArray {
  from: number;
  to: number;
  cuts: number[];
}

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
