import { createLanes, HOLD_MS, type Item } from './lanes';

const item = (id: string, overrides: Partial<Item> = {}): Item => ({
  event_id: id,
  partner_id: 'p',
  lane: 'p|c',
  partition: 0,
  order: 0,
  arrived_at: 0,
  attempts: 0,
  next_attempt_at: 0,
  ...overrides,
});
const ids = (items: Item[]): string[] => items.map(({ event_id }) => event_id);

test('a lane has one attempt under way, and the next goes when it is over', () => {
  const lanes = createLanes<Item>(64, 1_000);
  const [a, b] = [item('a', { order: 1 }), item('b', { order: 2 })];
  lanes.add(a, 0);
  lanes.add(b, 0);
  expect(ids(lanes.take(0))).toEqual(['a']);
  expect(ids(lanes.take(0))).toEqual([]);
  lanes.settle(a, false, 0, 'answers');
  expect(ids(lanes.take(0))).toEqual(['b']);
  lanes.settle(b, false, 0, 'answers');
  expect([lanes.size, lanes.in_flight]).toEqual([0, 0]);
});

test('one that is being retried holds later ones for 30 seconds and no longer', () => {
  const lanes = createLanes<Item>(64, 1_000);
  const [a, b] = [item('a', { order: 1 }), item('b', { order: 2, arrived_at: 1_000 })];
  lanes.add(a, 0);
  lanes.add(b, 1_000);
  lanes.take(1_000);
  a.attempts = 1;
  a.next_attempt_at = 600_000;
  lanes.settle(a, true, 1_000, 'fails');
  expect(lanes.isHeld(b)).toBe(true);
  expect(lanes.take(1_000 + HOLD_MS - 200)).toEqual([]);
  expect(ids(lanes.take(1_000 + HOLD_MS + 200))).toEqual(['b']);
  lanes.settle(b, false, 40_000, 'answers');
  expect(ids(lanes.take(600_100))).toEqual(['a']);
});

test('a row read back from the store goes before what came after it', () => {
  const lanes = createLanes<Item>(64, 1_000);
  lanes.add(item('later', { order: 9 }), 0);
  lanes.add(item('earlier', { order: 4 }), 0);
  lanes.add(item('between', { order: 7 }), 0);
  const order: string[] = [];
  for (let taken = lanes.take(0); taken.length > 0; taken = lanes.take(0)) {
    order.push(...ids(taken));
    for (const one of taken) lanes.settle(one, false, 0, 'answers');
  }
  expect(order).toEqual(['earlier', 'between', 'later']);
});

test('what waits behind a forgotten one is due at once', () => {
  const lanes = createLanes<Item>(64, 1_000);
  const a = item('a', { order: 1, attempts: 3, next_attempt_at: 500_000 });
  lanes.add(a, 0);
  lanes.add(item('b', { order: 2 }), 0);
  expect(lanes.take(100)).toEqual([]);
  expect(lanes.forgetOne('a', 100)).toBe(a);
  expect(ids(lanes.take(100))).toEqual(['b']);
});

test('one under way cannot be forgotten', () => {
  const lanes = createLanes<Item>(64, 1_000);
  const a = item('a');
  lanes.add(a, 0);
  lanes.take(0);
  expect(lanes.forgetOne('a', 0)).toBeUndefined();
  expect(lanes.forget(() => true, 0)).toEqual([]);
  lanes.settle(a, false, 0);
  expect(lanes.size).toBe(0);
});

test('an event made due is tried though its time was later', () => {
  const lanes = createLanes<Item>(64, 1_000);
  const a = item('a', { attempts: 3, next_attempt_at: 500_000 });
  lanes.add(a, 0);
  a.next_attempt_at = 10;
  lanes.touch(a, 20);
  expect(ids(lanes.take(20))).toEqual(['a']);
});

describe('shares', () => {
  const fill = (lanes: ReturnType<typeof createLanes<Item>>, partner_id: string, count: number) => {
    for (let index = 0; index < count; index += 1) {
      const id = `${partner_id}${index}`;
      lanes.add(item(id, { partner_id, lane: id, order: index }), 0);
    }
  };

  test('a partner begins with a small share, which grows to its bound as it answers', () => {
    const lanes = createLanes<Item>(64, 1_000);
    fill(lanes, 'p', 5_000);
    let most = 0;
    const first = lanes.take(0);
    expect(first).toHaveLength(8);
    let running = first;
    for (let round = 0; round < 20; round += 1) {
      for (const one of running) lanes.settle(one, false, 0, 'answers');
      running = lanes.take(0);
      most = Math.max(most, lanes.in_flight);
    }
    expect(most).toBe(64);
  });

  test('the share of one that fails shrinks, and comes back when it answers', () => {
    const lanes = createLanes<Item>(64, 1_000);
    fill(lanes, 'p', 5_000);
    let running = lanes.take(0);
    for (let round = 0; round < 5; round += 1) {
      for (const one of running) {
        one.attempts += 1;
        one.next_attempt_at = 1_000_000;
        lanes.settle(one, true, 0, 'fails');
      }
      running = lanes.take(0);
    }
    expect(lanes.in_flight).toBe(2);
    for (let round = 0; round < 10; round += 1) {
      for (const one of running) lanes.settle(one, false, 0, 'answers');
      running = lanes.take(0);
    }
    expect(lanes.in_flight).toBe(64);
  });

  test('a hundred partners that hang leave room for one that does not', () => {
    const lanes = createLanes<Item>(64, 1_024);
    for (let partner = 0; partner < 100; partner += 1) fill(lanes, `hung${partner}-`, 100);
    lanes.take(0);
    fill(lanes, 'well', 100);
    expect(lanes.take(0).filter(({ partner_id }) => partner_id === 'well')).toHaveLength(8);
  });

  test('when all is in use, partners take turns', () => {
    const lanes = createLanes<Item>(8, 8);
    fill(lanes, 'a', 100);
    fill(lanes, 'b', 100);
    const served = { a: 0, b: 0 };
    for (let round = 0; round < 10; round += 1) {
      for (const one of lanes.take(0)) {
        served[one.partner_id as 'a' | 'b'] += 1;
        lanes.settle(one, false, 0, 'answers');
      }
    }
    expect(served).toEqual({ a: 40, b: 40 });
  });
});

test('a long lane costs the same per event as a short one', () => {
  const time = (count: number): number => {
    const lanes = createLanes<Item>(64, 1_000);
    for (let order = 0; order < count; order += 1) lanes.add(item(`e${order}`, { order }), 0);
    const started = performance.now();
    for (let taken = lanes.take(0); taken.length > 0; taken = lanes.take(0)) {
      for (const one of taken) lanes.settle(one, false, 0, 'answers');
    }
    return (performance.now() - started) / count;
  };
  time(3_000);
  const short = Math.min(time(1_000), time(1_000), time(1_000));
  const long = Math.min(time(10_000), time(10_000), time(10_000));
  // Quadratic would be ten times as much.
  expect(long).toBeLessThan(short * 5);
});
