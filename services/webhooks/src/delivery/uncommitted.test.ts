import type { Entry } from './entry';
import { createFresh } from './uncommitted';

let count = 0;
const entry = (partner_id: string, arrived_at = 0): Entry =>
  ({
    event_id: `e${(count += 1)}`,
    partner_id,
    arrived_at,
    fresh: { message: { body: Buffer.alloc(400) } },
  }) as unknown as Entry;

const notHeld = (): boolean => false;

test('events of a receiver that hangs are put aside after a second, those of a quick one are not', () => {
  const fresh = createFresh();
  const hung = Array.from({ length: 10 }, () => entry('hung'));
  const quick = Array.from({ length: 10 }, () => entry('quick'));
  for (const one of [...hung, ...quick]) fresh.add(one);
  for (let tick = 0; tick < 20; tick += 1) {
    for (let took = 0; took < 10; took += 1) fresh.tookOne('quick');
    fresh.tick();
  }
  expect(fresh.toPutAside(900, notHeld)).toEqual([]);
  expect(fresh.toPutAside(2_100, notHeld)).toEqual(hung);
});

test('what waits behind one that is being retried is put aside at once', () => {
  const fresh = createFresh();
  const [first, second] = [entry('p'), entry('p')];
  fresh.add(first);
  fresh.add(second);
  expect(fresh.toPutAside(10, (one) => one === second)).toEqual([second]);
});

test('the intake waits for a quick receiver with much to do, never for a hung one', () => {
  const fresh = createFresh();
  for (let index = 0; index < 3_000; index += 1) fresh.add(entry('p'));
  expect(fresh.crowded()).toBe(false);
  for (let tick = 0; tick < 20; tick += 1) {
    for (let took = 0; took < 100; took += 1) fresh.tookOne('p');
    fresh.tick();
  }
  expect(fresh.crowded()).toBe(true);
  for (let tick = 0; tick < 50; tick += 1) fresh.tick();
  expect(fresh.crowded()).toBe(false);
});

test('memory is bounded by count and by bytes', () => {
  const fresh = createFresh();
  const entries = Array.from({ length: 20_001 }, () => entry('p'));
  for (const one of entries) fresh.add(one);
  expect([fresh.full(), fresh.crowded()]).toEqual([true, true]);
  for (const one of entries) fresh.remove(one);
  expect([fresh.full(), fresh.size]).toEqual([false, 0]);
  const large = entry('p');
  Object.assign(large.fresh as object, { message: { body: { length: 65 * 1024 * 1024 } } });
  fresh.add(large);
  expect(fresh.full()).toBe(true);
});
