import fc from 'fast-check';
import { parseBsuid, maskPhone, normalisePhone, PHONE_PATTERN } from './phone';

const digits = fc.stringMatching(/^[1-9][0-9]{6,14}$/);
const separator = fc.constantFrom('', ' ', '-', '.', '(', ')', '\u00a0', '\u2011', '  ');

describe('normalisePhone', () => {
  test.each([
    ['15551234567', '15551234567'],
    ['+15551234567', '15551234567'],
    ['+1 (555) 123-4567', '15551234567'],
    ['+60 12.345.6789', '60123456789'],
    [' +49 30 1234567 ', '49301234567'],
    ['+1\u2011555\u20111234567', '15551234567'],
    ['\u202a+1 555 123 4567\u202c', '15551234567'],
    ['\u200e15551234567\ufeff', '15551234567'],
    ['\u00a0+15551234567\u200b', '15551234567'],
    ['1555\u200b1234567', null],
    ['+683 4000', '6834000'],
    ['123456789012345', '123456789012345'],
    ['1234567890123456', null],
    ['123456', null],
    ['0015551234567', null],
    ['+0015551234567', null],
    ['05551234567', null],
    ['+44 (0)20 7946 0958', null],
    ['1555+1234567', null],
    ['++15551234567', null],
    ['+', null],
    ['', null],
    ['tel:+15551234567', null],
    ['whatsapp:+15551234567', null],
    ['1555123456a', null],
    ['１５５５１２３４５６７', null],
    ['1.5551234567e10', null],
    [`1555${' '.repeat(100)}1234567`, null],
    ['US.15551234567', null],
  ])('%j is read as %j', (text, expected) => {
    expect(normalisePhone(text)).toBe(expected);
  });

  test('separators anywhere change nothing, and normalising twice is normalising once', () => {
    fc.assert(
      fc.property(digits, fc.array(separator, { maxLength: 15 }), (number, separators) => {
        const dressed = [...number].map((digit, i) => digit + (separators[i] ?? '')).join('');
        fc.pre(dressed.length <= 60 && !/\(\s*0\s*\)/.test(dressed));
        expect(normalisePhone(`+${dressed}`)).toBe(number);
        expect(normalisePhone(number)).toBe(number);
      }),
    );
  });

  test('a normalised number has 7 to 15 digits and no leading 0, or is refused', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[+0-9 ().-]{0,30}$/)), (text) => {
        const phone = normalisePhone(text);
        if (phone !== null) {
          expect(phone).toMatch(/^[1-9]\d{6,14}$/);
          expect(parseBsuid(text)).toBeNull();
        }
      }),
    );
  });
});

test('every text of the published pattern is read as a phone number', () => {
  fc.assert(
    fc.property(fc.stringMatching(new RegExp(`^${PHONE_PATTERN}$`)), (text) => {
      expect(normalisePhone(text)).toMatch(/^[1-9]\d{6,14}$/);
    }),
  );
  for (const text of ['15551234567', '+1 (555) 123-4567', '+60 12.345.6789']) {
    expect(text).toMatch(new RegExp(`^${PHONE_PATTERN}$`));
  }
});

describe('maskPhone', () => {
  test.each([
    ['+1 (555) 123-4777', '1555••••777'],
    ['155512345777', '1555•••••777'],
    ['6834123', '••••123'],
    ['US.13491208655302741918', 'US.•••••918'],
    ['US.ENT.1', 'US.•••••'],
    ['hello', '•••••'],
    ['', '•••••'],
  ])('%j is shown as %j', (text, expected) => {
    expect(maskPhone(text)).toBe(expected);
  });

  test('at least four digits of a number are hidden, and its length is kept', () => {
    fc.assert(
      fc.property(digits, (number) => {
        const masked = maskPhone(number);
        expect([...masked]).toHaveLength(number.length);
        expect(masked.replace(/\d/g, '').length).toBeGreaterThanOrEqual(4);
      }),
    );
  });
});
