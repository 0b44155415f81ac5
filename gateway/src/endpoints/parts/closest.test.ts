import { closest } from './closest';

const known = ['phone_number_id', 'waba_id', 'text', 'to'];

test.each([
  ['txt', 'text'],
  ['phoneNumberId', 'phone_number_id'],
  ['wabaid', 'waba_id'],
  ['To', 'to'],
])('reads %s as a misspelt %s', (given, expected) => {
  expect(closest(given, known)).toBe(expected);
});

test.each(['body', 'ot', 'x'.repeat(200), ''])('finds no name close to "%s"', (given) => {
  expect(closest(given, known)).toBeUndefined();
});
