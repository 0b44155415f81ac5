import { ReceiverSpeed } from './receiver-speed';
import type { TrackedDelivery } from './tracked-delivery';
import { TICK_MS, Uncommitted } from './uncommitted';

let count = 0;
const delivery = (partner_id: string, arrived_at = 0): TrackedDelivery =>
  ({
    event_id: `e${(count += 1)}`,
    partner_id,
    arrived_at,
    uncommitted: { message: { body: Buffer.alloc(400) } },
  }) as unknown as TrackedDelivery;

function setUp() {
  const speed = new ReceiverSpeed();
  const use = { is_full: true, is_reduced: false };
  const uncommitted = new Uncommitted({
    isSlow: (partner_id, now) => speed.isSlow(partner_id, use, now),
    progresses: (partner_id, now) => speed.progresses(partner_id, now),
  });
  let now = 0;
  return {
    uncommitted,
    now: () => now,
    /** Starts an attempt that hangs until the returned function is called. */
    hang(partner_id: string): () => void {
      const attempt = {};
      speed.started(partner_id, attempt, now);
      return () => speed.ended(partner_id, attempt, now, true);
    },
    /** A tick in which the receiver took `count` deliveries, each after `response_ms`. */
    tick({ partner_id = '', count = 0, response_ms = 2, late_ms = 0 } = {}): void {
      now += TICK_MS + late_ms;
      speed.tick(late_ms, now);
      for (let one = 0; one < count; one += 1) {
        const attempt = {};
        speed.started(partner_id, attempt, now - response_ms);
        speed.ended(partner_id, attempt, now, true);
        uncommitted.recordDelivered();
      }
      uncommitted.tick(now);
    },
  };
}

const notBlocked = (): boolean => false;

test('deliveries of a hung receiver are due for persisting after a second, those of a fast one are not', () => {
  const { uncommitted, tick, hang } = setUp();
  const hung = Array.from({ length: 10 }, () => delivery('hung'));
  hang('hung');
  const fast = Array.from({ length: 10 }, () => delivery('fast'));
  for (const one of [...hung, ...fast]) uncommitted.add(one);
  for (let turn = 0; turn < 20; turn += 1) {
    tick({ partner_id: 'fast', count: 10 });
    if (turn === 8) expect([...uncommitted.dueForPersisting(900, notBlocked).keys()]).toEqual([]);
  }
  expect([...uncommitted.dueForPersisting(2_100, notBlocked).keys()]).toEqual(hung);
});

test('deliveries that wait because this process is busy are not due for persisting', () => {
  const late = { partner_id: 'p', count: 20, response_ms: 600, late_ms: 100 };
  const { uncommitted, tick, now } = setUp();
  for (let index = 0; index < 3_000; index += 1) uncommitted.add(delivery('p'));
  for (let turn = 0; turn < 20; turn += 1) tick(late);
  expect([...uncommitted.dueForPersisting(now(), notBlocked).keys()]).toEqual([]);
  expect(uncommitted.isCrowded(now())).toBe(true);
});

test('deliveries of a receiver that answers late while this process is idle are due', () => {
  const { uncommitted, tick, now } = setUp();
  const all = Array.from({ length: 3_000 }, () => delivery('p'));
  for (const one of all) uncommitted.add(one);
  for (let turn = 0; turn < 20; turn += 1) {
    tick({ partner_id: 'p', count: 20, response_ms: 600 });
  }
  expect([...uncommitted.dueForPersisting(now(), notBlocked).keys()]).toEqual(all);
  expect(uncommitted.isCrowded(now())).toBe(false);
});

test('a delivery blocked by a retry is due for persisting at once', () => {
  const { uncommitted } = setUp();
  const [first, second] = [delivery('p'), delivery('p')];
  uncommitted.add(first);
  uncommitted.add(second);
  expect([...uncommitted.dueForPersisting(10, (one) => one === second).keys()]).toEqual([second]);
});

test('memory is crowded by the backlog of a fast receiver, never by that of a hung one', () => {
  const { uncommitted, tick, now, hang } = setUp();
  for (let index = 0; index < 3_000; index += 1) uncommitted.add(delivery('p'));
  const end = hang('p');
  for (let turn = 0; turn < 20; turn += 1) tick();
  expect(uncommitted.isCrowded(now())).toBe(false);
  end();
  for (let turn = 0; turn < 20; turn += 1) tick({ partner_id: 'p', count: 100 });
  expect(uncommitted.isCrowded(now())).toBe(true);
  hang('p');
  for (let turn = 0; turn < 50; turn += 1) tick();
  expect(uncommitted.isCrowded(now())).toBe(false);
});

test('memory is bounded by count and by bytes', () => {
  const { uncommitted } = setUp();
  const deliveries = Array.from({ length: 20_001 }, () => delivery('p'));
  for (const one of deliveries) uncommitted.add(one);
  expect([uncommitted.isFull(), uncommitted.isCrowded(0)]).toEqual([true, true]);
  for (const one of deliveries) uncommitted.remove(one);
  expect([uncommitted.isFull(), uncommitted.size]).toEqual([false, 0]);
  const large = delivery('p');
  Object.assign(large.uncommitted as object, { message: { body: { length: 65 * 1024 * 1024 } } });
  uncommitted.add(large);
  expect(uncommitted.isFull()).toBe(true);
});
