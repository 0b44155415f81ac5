import fc from 'fast-check';
import { isSameNumber, numberKey, spellingsOf } from './number-equality';

const AREAS_OF_BRAZIL = 67;

/** Numbers close to the rules: their countries, their prefixes and one digit too many or too few. */
const nearRules = fc
  .tuple(
    fc.constantFrom('55', '52', '521', '54', '549', '1', '549111', '5511', '5584', '5580'),
    fc.stringMatching(/^[0-9]{5,11}$/),
  )
  .map(([start, rest]) => start + rest)
  .filter((digits) => digits.length <= 15);
const numbers = fc.oneof(nearRules, fc.stringMatching(/^[1-9][0-9]{6,14}$/));
/** A number and one that may be equal to it. */
const pairs = fc.oneof(
  fc.tuple(numbers, numbers),
  nearRules.chain((number) =>
    fc.tuple(fc.constant(number), fc.constantFrom(...spellingsOf(number))),
  ),
);

describe('two numbers', () => {
  test.each([
    ['551187650001', '5511987650001'],
    ['553188887777', '5531988887777'],
    ['559968887777', '5599968887777'],
    ['5215512345678', '525512345678'],
    ['5491154933738', '541154933738'],
    ['15550100777', '15550100777'],
    ['US.15550100777', 'US.15550100777'],
  ])('%s and %s are equal', (one, other) => {
    expect(isSameNumber(one, other)).toBe(true);
    expect(spellingsOf(one)).toContain(other);
    expect(spellingsOf(other)).toContain(one);
  });

  test.each([
    ['a landline of Brazil and a mobile', '551141234567', '5511941234567'],
    ['numbers of Brazil of different length', '5511912345678', '551112345678'],
    ['a free number of Brazil and a mobile', '558001234567', '5580901234567'],
    ['numbers in an area code that Brazil does not use', '552087650001', '5520987650001'],
    ['short numbers of Mexico', '521551234567', '52551234567'],
    ['a number of Mexico that starts with 1', '5211512345678', '521512345678'],
    ['numbers of Argentina without an area code', '5494154933738', '544154933738'],
    ['a number of Argentina with a 15', '54111554933738', '541154933738'],
    ['a number and its last digits', '15550100777', '5550100777'],
    ['a BSUID and the digits in it', 'BR.551187650001', '551187650001'],
  ])('%s differ', (_why, one, other) => {
    expect(isSameNumber(one, other)).toBe(false);
  });

  test('are equal by an equivalence: the key of a key is the key', () => {
    fc.assert(
      fc.property(pairs, ([one, other]) => {
        expect(numberKey(numberKey(one))).toBe(numberKey(one));
        expect(isSameNumber(one, other)).toBe(numberKey(one) === numberKey(other));
        expect(isSameNumber(one, other)).toBe(isSameNumber(other, one));
      }),
    );
  });

  test('are equal exactly if one is a spelling of the other', () => {
    fc.assert(
      fc.property(pairs, ([one, other]) => {
        expect(spellingsOf(one).includes(other)).toBe(isSameNumber(one, other));
        expect(spellingsOf(one)[0]).toBe(one);
      }),
    );
  });

  test('that are equal have the country and the last seven digits in common', () => {
    fc.assert(
      fc.property(numbers, (number) => {
        expect(numberKey(number).slice(0, 2)).toBe(number.slice(0, 2));
        expect(numberKey(number).slice(-7)).toBe(number.slice(-7));
      }),
    );
  });
});

test('the area codes of Brazil are the 67 in use', () => {
  const areas = Array.from({ length: 100 }, (_, area) => String(area).padStart(2, '0'));
  const used = areas.filter((area) => spellingsOf(`55${area}87650001`).length === 2);
  expect(used).toHaveLength(AREAS_OF_BRAZIL);
  for (const unused of ['10', '20', '23', '25', '26', '29', '36', '39', '52', '56', '72', '76']) {
    expect(used).not.toContain(unused);
  }
});

test('a text that is no number is equal to nothing but itself', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!/^\d+$/.test(text));
      expect(numberKey(text)).toBe(text);
      expect(spellingsOf(text)).toEqual([text]);
    }),
  );
});
