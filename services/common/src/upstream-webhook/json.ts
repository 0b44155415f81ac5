// Parses webhook bodies and serialises event data without losing digits. Upstream ids can be JSON
// numbers beyond 2^53, which JSON.parse rounds: only bodies with such numbers take the slower exact
// parser.

import { LosslessNumber, parse, stringify } from 'lossless-json';

/** Deeper bodies are refused, so that recursive readers cannot exhaust the stack. */
const NESTING_MAX = 64;

/** A double holds every number of at most 15 digits without an exponent exactly. */
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

/**
 * Throws SyntaxError for invalid JSON and RangeError beyond NESTING_MAX levels. `lossless` shows
 * whether the body may hold LosslessNumber values.
 */
export function parseUpstream(bytes: Buffer | string): { body: unknown; lossless: boolean } {
  const text = typeof bytes === 'string' ? bytes : bytes.toString('utf8');
  const lossless = needsExactParser(text);
  try {
    return { body: lossless ? parseExactly(text) : JSON.parse(text), lossless };
  } catch {
    // The parsers' own errors quote the body, and message text must not reach the logs.
    throw new SyntaxError('the body is not valid JSON');
  }
}

export function stringifyData(value: unknown, lossless: boolean): string {
  return (lossless ? stringify(value) : JSON.stringify(value)) ?? 'null';
}

/**
 * Scans the text outside its strings once: throws beyond NESTING_MAX levels and returns whether a
 * double may lose digits of a number. Invalid JSON is left to the parser.
 */
function needsExactParser(text: string): boolean {
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

/** The index of the quote that closes the string opened at `open`, or the end of the text. */
function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

/** The index of the last character of the number that starts at `start`. */
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
    // As in JSON.parse, the last of two equal keys wins.
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/** A plain number if it prints exactly as written, so that LosslessNumber stays rare. */
function exactNumber(text: string): unknown {
  const number = Number(text);
  return String(number) === text ? number : new LosslessNumber(text);
}
