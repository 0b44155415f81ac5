import { someContacts } from '../../test/builders';
import { tallyOf } from '../ground/contact-state';
import type { Chunk } from '../ground/types';
import { HeldChunk } from './held-chunk';

const GRACE_MS = 1_000;

const chunk = (states: string): Chunk => {
  const tally = tallyOf(states);
  return {
    _id: '42/0',
    broadcast_id: 42,
    salt: '0123456789ab',
    progress: {
      states,
      tally,
      failures: [],
      done: tally.waiting + tally.in_flight === 0,
      rev: 3,
      writer: 'w',
    },
    fence: 7,
    worker: 'me',
    lease_until: new Date(0),
  };
};
const held = (states: string, now = 0): HeldChunk =>
  new HeldChunk(chunk(states), someContacts(states.length), now, GRACE_MS);

test('takes waiting contacts, and treats those in flight under another owner as in doubt', () => {
  const one = held('wfsw');
  expect(one.readyCount(0)).toBe(2);
  expect(one.take(5)).toEqual([0, 3]);
  expect(one.takeExpired(GRACE_MS - 1)).toEqual([]);
  expect(one.takeExpired(GRACE_MS)).toEqual([1]);
  expect(one.takeExpired(GRACE_MS)).toEqual([]);
});

test('a taken contact is in flight until its outcome is recorded', () => {
  const one = held('ww');
  one.take(2);
  expect(one.isIdle()).toBe(false);
  one.recorded(0, false);
  one.recorded(1, true);
  expect(one.isIdle()).toBe(true);
  expect(one.isDone()).toBe(true);
});

test('a postponed contact joins the end of the queue when it is due', () => {
  const one = held('www');
  const [first] = one.take(1) as [number];
  one.postpone(first, 500);
  expect(one.readyCount(499)).toBe(2);
  expect(one.readyCount(500)).toBe(3);
  expect(one.take(3)).toEqual([1, 2, 0]);
});

test('refresh takes over the stored states: waiting contacts wait, decided ones leave the doubt', () => {
  const one = held('ffw');
  one.take(1);
  one.recorded(2, false);
  one.refresh(chunk('dwf'), 100, GRACE_MS);
  expect(one.take(3)).toEqual([1]);
  expect(one.takeExpired(100 + GRACE_MS)).toEqual([2]);
});

test('refresh does not change the queue while a contact is in flight', () => {
  const one = held('ww');
  one.take(1);
  one.refresh(chunk('fw'), 0, GRACE_MS);
  expect(one.take(2)).toEqual([1]);
  expect(one.hasDoubtful()).toBe(false);
});

test('a chunk whose lease is lost has no contacts to send', () => {
  const one = held('ww');
  one.leaseLost = true;
  expect(one.readyCount(0)).toBe(0);
  expect(one.isIdle()).toBe(true);
});

test('a deleted contact has an empty recipient', () => {
  const one = new HeldChunk(chunk('w'), [], 0, GRACE_MS);
  expect(one.contact(0)).toEqual({ recipient: '', params: null });
});

describe('a contact in doubt whose send messaging claims', () => {
  const inDoubt = (): HeldChunk => {
    const one = held('ww');
    one.take(1);
    one.markInDoubt(0, GRACE_MS, true);
    return one;
  };

  test('is settled once a second, and not while the lease is lost', () => {
    const one = inDoubt();
    expect(one.takeToSettle(0)).toEqual([0]);
    expect(one.takeToSettle(999)).toEqual([]);
    expect(one.takeToSettle(1_000)).toEqual([0]);
    one.leaseLost = true;
    expect(one.takeToSettle(2_000)).toEqual([]);
  });

  test('is given up once messaging does not know it after the grace, or was unreachable for long', () => {
    const one = inDoubt();
    one.stillUnknown(0, GRACE_MS - 1);
    expect(one.takeExpired(GRACE_MS)).toEqual([]);
    one.stillUnknown(0, GRACE_MS);
    expect(one.takeExpired(GRACE_MS)).toEqual([0]);
    const other = inDoubt();
    expect(other.takeExpired(GRACE_MS + 599_999)).toEqual([]);
    expect(other.takeExpired(GRACE_MS + 600_000)).toEqual([0]);
  });

  test('waits again at the head of the queue, once', () => {
    const one = inDoubt();
    one.requeue(0);
    one.requeue(0);
    expect(one.takeToSettle(5_000)).toEqual([]);
    expect(one.take(5)).toEqual([0, 1]);
    // Taken in the meantime.
    one.requeue(0);
    expect(one.take(5)).toEqual([]);
  });

  test('is known as such from the stored states', () => {
    const stored = chunk('ff');
    stored.progress.claimed = [1];
    const one = new HeldChunk(stored, someContacts(2), 0, GRACE_MS);
    expect(one.takeToSettle(0)).toEqual([1]);
    expect(one.takeExpired(GRACE_MS)).toEqual([0]);
  });
});

test('attempts of a later lease have higher numbers than all of an earlier one', () => {
  const stored = chunk('w');
  const earlier = held('w');
  for (let attempt = 0; attempt < 20_000; attempt += 1) earlier.nextAttempt(0);
  const later = new HeldChunk({ ...stored, fence: stored.fence + 1 }, someContacts(1), 0, GRACE_MS);
  expect(later.lastAttempt(0)).toBeGreaterThan(earlier.lastAttempt(0));
  expect(later.nextAttempt(0)).toBe(later.lastAttempt(0));
});
