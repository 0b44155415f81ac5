import { ReceiverSpeed } from './receiver-speed';

const FULL = { is_full: true, is_reduced: false };
const PARTNER = 'ptn_1';

/** A receiver that has answered after `response_ms` each, the last time at `now`. */
function answering(response_ms: number, now = 10_000): ReceiverSpeed {
  const speed = new ReceiverSpeed();
  for (let count = 0; count < 50; count += 1) {
    const attempt = {};
    speed.started(PARTNER, attempt, now - response_ms);
    speed.ended(PARTNER, attempt, now, true);
  }
  return speed;
}

test('a receiver is slow if it answers late and its share is used up', () => {
  expect(answering(300).isSlow(PARTNER, 0, FULL, 10_000)).toBe(true);
  expect(answering(5).isSlow(PARTNER, 0, FULL, 10_000)).toBe(false);
  const room = { is_full: false, is_reduced: false };
  expect(answering(300).isSlow(PARTNER, 0, room, 10_000)).toBe(false);
});

test('a receiver is not slow if this process runs its timers late', () => {
  const speed = answering(300);
  for (let count = 0; count < 50; count += 1) speed.recordLag(100);
  expect(speed.isSlow(PARTNER, 0, FULL, 10_000)).toBe(false);
});

test('a receiver that fails quickly is slow', () => {
  const failing = { is_full: true, is_reduced: true };
  expect(answering(5).isSlow(PARTNER, 0, failing, 10_000)).toBe(true);
});

test('a receiver that hangs is slow before its first attempt ends', () => {
  const speed = answering(5);
  speed.started(PARTNER, {}, 10_000);
  expect(speed.isSlow(PARTNER, 0, FULL, 10_010)).toBe(false);
  expect(speed.isSlow(PARTNER, 0, FULL, 10_500)).toBe(true);
  expect(speed.isSlow(PARTNER, 0, { is_full: false, is_reduced: false }, 11_500)).toBe(true);
});

test('a receiver that was idle is not slow at the first delivery', () => {
  const speed = answering(5);
  expect(speed.isSlow(PARTNER, 59_900, FULL, 60_000)).toBe(false);
});
