// JSON that keeps the digits of integers beyond 2^53, which a double rounds. Such an integer is a
// `bigint`; every other number stays a number, so that texts without long integers cost one search.

// A double holds every integer of 15 digits. Only a number follows these characters.
const LONG_INTEGER = /[:[,]\s*-?\d{16}/;
const INTEGER = /^-?\d+$/;
/** A longer number, which no platform has, is a number: parsing the digits takes ever more time. */
const DIGITS_MAX = 400;

/** `JSON.parse` passes the text of a number, which the types of the language do not have yet. */
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object };

// JSON.stringify refuses a bigint unless it has this method, wherever a body is written.
Object.defineProperty(BigInt.prototype, 'toJSON', {
  configurable: true,
  value(this: bigint) {
    return rawJSON(this.toString());
  },
});

const exactInteger: Reviver = (_key, value, context) => {
  const digits = context?.source;
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  if (digits === undefined || String(value) === digits) return value;
  return INTEGER.test(digits) && digits.length <= DIGITS_MAX ? BigInt(digits) : value;
};

/** The reviver for a text, if it may have long integers. */
export const reviverOf = (text: string): ((key: string, value: unknown) => unknown) | undefined =>
  LONG_INTEGER.test(text) ? exactInteger : undefined;

/** Parses like JSON.parse, with long integers as `bigint`. */
export const parseExact = (text: string): unknown => JSON.parse(text, reviverOf(text)) as unknown;
