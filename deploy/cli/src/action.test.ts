import { count } from './action';

test.each([
  [0, '0 slots'],
  [1, '1 slot'],
  [2, '2 slots'],
])('counts %i in the right number', (n, text) => expect(count(n, 'slot')).toBe(text));
