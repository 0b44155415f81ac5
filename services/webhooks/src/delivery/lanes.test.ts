import { laneItem as item } from '../../test/builders';
import { HOLD_MS, type LaneItem } from './lane';
import { Lanes } from './lanes';

const ids = (items: LaneItem[]): string[] => items.map(({ event_id }) => event_id);

test('a delivery being retried blocks later ones of its lane for 30 seconds and no longer', () => {
  const lanes = new Lanes<LaneItem>(64, 1_000);
  const [a, b] = [item('a', { order: 1 }), item('b', { order: 2, arrived_at: 1_000 })];
  lanes.add(a, 0);
  lanes.add(b, 1_000);
  lanes.startDue(1_000);
  a.attempts = 1;
  a.next_attempt_at = 600_000;
  lanes.retryLater(a, 1_000, 'failure');
  expect(lanes.isBlocked(b)).toBe(true);
  expect(lanes.startDue(1_000 + HOLD_MS - 200)).toEqual([]);
  expect(ids(lanes.startDue(1_000 + HOLD_MS + 200))).toEqual(['b']);
  lanes.complete(b, 40_000, 'success');
  expect(ids(lanes.startDue(600_100))).toEqual(['a']);
});

test('a row read back from the store goes before the deliveries that arrived after it', () => {
  const lanes = new Lanes<LaneItem>(64, 1_000);
  lanes.add(item('later', { order: 9 }), 0);
  lanes.add(item('earlier', { order: 4 }), 0);
  lanes.add(item('between', { order: 7 }), 0);
  const order: string[] = [];
  for (let taken = lanes.startDue(0); taken.length > 0; taken = lanes.startDue(0)) {
    order.push(...ids(taken));
    for (const one of taken) lanes.complete(one, 0, 'success');
  }
  expect(order).toEqual(['earlier', 'between', 'later']);
});

test('a delivery is due at once when the one that blocks it is removed', () => {
  const lanes = new Lanes<LaneItem>(64, 1_000);
  const a = item('a', { order: 1, attempts: 3, next_attempt_at: 500_000 });
  lanes.add(a, 0);
  lanes.add(item('b', { order: 2 }), 0);
  expect(lanes.startDue(100)).toEqual([]);
  expect(lanes.remove('a', 100)).toBe(a);
  expect(ids(lanes.startDue(100))).toEqual(['b']);
});

test('a delivery in flight cannot be removed', () => {
  const lanes = new Lanes<LaneItem>(64, 1_000);
  const a = item('a');
  lanes.add(a, 0);
  lanes.startDue(0);
  expect(lanes.remove('a', 0)).toBeUndefined();
  expect(lanes.removeWhere(() => true, 0)).toEqual([]);
  lanes.complete(a, 0, 'none');
  expect(lanes.size).toBe(0);
});

test('a delivery made due is attempted before its original time', () => {
  const lanes = new Lanes<LaneItem>(64, 1_000);
  const a = item('a', { attempts: 3, next_attempt_at: 500_000 });
  lanes.add(a, 0);
  a.next_attempt_at = 10;
  lanes.reschedule(a, 20);
  expect(ids(lanes.startDue(20))).toEqual(['a']);
});

describe('shares', () => {
  const fill = (lanes: Lanes<LaneItem>, partner_id: string, count: number, receiver?: string) => {
    for (let index = 0; index < count; index += 1) {
      const id = `${receiver ?? partner_id}${index}`;
      lanes.add(item(id, { partner_id, receiver, lane: id, order: index }), 0);
    }
  };

  test('a share starts small and grows to its maximum with successes', () => {
    const lanes = new Lanes<LaneItem>(64, 1_000);
    fill(lanes, 'p', 5_000);
    let most = 0;
    const first = lanes.startDue(0);
    expect(first).toHaveLength(8);
    let in_flight = first;
    for (let round = 0; round < 20; round += 1) {
      for (const one of in_flight) lanes.complete(one, 0, 'success');
      in_flight = lanes.startDue(0);
      most = Math.max(most, lanes.in_flight);
    }
    expect(most).toBe(64);
  });

  test('a share shrinks with failures and grows back with successes', () => {
    const lanes = new Lanes<LaneItem>(64, 1_000);
    fill(lanes, 'p', 5_000);
    let in_flight = lanes.startDue(0);
    for (let round = 0; round < 5; round += 1) {
      for (const one of in_flight) {
        one.attempts += 1;
        one.next_attempt_at = 1_000_000;
        lanes.retryLater(one, 0, 'failure');
      }
      in_flight = lanes.startDue(0);
    }
    expect(lanes.in_flight).toBe(2);
    for (let round = 0; round < 10; round += 1) {
      for (const one of in_flight) lanes.complete(one, 0, 'success');
      in_flight = lanes.startDue(0);
    }
    expect(lanes.in_flight).toBe(64);
  });

  test('a hundred hung partners leave room for a healthy one', () => {
    const lanes = new Lanes<LaneItem>(64, 1_024);
    for (let partner = 0; partner < 100; partner += 1) fill(lanes, `hung${partner}-`, 100);
    lanes.startDue(0);
    fill(lanes, 'well', 100);
    expect(lanes.startDue(0).filter(({ partner_id }) => partner_id === 'well')).toHaveLength(8);
  });

  test('a destination has batches, and takes no place of a URL', () => {
    const lanes = new Lanes<LaneItem>(64, 64);
    for (let partner = 0; partner < 8; partner += 1) {
      fill(lanes, `p${partner}`, 1_000, `p${partner}/whd_1`);
    }
    let in_flight = lanes.startDue(0);
    expect(in_flight).toHaveLength(8 * 32);
    for (let round = 0; round < 20; round += 1) {
      for (const one of in_flight) lanes.retryLater(one, 0, 'success');
      in_flight = lanes.startDue(0);
    }
    // Four times the total.
    expect([lanes.in_flight, lanes.in_flight_at_urls]).toEqual([256, 0]);
    fill(lanes, 'p0', 100);
    expect(lanes.startDue(0)).toHaveLength(8);
    expect(lanes.in_flight_at_urls).toBe(8);
  });

  test('partners take turns while the total is used up', () => {
    const lanes = new Lanes<LaneItem>(8, 8);
    fill(lanes, 'a', 100);
    fill(lanes, 'b', 100);
    const served = { a: 0, b: 0 };
    for (let round = 0; round < 10; round += 1) {
      for (const one of lanes.startDue(0)) {
        served[one.partner_id as 'a' | 'b'] += 1;
        lanes.complete(one, 0, 'success');
      }
    }
    expect(served).toEqual({ a: 40, b: 40 });
  });
});

test('a long lane costs the same per delivery as a short one', () => {
  const time = (count: number, length: number): number => {
    const lanes = Array.from({ length: count }, () => new Lanes<LaneItem>(64, 1_000));
    for (const one of lanes) {
      for (let order = 0; order < length; order += 1) one.add(item(`e${order}`, { order }), 0);
    }
    // CPU time: other processes of a busy machine do not count.
    const started = process.cpuUsage();
    for (const one of lanes) {
      for (let taken = one.startDue(0); taken.length > 0; taken = one.startDue(0)) {
        for (const delivery of taken) one.complete(delivery, 0, 'success');
      }
    }
    const { user, system } = process.cpuUsage(started);
    return user + system;
  };
  const fastest = (count: number, length: number): number =>
    Math.min(...Array.from({ length: 3 }, () => time(count, length)));
  time(3, 1_000);
  // Quadratic would be ten times as much; a pause of the collector is small beside it.
  expect(fastest(1, 10_000)).toBeLessThan(fastest(10, 1_000) * 5);
});
