import type { ActiveNumber } from '../records/active';
import { chooseNumbers } from './choose-numbers';

const LANES_MAX = 10;
const numbersOf = (partner_id: string, count: number): Array<[string, ActiveNumber]> =>
  Array.from({ length: count }, (_, at) => [`${partner_id}${at}`, { partner_id, ids: [at] }]);

const choose = (active: Array<[string, ActiveNumber]>, lanes: string[] = []) =>
  chooseNumbers(new Map(active), LANES_MAX, new Set(lanes));

test('serves all numbers that it has lanes for', () => {
  expect(choose(numbersOf('a', LANES_MAX))).toHaveLength(LANES_MAX);
});

test('a partner with many numbers leaves lanes to the others, even if it held all of them', () => {
  const held = numbersOf('a', LANES_MAX).map(([number]) => number);
  const chosen = choose([...numbersOf('a', 500), ...numbersOf('b', 2), ...numbersOf('c', 1)], held);
  expect(chosen).toHaveLength(LANES_MAX);
  expect(chosen).toEqual(expect.arrayContaining(['b0', 'b1', 'c0']));
  // Of its own numbers, it keeps those that have a lane.
  expect(chosen.filter((number) => number.startsWith('a'))).toHaveLength(7);
  expect(held).toEqual(expect.arrayContaining(chosen.filter((number) => number.startsWith('a'))));
});

test('a number without a lane gets one after some looks', () => {
  const seen = new Set<string>();
  for (let look = 0; look < 500; look += 1) {
    for (const number of choose(numbersOf('a', 20))) seen.add(number);
  }
  expect(seen.size).toBe(20);
});
