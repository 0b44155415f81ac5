import type { TrackedDelivery } from './tracked-delivery';
import { Uncommitted } from './uncommitted';

let count = 0;
const delivery = (partner_id: string, arrived_at = 0): TrackedDelivery =>
  ({
    event_id: `e${(count += 1)}`,
    partner_id,
    arrived_at,
    uncommitted: { message: { body: Buffer.alloc(400) } },
  }) as unknown as TrackedDelivery;

const notBlocked = (): boolean => false;

test('deliveries of a hung receiver are due for persisting after a second, those of a fast one are not', () => {
  const uncommitted = new Uncommitted();
  const hung = Array.from({ length: 10 }, () => delivery('hung'));
  const fast = Array.from({ length: 10 }, () => delivery('fast'));
  for (const one of [...hung, ...fast]) uncommitted.add(one);
  for (let tick = 0; tick < 20; tick += 1) {
    for (let one = 0; one < 10; one += 1) uncommitted.recordDelivered('fast');
    uncommitted.tick();
  }
  expect(uncommitted.dueForPersisting(900, notBlocked)).toEqual([]);
  expect(uncommitted.dueForPersisting(2_100, notBlocked)).toEqual(hung);
});

test('a delivery blocked by a retry is due for persisting at once', () => {
  const uncommitted = new Uncommitted();
  const [first, second] = [delivery('p'), delivery('p')];
  uncommitted.add(first);
  uncommitted.add(second);
  expect(uncommitted.dueForPersisting(10, (one) => one === second)).toEqual([second]);
});

test('memory is crowded by the backlog of a fast receiver, never by that of a hung one', () => {
  const uncommitted = new Uncommitted();
  for (let index = 0; index < 3_000; index += 1) uncommitted.add(delivery('p'));
  expect(uncommitted.isCrowded()).toBe(false);
  for (let tick = 0; tick < 20; tick += 1) {
    for (let one = 0; one < 100; one += 1) uncommitted.recordDelivered('p');
    uncommitted.tick();
  }
  expect(uncommitted.isCrowded()).toBe(true);
  for (let tick = 0; tick < 50; tick += 1) uncommitted.tick();
  expect(uncommitted.isCrowded()).toBe(false);
});

test('memory is bounded by count and by bytes', () => {
  const uncommitted = new Uncommitted();
  const deliveries = Array.from({ length: 20_001 }, () => delivery('p'));
  for (const one of deliveries) uncommitted.add(one);
  expect([uncommitted.isFull(), uncommitted.isCrowded()]).toEqual([true, true]);
  for (const one of deliveries) uncommitted.remove(one);
  expect([uncommitted.isFull(), uncommitted.size]).toEqual([false, 0]);
  const large = delivery('p');
  Object.assign(large.uncommitted as object, { message: { body: { length: 65 * 1024 * 1024 } } });
  uncommitted.add(large);
  expect(uncommitted.isFull()).toBe(true);
});
