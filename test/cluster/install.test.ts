import { quantity } from './install';

test.each([
  ['250m', 0.25],
  ['12345678n', 0.012345678],
  ['2', 2],
  ['192Mi', 192 * 1024 ** 2],
  ['1Gi', 1024 ** 3],
  ['131072Ki', 128 * 1024 ** 2],
])('reads the quantity %s', (text, value) => {
  expect(quantity(text)).toBeCloseTo(value, 9);
});

test('refuses a quantity with an unknown unit', () => {
  expect(() => quantity('5 apples')).toThrow('5 apples is no quantity');
});
