// Equality of phone numbers. In Brazil, Mexico and Argentina the platform writes one mobile number
// in two ways. Numbers are compared, grouped and de-duplicated by their key; they are sent, stored
// and shown as they were written. A false merge hands one person's messages to another, so that
// numbers in doubt differ. All functions take digits without `+`; any other text equals only itself.

// The 67 area codes in use; numbers of mobiles start with 6 to 9 before the ninth digit.
const AREA_OF_BRAZIL = '(?:1[1-9]|2[12478]|3[1-578]|4[1-9]|5[1345]|6[1-9]|7[134579]|8[1-9]|9[1-9])';
const SUBSCRIBER_OF_BRAZIL = '[6-9]\\d{7}';
const SUBSCRIBER_OF_MEXICO = '[2-9]\\d{9}';
const SUBSCRIBER_OF_ARGENTINA = '[1-3]\\d{9}';

interface Rule {
  /** The digits before and after those that only the long spelling has. */
  readonly long: RegExp;
  readonly short: RegExp;
  /** Digits that only the long spelling has. */
  readonly inserted: string;
  readonly key: 'long' | 'short';
}

const rule = (start: string, inserted: string, rest: string, key: Rule['key']): Rule => ({
  long: new RegExp(`^(${start})${inserted}(${rest})$`),
  short: new RegExp(`^(${start})(${rest})$`),
  inserted,
  key,
});

const BRAZIL = rule(`55${AREA_OF_BRAZIL}`, '9', SUBSCRIBER_OF_BRAZIL, 'long');
const MEXICO = rule('52', '1', SUBSCRIBER_OF_MEXICO, 'short');
const ARGENTINA = rule('54', '9', SUBSCRIBER_OF_ARGENTINA, 'short');

const COUNTRY_CODE_FIRST = '5';
const SHORT_LENGTH = 12;
const LONG_LENGTH = 13;

/** The number of both spellings that stands for the number. */
export function numberKey(digits: string): string {
  const found = ruleOf(digits);
  if (found === undefined) return digits;
  return found.key === 'long' ? longOf(digits, found) : shortOf(digits, found);
}

export const isSameNumber = (one: string, other: string): boolean =>
  one === other || numberKey(one) === numberKey(other);

/** All numbers that are equal to this one, as it is written first. */
export function spellingsOf(digits: string): [string, ...string[]] {
  const found = ruleOf(digits);
  if (found === undefined) return [digits];
  const other = digits.length === LONG_LENGTH ? shortOf(digits, found) : longOf(digits, found);
  return other === digits ? [digits] : [digits, other];
}

// Numbers of other countries cost the comparison of a length and a character.
function ruleOf(digits: string): Rule | undefined {
  const { length } = digits;
  if (length !== SHORT_LENGTH && length !== LONG_LENGTH) return undefined;
  if (!digits.startsWith(COUNTRY_CODE_FIRST)) return undefined;
  switch (digits.charAt(1)) {
    case '5':
      return BRAZIL;
    case '2':
      return MEXICO;
    case '4':
      return ARGENTINA;
    default:
      return undefined;
  }
}

const longOf = (digits: string, { short, inserted }: Rule): string =>
  digits.replace(short, `$1${inserted}$2`);

const shortOf = (digits: string, { long }: Rule): string => digits.replace(long, '$1$2');
