import { LosslessNumber } from 'lossless-json';
import { isObject, listOf, toContact, toDigits, toEpoch, toNumber, toText } from './read';

test.each([
  ['wamid.1', 'wamid.1'],
  ['', null],
  [300000000000001, '300000000000001'],
  [2 ** 80, '1208925819614629174706176'],
  [1.5, null],
  [Number.NaN, null],
  [new LosslessNumber('90071992547409931234'), '90071992547409931234'],
  [new LosslessNumber('1.5'), null],
  [true, null],
  [{ id: '1' }, null],
  [undefined, null],
])('toText(%p) is %p', (value, text) => expect(toText(value)).toBe(text));

test.each([
  [55, 55],
  ['55', 55],
  [' ', null],
  ['many', null],
  [new LosslessNumber('55.0'), 55],
  [new LosslessNumber('1e400'), null],
  [Number.POSITIVE_INFINITY, null],
  [null, null],
])('toNumber(%p) is %p', (value, number) => expect(toNumber(value)).toBe(number));

test.each([
  ['1790000000', 1_790_000_000],
  [1790000000.9, 1_790_000_000],
  [1790000000123, 1_790_000_000],
  ['0', null],
  [-5, null],
  ['2026-10-01T00:00:00Z', null],
  [1e300, null],
])('toEpoch(%p) is %p', (value, seconds) => expect(toEpoch(value)).toBe(seconds));

test.each([
  ['15550100777', '15550100777'],
  ['+1 (555) 010-0777', '15550100777'],
  ['US.4Qm7Zr81Kd02', 'US.4Qm7Zr81Kd02'],
  ['US.ENT.9Pt3Lw66Ha10', 'US.ENT.9Pt3Lw66Ha10'],
  ['Y2FwaV9ncm91cDpJTlZFTlRFRA==', 'Y2FwaV9ncm91cDpJTlZFTlRFRA=='],
  ['()', null],
  [null, null],
])('toContact(%p) is %p', (value, contact) => expect(toContact(value)).toBe(contact));

test('toDigits reads phone numbers only', () => {
  expect(toDigits('+1 555 010 0001')).toBe('15550100001');
  expect(toDigits(15550100001)).toBe('15550100001');
  expect(toDigits('US.4Qm7Zr81Kd02')).toBeNull();
});

test('listOf wraps a single value and returns no items for null', () => {
  expect(listOf({ a: 1 })).toEqual([{ a: 1 }]);
  expect(listOf(null)).toEqual([]);
  expect(listOf(undefined)).toEqual([]);
});

test('isObject excludes lists and exact numbers', () => {
  expect([[], null, 'x', new LosslessNumber('1')].some(isObject)).toBe(false);
  expect(isObject({ isLosslessNumber: true, value: '1' })).toBe(true);
});
