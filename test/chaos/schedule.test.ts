import { planFaults, type FaultKind } from './schedule';

const KINDS: FaultKind[] = [
  { name: 'kill', weight: 4, targets: ['a', 'b', 'c'], lasts_ms: [100, 3_000] },
  { name: 'pause', weight: 1, targets: ['a', 'engine'], lasts_ms: [1_000, 30_000] },
];
const RUN_MS = 600_000;

test('the same seed gives the same faults at the same times, another seed gives others', () => {
  expect(planFaults(7, RUN_MS, KINDS)).toEqual(planFaults(7, RUN_MS, KINDS));
  expect(planFaults(8, RUN_MS, KINDS)).not.toEqual(planFaults(7, RUN_MS, KINDS));
});

test.each([1, 2, 3, 4, 5])(
  'faults of seed %i stay in their bounds, end before the run, and never share a target',
  (seed) => {
    const planned = planFaults(seed, RUN_MS, KINDS);
    expect(planned.length).toBeGreaterThan(50);
    for (const [index, one] of planned.entries()) {
      const { lasts_ms, targets } = KINDS.find(({ name }) => name === one.name) as FaultKind;
      expect(one.lasts_ms).toBeGreaterThanOrEqual(lasts_ms[0]);
      expect(one.lasts_ms).toBeLessThanOrEqual(lasts_ms[1]);
      expect(targets).toContain(one.target);
      expect(one.at_ms + one.lasts_ms).toBeLessThan(RUN_MS);
      const running = planned
        .slice(0, index)
        .filter(({ at_ms, lasts_ms: ms }) => at_ms + ms > one.at_ms);
      expect(running.map(({ target }) => target)).not.toContain(one.target);
      expect(running.length).toBeLessThan(3);
    }
  },
);
