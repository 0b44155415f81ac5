import { closest } from './closest';

const known = ['phone_number_id', 'waba_id', 'text', 'to'];

test.each([
  ['txt', 'text'],
  ['phoneNumberId', 'phone_number_id'],
  ['wabaid', 'waba_id'],
  ['To', 'to'],
])('takes %s for %s', (given, expected) => {
  expect(closest(given, known)).toBe(expected);
});

test.each(['body', 'ot', 'x'.repeat(200), ''])('takes "%s" for nothing', (given) => {
  expect(closest(given, known)).toBeUndefined();
});
