// Phone numbers as the upstream requires them, and business-scoped user IDs (BSUIDs). Only its form
// identifies a BSUID, and it must never be taken for a phone number: call parseBsuid before
// normalisePhone.

// The recognition pattern of the contract (section BSUID), the optional prefix outside the id
// itself.
const PREFIX = '(?:whatsapp:)?';
const ID = '[A-Z]{2}\\.(?:ENT\\.)?[A-Za-z0-9]{1,128}';
const BSUID = new RegExp(`^${PREFIX}(${ID})$`);
/** The texts that parseBsuid reads, as part of a JSON Schema pattern. */
export const BSUID_PATTERN = PREFIX + ID;
/** The texts that isParentBsuid recognises, as part of a JSON Schema pattern. */
export const PARENT_BSUID_PATTERN = `${PREFIX}[A-Z]{2}\\.ENT\\.[A-Za-z0-9]{1,128}`;
const PARENT_MARK = '.ENT.';

/** The BSUID in the text, without its optional `whatsapp:` prefix, or null when it is none. */
export function parseBsuid(text: string): string | null {
  return BSUID.exec(text)?.[1] ?? null;
}

/** Returns true for a BSUID of the parent form, `XX.ENT.<alphanumerics>`. */
export function isParentBsuid(text: string): boolean {
  return parseBsuid(text)?.includes(PARENT_MARK) ?? false;
}

// ITU-T E.164 allows at most 15 digits, country code included, and no country code starts with 0
// (so `00` and every national trunk prefix is refused). It sets no minimum: 7 digits is the length
// of the shortest international numbers in use.
const INTERNATIONAL = /^\+?([1-9]\d{6,14})$/;

// Separators that people and address books put between digits, typographic dashes included.
const SEPARATORS = /[\s().\u2010-\u2015\u2212-]/g;

// `+44 (0)20 ...` means "leave the 0 out when dialling from abroad": deleting only the parentheses
// would make another number of it.
const TRUNK_IN_PARENTHESES = /\(\s*0\s*\)/;

// Marks that address books and messengers put around a number: they have no width.
const INVISIBLE = '\\u00ad\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060\\u2066-\\u2069\\ufeff';
const MARKS_AROUND = new RegExp(`^[${INVISIBLE}\\s]+|[${INVISIBLE}\\s]+$`, 'g');

const TEXT_LENGTH_MAX = 64;

// A parenthesis is not opened before a 0, and the text stays below TEXT_LENGTH_MAX.
const GAP = '[ \u00a0.)\u2010-\u2015\u2212-]{0,3}';
const OPEN_GAP = '[ \u00a0().\u2010-\u2015\u2212-]{0,3}';
/** Phone numbers as people write them, as part of a JSON Schema pattern: normalisePhone reads them all. */
export const PHONE_PATTERN = `\\+?\\(?[1-9](?:${GAP}0|${OPEN_GAP}[1-9]){6,14}`;

/**
 * The digits of an international phone number without its `+`, or null when it is none. A number is
 * never guessed, because a guess would message a stranger.
 */
export function normalisePhone(text: string): string | null {
  if (text.length > TEXT_LENGTH_MAX || TRUNK_IN_PARENTHESES.test(text)) return null;
  const digits = text.replace(MARKS_AROUND, '').replace(SEPARATORS, '');
  return INTERNATIONAL.exec(digits)?.[1] ?? null;
}

const BULLET = '•';
const SHOWN_FIRST = 4;
const SHOWN_LAST = 3;
const HIDDEN_MIN = 4;
const HIDDEN_OTHERWISE = BULLET.repeat(5);
const BSUID_COUNTRY_LENGTH = 3;
const BSUID_TAIL_FROM_LENGTH = 12;

/**
 * A recipient masked for display: `15551234777` becomes `1555••••777`. At least four digits stay
 * hidden however short the number is; a BSUID keeps its country and last characters; any other text
 * is hidden completely.
 */
export function maskPhone(text: string): string {
  const phone = normalisePhone(text);
  if (phone !== null) {
    const shownFirst = Math.min(SHOWN_FIRST, phone.length - SHOWN_LAST - HIDDEN_MIN);
    const hidden = BULLET.repeat(phone.length - shownFirst - SHOWN_LAST);
    return phone.slice(0, shownFirst) + hidden + phone.slice(-SHOWN_LAST);
  }
  const bsuid = parseBsuid(text);
  if (bsuid === null) return HIDDEN_OTHERWISE;
  const tail = bsuid.length >= BSUID_TAIL_FROM_LENGTH ? bsuid.slice(-SHOWN_LAST) : '';
  return bsuid.slice(0, BSUID_COUNTRY_LENGTH) + HIDDEN_OTHERWISE + tail;
}
