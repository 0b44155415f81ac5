// Lanes against a simple model: any mix of arrivals, successes, failures and time.
import fc from 'fast-check';
import { createLanes, HOLD_MS, type Item } from './lanes';

type Step =
  | { kind: 'arrive'; partner: number; conversation: number }
  | { kind: 'answer'; which: number }
  | { kind: 'fail'; which: number; delay_ms: number }
  | { kind: 'wait'; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('arrive' as const),
    partner: fc.nat(2),
    conversation: fc.nat(2),
  }),
  fc.record({ kind: fc.constant('answer' as const), which: fc.nat(20) }),
  fc.record({
    kind: fc.constant('fail' as const),
    which: fc.nat(20),
    delay_ms: fc.constantFrom(5_000, 30_000, 120_000),
  }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(0, 50, 1_000, 31_000) }),
);

const SHARE = 4;
const TOTAL = 6;
/** Lanes wake on slots of the clock. */
const SLACK_MS = 200;

test('order, hold and shares hold for every course of events, and nothing gets stuck', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const lanes = createLanes<Item>(SHARE, TOTAL);
      const running: Item[] = [];
      const waiting = new Map<string, Item[]>();
      let now = 1_000_000;
      let order = 0;

      const take = (): void => {
        for (const item of lanes.take(now)) {
          const lane = waiting.get(item.lane) as Item[];
          expect(running.some((one) => one.lane === item.lane)).toBe(false);
          expect(item.next_attempt_at).toBeLessThanOrEqual(now);
          for (const before of lane.slice(0, lane.indexOf(item))) {
            // Passed by only while retried, and by a first attempt only after the hold.
            expect(before.attempts).toBeGreaterThan(0);
            if (item.attempts === 0) expect(now - item.arrived_at).toBeGreaterThanOrEqual(HOLD_MS);
          }
          running.push(item);
        }
        expect(running.length).toBeLessThanOrEqual(TOTAL);
        expect(lanes.in_flight).toBe(running.length);
        for (const partner of [0, 1, 2]) {
          const mine = running.filter(({ partner_id }) => partner_id === `p${partner}`);
          expect(mine.length).toBeLessThanOrEqual(SHARE);
        }
      };
      const remove = (item: Item): void => {
        const lane = waiting.get(item.lane) as Item[];
        lane.splice(lane.indexOf(item), 1);
      };
      const settle = (which: number, keep: boolean): void => {
        const [item] = running.splice(which % Math.max(1, running.length), 1);
        if (!item) return;
        if (!keep) remove(item);
        lanes.settle(item, keep, now, keep ? 'fails' : 'answers');
      };

      for (const one of steps) {
        if (one.kind === 'arrive') {
          const partner_id = `p${one.partner}`;
          const lane = `${partner_id}|${one.conversation}`;
          order += 1;
          const item: Item = {
            event_id: `e${order}`,
            partner_id,
            lane,
            partition: 0,
            order,
            arrived_at: now,
            attempts: 0,
            next_attempt_at: 0,
          };
          waiting.set(lane, [...(waiting.get(lane) ?? []), item]);
          lanes.add(item, now);
        } else if (one.kind === 'answer') settle(one.which, false);
        else if (one.kind === 'fail') {
          const item = running[one.which % Math.max(1, running.length)];
          if (item) {
            item.attempts += 1;
            item.next_attempt_at = now + one.delay_ms;
          }
          settle(one.which, true);
        } else now += one.ms;
        take();
      }

      // Whatever has happened: from now on all is answered, and all gets through.
      for (let round = 0; round < 1_000 && lanes.size > 0; round += 1) {
        while (running.length > 0) settle(0, false);
        now += SLACK_MS;
        if (lanes.in_flight === 0) now += 10_000;
        take();
      }
      expect(lanes.size).toBe(0);
      expect([...waiting.values()].flat()).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
