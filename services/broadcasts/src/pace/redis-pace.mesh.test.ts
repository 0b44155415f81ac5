import { openTestRedis, unique } from '../../test/stores';
import { eventually } from '../../../../test/testkit/eventually';
import { createPace, type Slots } from './redis-pace';

const open = openTestRedis();
const pace = createPace(open);
afterAll(() => open.close());

const reserve = async (number: string, rate: number, count: number, lead = 0): Promise<Slots> => {
  const slots = await pace.reserve(number, rate, count, lead);
  if (!slots) throw new Error('Redis is unavailable');
  return slots;
};

/** The bounds of when the first slot begins: the answer took some time to arrive. */
const beginning = async (number: string, rate: number, count: number, lead = 0) => {
  const asked = performance.now();
  const slots = await reserve(number, rate, count, lead);
  const answered = performance.now();
  return { ...slots, earliest: asked + slots.wait_ms, latest: answered + slots.wait_ms };
};

test('slots follow each other at the interval of the rate across reservations', async () => {
  const number = unique('n');
  const starts: { earliest: number; latest: number }[] = [];
  for (let at = 0; at < 10; at += 1) {
    // The lead keeps the slots in the future, on a slow machine too.
    const slots = await beginning(number, 20, 2, at === 0 ? 1_200 : 0);
    expect(slots).toMatchObject({ count: 2 });
    expect(slots.interval_ms).toBeCloseTo(50, 1);
    starts.push({ earliest: slots.earliest - at * 100, latest: slots.latest - at * 100 });
  }
  // All ten agree on when the first slot began.
  const earliest = Math.max(...starts.map((start) => start.earliest));
  const latest = Math.min(...starts.map((start) => start.latest));
  expect(earliest).toBeLessThan(latest + 1);
});

test('an idle number saves up no slots', async () => {
  const number = unique('n');
  await reserve(number, 100, 1);
  // The test needs the idle time.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const first = await beginning(number, 100, 10);
  const second = await beginning(number, 100, 10);
  expect(second.latest - first.earliest).toBeGreaterThan(99);
});

test('the first slot respects the lead time', async () => {
  const { wait_ms } = await reserve(unique('n'), 80, 1, 250);
  expect(wait_ms).toBeCloseTo(250, 0);
});

test('hands out slots for the next 2.5 seconds only', async () => {
  const number = unique('n');
  const started = performance.now();
  const { count } = await reserve(number, 20, 1_000);
  expect(count).toBeLessThanOrEqual(51);
  const further = await reserve(number, 20, 1_000);
  // Plus the slots that have come within the horizon since, one every 50 ms.
  expect(count + further.count).toBeLessThanOrEqual(52 + (performance.now() - started) / 50);
  const refused = await eventually(async () => {
    const slots = await reserve(number, 20, 1_000);
    return slots.count === 0 && slots;
  });
  expect(refused.wait_ms).toBeGreaterThan(0);
  expect(refused.wait_ms).toBeLessThan(200);
});

test('concurrent refusals lower the rate by a third once, and it recovers slowly', async () => {
  const number = unique('n');
  await reserve(number, 100, 1);
  expect(await pace.rate(number)).toBe(100);
  await Promise.all(Array.from({ length: 20 }, () => pace.slowDown(number)));
  const slowed_at = performance.now();
  const slowed = (await pace.rate(number)) ?? 0;
  expect(slowed).toBeGreaterThan(66);
  expect(slowed).toBeLessThan(69);
  const later = await eventually(async () => {
    const rate = (await pace.rate(number)) ?? 0;
    return rate > slowed && rate;
  });
  // All of it within a minute.
  const seconds = (performance.now() - slowed_at) / 1_000;
  expect(later).toBeLessThan(slowed + (100 * seconds) / 60 + 1);
});

test('numbers are independent of each other', async () => {
  const [one, other] = [unique('n'), unique('n')];
  await reserve(one, 20, 20);
  expect((await reserve(other, 20, 1)).wait_ms).toBeLessThan(5);
  expect(await pace.rate(unique('n'))).toBeUndefined();
});

test('hands out no slots while Redis is unavailable', async () => {
  const gone = openTestRedis();
  gone.redis.disconnect();
  const away = createPace(gone);
  expect(await away.reserve('n', 20, 1, 0)).toBeUndefined();
  expect(await away.rate('n')).toBeUndefined();
  await away.slowDown('n');
});

test('own sends take slots from the broadcasts, up to half of the horizon', async () => {
  const number = unique('n');
  // A number without a pace is not affected.
  await pace.giveWay(number, 5);
  expect((await reserve(number, 20, 1)).wait_ms).toBeLessThan(50);
  const before = await beginning(number, 20, 1);
  await pace.giveWay(number, 4);
  const after = await beginning(number, 20, 1);
  // Four slots and its own, 50 ms each.
  expect(after.latest - before.earliest).toBeGreaterThanOrEqual(249);
  await pace.giveWay(number, 1_000);
  const { count, wait_ms } = await reserve(number, 20, 1);
  expect(count).toBe(1);
  expect(wait_ms).toBeLessThanOrEqual(1_250);
});
