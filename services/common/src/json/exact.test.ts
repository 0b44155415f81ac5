import fc from 'fast-check';
import { parseExact } from './index';

test.each([
  '{"flow_id":122097329108006499,"order_no":9007199254740993}',
  '{"flow_id":"122097329108006499"}',
  '[-9007199254740993,9007199254740993]',
  '{"a": [1,2.5,true,null,"x"],"b":{"c":18446744073709551615}}'.replace(': ', ':'),
  `[${'7'.repeat(100)}]`,
])('keeps every digit of %s', (text) => {
  expect(JSON.stringify(parseExact(text))).toBe(text);
});

test('a text without long integers is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(parseExact(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('any integer is written as it was read', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.boolean(), (integer, spaced) => {
      const text = `{"id":${spaced ? ' \n' : ''}${integer}}`;
      expect(JSON.stringify(parseExact(text))).toBe(`{"id":${integer}}`);
    }),
  );
});

test('only integers that a double rounds are bigint', () => {
  expect(parseExact('[9007199254740993,122097329108006500,0.12345678901234567,1e400]')).toEqual([
    9007199254740993n,
    122097329108006500,
    0.12345678901234567,
    Infinity,
  ]);
});

test('a number of a million digits is read in an instant', () => {
  expect(parseExact(`[${'7'.repeat(1_000_000)}]`)).toEqual([Infinity]);
});
