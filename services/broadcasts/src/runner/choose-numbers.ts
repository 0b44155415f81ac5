// Which numbers a worker serves when there are more than it has lanes for.
import type { ActiveNumber } from '../records';

/**
 * Partners take turns, so that one with many numbers does not take all lanes. Of a partner's
 * numbers, those with a lane keep it; free places go to others at random, so that none waits for
 * ever.
 */
export function chooseNumbers(
  active: ReadonlyMap<string, ActiveNumber>,
  lanes_max: number,
  lanes: { has(number: string): boolean },
): string[] {
  if (active.size <= lanes_max) return [...active.keys()];
  const order = new Map(
    [...active.keys()].map((number) => [number, lanes.has(number) ? 0 : 1 + Math.random()]),
  );
  const numbers = [...order.keys()].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  const turns = new Map<string, number>();
  const turnOf = new Map(
    numbers.map((number) => {
      const { partner_id = '' } = active.get(number) ?? {};
      const turn = turns.get(partner_id) ?? 0;
      turns.set(partner_id, turn + 1);
      return [number, turn];
    }),
  );
  // The sort is stable: within a turn, numbers with a lane come first.
  return numbers.sort((a, b) => (turnOf.get(a) ?? 0) - (turnOf.get(b) ?? 0)).slice(0, lanes_max);
}
