import { createAddressCheck, isAddressRange, isWithinRanges } from './addresses';

describe('a range', () => {
  test.each(['203.0.113.7', '203.0.113.0/24', '0.0.0.0/0', '2001:db8::1', '2001:db8::/48', '::/0'])(
    'is %s',
    (text) => expect(isAddressRange(text)).toBe(true),
  );

  test.each([
    '',
    'localhost',
    '203.0.113',
    '203.0.113.256',
    '203.0.113.0/33',
    '203.0.113.0/-1',
    '203.0.113.0/',
    '203.0.113.0/24/1',
    '2001:db8::/129',
    '::ffff:203.0.113.7',
    'fe80::1%eth0',
    ' 203.0.113.7',
    '203.0.113.7,203.0.113.8',
  ])('is not %j', (text) => expect(isAddressRange(text)).toBe(false));
});

describe('an address', () => {
  const isAllowed = createAddressCheck(['203.0.113.0/24', '198.51.100.7', '2001:db8:1::/48']);

  test.each([
    '203.0.113.0',
    '203.0.113.255',
    '198.51.100.7',
    '::ffff:203.0.113.9',
    '2001:db8:1:ffff::1',
    '2001:DB8:1::2',
  ])('%s is in the ranges', (address) => expect(isAllowed(address)).toBe(true));

  test.each([
    '203.0.114.1',
    '198.51.100.8',
    '::ffff:203.0.114.9',
    '2001:db8:2::1',
    '::1',
    '127.0.0.1',
    '',
    'unknown',
  ])('%j is not', (address) => expect(isAllowed(address)).toBe(false));

  test('is in no range of a list that has none', () => {
    expect(createAddressCheck([])('203.0.113.1')).toBe(false);
    expect(createAddressCheck(['nonsense'])('203.0.113.1')).toBe(false);
  });
});

describe('a range inside others', () => {
  const outer = ['203.0.113.0/24', '2001:db8::/32'];

  test.each(['203.0.113.0/24', '203.0.113.128/25', '203.0.113.7', '2001:db8:5::/48'])(
    '%s',
    (inner) => expect(isWithinRanges(inner, outer)).toBe(true),
  );

  test.each(['203.0.113.0/23', '203.0.0.0/16', '0.0.0.0/0', '198.51.100.7', '2001::/16', 'x'])(
    'not %s',
    (inner) => expect(isWithinRanges(inner, outer)).toBe(false),
  );
});
