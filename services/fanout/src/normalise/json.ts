// Bytes to values and back. Upstream ids can be JSON numbers beyond 2^53, which JSON.parse would
// round; such bodies, and only such, take the slower exact parser. Everything else stays on the
// fast path.

import { LosslessNumber, parse, stringify } from 'lossless-json';

/** Deeper bodies are refused: recursive readers further on must not run out of stack. */
const NESTING_MAX = 64;

/** Every number of at most 15 digits and no exponent survives a double unchanged. */
const SAFE_NUMBER_LENGTH = 15;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const LETTER_E = 0x65;

/** Throws when the bytes are no JSON, or nested absurdly deep. */
export function parseUpstream(bytes: Buffer | string): { body: unknown; lossless: boolean } {
  const text = typeof bytes === 'string' ? bytes : bytes.toString('utf8');
  const lossless = survey(text);
  try {
    return { body: lossless ? parseExactly(text) : JSON.parse(text), lossless };
  } catch {
    // The parsers quote the text around the fault; message text has no place in logs.
    throw new SyntaxError('the body is not valid JSON');
  }
}

export function stringifyData(value: unknown, lossless: boolean): string {
  return (lossless ? stringify(value) : JSON.stringify(value)) ?? 'null';
}

/**
 * One pass over the text outside its strings: refuses absurd nesting and tells whether a number
 * may lose digits. It need not understand faulty JSON, since the parser will.
 */
function survey(text: string): boolean {
  let depth = 0;
  let lossless = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = closingQuote(text, at);
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > NESTING_MAX) throw new RangeError(`nested deeper than ${NESTING_MAX} levels`);
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
    } else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at);
      lossless ||= mayLoseDigits(text.slice(at, end + 1));
      at = end;
    }
  }
  return lossless;
}

/** The place of the quote that ends the string opened at `open`, or the end of the text. */
function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

/** The place of the last character of the number that starts at `start`. */
function endOfNumber(text: string, start: number): number {
  let at = start;
  while (isOfNumber(text.charCodeAt(at + 1))) at += 1;
  return at;
}

function isOfNumber(code: number): boolean {
  return isDigit(code) || code === DOT || code === MINUS || code === PLUS || isExponent(code);
}

function isExponent(code: number): boolean {
  return (code | 0x20) === LETTER_E;
}

function mayLoseDigits(number: string): boolean {
  return number.length > SAFE_NUMBER_LENGTH || /e/i.test(number);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function parseExactly(text: string): unknown {
  return parse(text, null, {
    parseNumber: exactNumber,
    // As JSON.parse does: the last of two equal keys counts.
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/** A plain number where it prints as it was read, so that few readers ever meet the other kind. */
function exactNumber(text: string): unknown {
  const number = Number(text);
  return String(number) === text ? number : new LosslessNumber(text);
}
