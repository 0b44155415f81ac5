import { createPace } from '../pace/redis-pace';
import { eventually } from '../../../../test/testkit/eventually';
import { useRig } from '../../test/rig';
import { unique } from '../../test/stores';
import { aCredential, createMessagingDouble, refusal, type Sent } from '../../test/worker';

const rig = useRig();

/** The default share of a number's rate. */
const SHARE = 0.95;

const ratePerSec = (sent: Sent[]): number =>
  ((sent.length - 1) * 1_000) / ((sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0));

/** The highest number of sends in any period of one second. */
const mostInOneSecond = (sent: Sent[]): number =>
  Math.max(
    ...sent.map(({ at }) => sent.filter((one) => one.at >= at && one.at < at + 1_000).length),
  );

/** After this time a slot is missed. */
const LATE_MS = 50;

/** What a machine that stalls delays, broadcast or not. */
interface Yardstick {
  /** The share of pings to Redis that were on time. */
  kept: number;
  /** The longest time for which nothing ran, or Redis did not answer. */
  stalled_ms: number;
}

/** A yardstick beside a broadcast: pings Redis 20 times a second. */
function startYardstick(): () => Yardstick {
  const began = performance.now();
  let last = 0;
  let last_look = began;
  let kept = 0;
  let stalled_ms = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    stalled_ms = Math.max(stalled_ms, now - last_look);
    last_look = now;
    const slot = Math.floor((now - began) / LATE_MS);
    if (slot === last) return;
    last = slot;
    const due = began + slot * LATE_MS;
    const answered = (): void => {
      if (performance.now() - due <= LATE_MS) kept += 1;
      stalled_ms = Math.max(stalled_ms, performance.now() - now);
    };
    rig.redis.ping().then(answered, () => undefined);
  }, LATE_MS / 4);
  return () => {
    clearInterval(timer);
    return { kept: kept / Math.floor((performance.now() - began) / LATE_MS), stalled_ms };
  };
}

/**
 * The most sends that a second may see. A send leaves at its slot or later, and the slots are one
 * share of the rate apart: those of a second and of the longest stall can arrive in one second.
 */
const mostOf = (rate: number, { stalled_ms }: Yardstick): number =>
  Math.max(rate, Math.floor((1 + stalled_ms / 1_000) * rate * SHARE) + 1);

test('a number in the business app sends its share of 20 a second within 5 %, and never above 20', async () => {
  const messaging = createMessagingDouble(120);
  const { _id } = await rig.broadcast(200);
  const endYardstick = startYardstick();
  await rig.worker({ messaging, credentials: () => aCredential({ is_on_biz_app: true }) });
  await rig.until(_id, 'completed');
  const yardstick = endYardstick();
  expect(messaging.sent).toHaveLength(200);
  const rate = ratePerSec(messaging.sent);
  expect(rate).toBeGreaterThan(20 * SHARE * 0.95 * Math.min(1, yardstick.kept));
  expect(rate).toBeLessThan(20 * SHARE * 1.05);
  expect(mostInOneSecond(messaging.sent)).toBeLessThanOrEqual(mostOf(20, yardstick));
});

test('two broadcasts of one number share its pace; another number is not affected', async () => {
  const messaging = createMessagingDouble(60);
  const phone_number_id = unique('n');
  const [first, second, other] = await Promise.all([
    rig.broadcast(200, { phone_number_id }),
    rig.broadcast(200, { phone_number_id }),
    rig.broadcast(200),
  ]);
  const endYardstick = startYardstick();
  await Promise.all([rig.worker({ messaging }), rig.worker({ messaging })]);
  await Promise.all([first, second, other].map(({ _id }) => rig.until(_id, 'completed')));
  const yardstick = endYardstick();
  const sentOn = (number: string) =>
    messaging.sent.filter((send) => send.phone_number_id === number);
  const [shared, alone] = [sentOn(phone_number_id), sentOn(other.phone_number_id)];
  expect(shared).toHaveLength(400);
  expect(alone).toHaveLength(200);
  const [rate, other_rate] = [ratePerSec(shared), ratePerSec(alone)];
  expect(Math.max(rate, other_rate)).toBeLessThan(80 * SHARE * 1.05);
  // A number that shared the pace of another one would have half of that one's rate. Both miss the
  // same slots on a busy machine.
  expect(other_rate).toBeGreaterThan(0.7 * rate);
  expect(mostInOneSecond(shared)).toBeLessThanOrEqual(mostOf(80, yardstick));
  // The broadcasts take turns once both have begun.
  const of =
    ({ _id }: { _id: unknown }) =>
    (send: Sent) =>
      send.request_id.startsWith(`bc_${String(_id)}_`);
  const begun = Math.max(shared.findIndex(of(first)), shared.findIndex(of(second)));
  const turns = shared.slice(begun, begun + 100).filter(of(first)).length;
  expect(turns).toBeGreaterThan(25);
  expect(turns).toBeLessThan(75);
});

test('a throttled number slows down, and every contact gets exactly one message', async () => {
  const messaging = createMessagingDouble(10);
  const refused = new Set<string>();
  messaging.answers((_request, { recipient }) => {
    if (messaging.sent.length < 20 || refused.size >= 10 || refused.has(recipient)) return;
    refused.add(recipient);
    throw refusal(130_429, true);
  });
  const { _id } = await rig.broadcast(150);
  await rig.worker({ messaging });
  await rig.until(_id, 'completed');
  expect(messaging.sent).toHaveLength(160);
  expect(new Set(messaging.recipients()).size).toBe(150);
  expect((await rig.counts(_id)).tally).toMatchObject({ sent: 150, failed: 0 });
  expect(ratePerSec(messaging.sent.slice(40, 100))).toBeLessThan(76 * 0.85);
});

test('sends nothing while the shared pace is unavailable, and continues once Redis is back', async () => {
  const messaging = createMessagingDouble(5);
  let down = true;
  let refused = 0;
  const pace = createPace({ redis: rig.redis });
  const { _id } = await rig.broadcast(10);
  await rig.worker({
    messaging,
    pace: {
      ...pace,
      reserve: async (...args) => {
        if (!down) return pace.reserve(...args);
        refused += 1;
        return undefined;
      },
    },
  });
  await eventually(() => refused >= 3);
  expect(messaging.sent).toHaveLength(0);
  // Nothing was sent, so the broadcast can still be cancelled.
  expect((await rig.load(_id)).status).toBe('pending');
  down = false;
  await rig.until(_id, 'completed');
  expect(messaging.sent).toHaveLength(10);
});
