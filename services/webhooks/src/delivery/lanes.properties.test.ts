// Lanes against a simple model: any mix of arrivals, successes, failures and passing time.
import fc from 'fast-check';
import { laneItem } from '../../test/builders';
import { HOLD_MS, type LaneItem } from './lane';
import { Lanes } from './lanes';

const step = fc.oneof(
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

/** `expect` would take most of the time of this test. */
function holds(promise: boolean): void {
  if (!promise) throw new Error('a promise of the lanes is broken');
}

const SHARE = 4;
const TOTAL = 6;
/** Waiting lanes wake on slots of 100 ms. */
const SLACK_MS = 200;

test('keeps order, hold and shares for any sequence of events, and attempts every delivery', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const lanes = new Lanes<LaneItem>(SHARE, TOTAL);
      const in_flight: LaneItem[] = [];
      const waiting = new Map<string, LaneItem[]>();
      let now = 1_000_000;
      let order = 0;

      const startDue = (): void => {
        for (const item of lanes.startDue(now)) {
          const lane = waiting.get(item.lane) as LaneItem[];
          holds(!in_flight.some((one) => one.lane === item.lane));
          holds(item.next_attempt_at <= now);
          for (const before of lane.slice(0, lane.indexOf(item))) {
            // Overtaken only while it is retried, and by a first attempt only after the hold.
            holds(before.attempts > 0);
            holds(item.attempts > 0 || now - item.arrived_at >= HOLD_MS);
          }
          in_flight.push(item);
        }
        holds(in_flight.length <= TOTAL && lanes.in_flight === in_flight.length);
        for (const partner of [0, 1, 2]) {
          const mine = in_flight.filter(({ partner_id }) => partner_id === `p${partner}`);
          holds(mine.length <= SHARE);
        }
      };
      const remove = (item: LaneItem): void => {
        const lane = waiting.get(item.lane) as LaneItem[];
        lane.splice(lane.indexOf(item), 1);
      };
      const endAttempt = (which: number, keep: boolean): void => {
        const [item] = in_flight.splice(which % Math.max(1, in_flight.length), 1);
        if (!item) return;
        if (keep) return lanes.retryLater(item, now, 'failure');
        remove(item);
        lanes.complete(item, now, 'success');
      };

      for (const one of steps) {
        if (one.kind === 'arrive') {
          const partner_id = `p${one.partner}`;
          const lane = `${partner_id}|${one.conversation}`;
          order += 1;
          const item = laneItem(`e${order}`, { partner_id, lane, order, arrived_at: now });
          waiting.set(lane, [...(waiting.get(lane) ?? []), item]);
          lanes.add(item, now);
        } else if (one.kind === 'answer') endAttempt(one.which, false);
        else if (one.kind === 'fail') {
          const item = in_flight[one.which % Math.max(1, in_flight.length)];
          if (item) {
            item.attempts += 1;
            item.next_attempt_at = now + one.delay_ms;
          }
          endAttempt(one.which, true);
        } else now += one.ms;
        startDue();
      }

      // Whatever has happened: once receivers answer, every delivery is delivered.
      for (let round = 0; round < 1_000 && lanes.size > 0; round += 1) {
        while (in_flight.length > 0) endAttempt(0, false);
        now += SLACK_MS;
        if (lanes.in_flight === 0) now += 10_000;
        startDue();
      }
      expect(lanes.size).toBe(0);
      expect([...waiting.values()].flat()).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
