import { someContacts } from '../../testing/builders';
import { tallyOf } from '../ledger/contact-state';
import type { Chunk } from '../store/types';
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
