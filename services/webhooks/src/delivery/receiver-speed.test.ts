import { ReceiverSpeed } from './receiver-speed';

const FULL = { is_full: true, is_reduced: false };
const ROOM = { is_full: false, is_reduced: false };
const PARTNER = 'ptn_1';

/** An attempt that was answered after `response_ms`, at `now`. */
function answer(speed: ReceiverSpeed, receiver: string, response_ms: number, now: number): void {
  const attempt = {};
  speed.started(receiver, attempt, now - response_ms);
  speed.ended(receiver, attempt, now, true);
}

/** A receiver that has answered after `response_ms` each, the last time at `now`. */
function answering(response_ms: number, now = 10_000): ReceiverSpeed {
  const speed = new ReceiverSpeed();
  for (let count = 0; count < 50; count += 1) answer(speed, PARTNER, response_ms, now);
  return speed;
}

test('a receiver is slow if it answers late and its share is used up', () => {
  expect(answering(300).isSlow(PARTNER, FULL, 10_000)).toBe(true);
  expect(answering(5).isSlow(PARTNER, FULL, 10_000)).toBe(false);
  expect(answering(300).isSlow(PARTNER, ROOM, 10_000)).toBe(false);
});

test('a receiver is not slow if this process runs its timers late', () => {
  const speed = answering(300);
  for (let count = 0; count < 50; count += 1) speed.tick(100, 10_000);
  expect(speed.isSlow(PARTNER, FULL, 10_000)).toBe(false);
});

test('a receiver that fails quickly is slow', () => {
  const failing = { is_full: true, is_reduced: true };
  expect(answering(5).isSlow(PARTNER, failing, 10_000)).toBe(true);
});

test('a destination may wait for more events of its batch', () => {
  for (const [receiver, is_slow] of [
    ['ptn_1/whd_1', false],
    ['ptn_1/whe_1', true],
  ] as const) {
    const speed = new ReceiverSpeed();
    speed.started(receiver, {}, 10_000);
    expect([receiver, speed.isSlow(receiver, ROOM, 13_000)]).toEqual([receiver, is_slow]);
    expect(speed.isSlow(receiver, ROOM, 15_000)).toBe(true);
  }
});

test('a receiver that hangs is slow before its first attempt ends', () => {
  const speed = answering(5);
  speed.started(PARTNER, {}, 10_000);
  expect(speed.isSlow(PARTNER, FULL, 10_010)).toBe(false);
  expect(speed.isSlow(PARTNER, FULL, 10_500)).toBe(true);
  expect(speed.isSlow(PARTNER, ROOM, 11_500)).toBe(true);
});

test('a receiver that was idle is not slow at the first delivery', () => {
  const speed = answering(5);
  expect(speed.isSlow(PARTNER, FULL, 60_000)).toBe(false);
});

test('a receiver is not slow while its deliveries wait for their first attempt', () => {
  const speed = answering(5, 10_000);
  expect(speed.isSlow(PARTNER, ROOM, 60_000)).toBe(false);
  expect(speed.progresses(PARTNER, 60_000)).toBe(true);
  speed.started(PARTNER, {}, 60_000);
  expect(speed.isSlow(PARTNER, ROOM, 61_500)).toBe(true);
});

describe('beside other receivers', () => {
  /** Receivers that answer after these times, for three periods of comparison. */
  function together(
    response_ms: Record<string, number>,
    speed = new ReceiverSpeed(),
    from = 1_000,
  ): ReceiverSpeed {
    for (let now = from; now <= from + 3_000; now += 100) {
      for (const [partner_id, ms] of Object.entries(response_ms)) {
        answer(speed, partner_id, ms, now);
      }
      speed.tick(0, now);
    }
    return speed;
  }
  const slow = (speed: ReceiverSpeed, partner_id: string): boolean =>
    speed.isSlow(partner_id, FULL, 4_000);

  test('none is slow if all answer equally late: the machine is busy', () => {
    const speed = together({ a: 200, b: 300, c: 250, d: 400 });
    for (const partner_id of ['a', 'b', 'c', 'd']) expect(slow(speed, partner_id)).toBe(false);
  });

  test('one that answers much later than the quickest is slow', () => {
    const speed = together({ a: 5, b: 10, c: 30, d: 400 });
    expect(['a', 'b', 'c', 'd'].filter((partner_id) => slow(speed, partner_id))).toEqual(['d']);
  });

  test('two receivers do not show a common delay', () => {
    expect(slow(together({ a: 200, b: 300 }), 'a')).toBe(true);
  });

  test('those that were quick a while ago do not count', () => {
    const speed = together({ a: 5, b: 5, c: 5 });
    together({ d: 300, e: 300, f: 300 }, speed, 5_000);
    expect(speed.isSlow('d', FULL, 8_000)).toBe(false);
  });
});
