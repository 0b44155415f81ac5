import { aTestEvent } from '../../../../test/testkit/destination-events';
import { SENT, type Destination } from './destination';
import { createOpenDestinations } from './open-destinations';

const EVENT = aTestEvent();
const IDLE_MS = 60_000;

/** Opens destinations whose sends end when the test says so, and records what is open. */
function openers() {
  const log: string[] = [];
  const held: (() => void)[] = [];
  const open = (name: string, { hold = false } = {}) => {
    return async (): Promise<Destination> => {
      log.push(`open ${name}`);
      return {
        check: async () => undefined,
        send: async (events) => {
          if (hold) await new Promise<void>((resolve) => held.push(resolve));
          return events.map(() => SENT);
        },
        close: async () => void log.push(`close ${name}`),
      };
    };
  };
  return { log, held, open };
}

const target = (key: string, open: () => Promise<Destination>, version = '1') => ({
  key,
  version,
  open,
});

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('opens a destination once, and closes it after some time without events', async () => {
  const { log, open } = openers();
  const all = createOpenDestinations({ idle_ms: IDLE_MS });
  for (let at = 0; at < 3; at += 1) {
    expect(await all.send(target('a', open('a')), [EVENT])).toEqual([SENT]);
    await jest.advanceTimersByTimeAsync(IDLE_MS / 2);
  }
  expect(log).toEqual(['open a']);
  await jest.advanceTimersByTimeAsync(IDLE_MS);
  expect(log).toEqual(['open a', 'close a']);
  await all.close();
});

test('at the limit, the least recently used one that is idle makes room', async () => {
  const { log, open } = openers();
  const all = createOpenDestinations({ open_max: 2 });
  await all.send(target('a', open('a')), [EVENT]);
  await all.send(target('b', open('b')), [EVENT]);
  await all.send(target('a', open('a')), [EVENT]);
  await all.send(target('c', open('c')), [EVENT]);
  expect(log).toEqual(['open a', 'open b', 'open c', 'close b']);
  await all.close();
});

test('if all are in use, an event fails and may be sent again', async () => {
  const { held, open } = openers();
  const all = createOpenDestinations({ open_max: 1 });
  const first = all.send(target('a', open('a', { hold: true })), [EVENT]);
  await jest.advanceTimersByTimeAsync(0);
  expect(await all.send(target('b', open('b')), [EVENT])).toEqual([
    { ok: false, error: 'too many destinations open', permanent: false },
  ]);
  held[0]?.();
  expect(await first).toEqual([SENT]);
  expect(await all.send(target('b', open('b')), [EVENT])).toEqual([SENT]);
  await all.close();
});

test('a destination that fails to open is tried again', async () => {
  const { open } = openers();
  const all = createOpenDestinations();
  const broken = () => Promise.reject(new Error('secret'));
  expect(await all.send(target('a', broken), [EVENT])).toEqual([
    { ok: false, error: 'failed', permanent: false },
  ]);
  expect(await all.send(target('a', open('a')), [EVENT])).toEqual([SENT]);
  await all.close();
});

test('opens a destination again when its settings change, and closes everything at the end', async () => {
  const { log, open } = openers();
  const all = createOpenDestinations();
  await all.send(target('a', open('a')), [EVENT]);
  expect(await all.send(target('a', open('changed a'), '2'), [EVENT])).toEqual([SENT]);
  await jest.advanceTimersByTimeAsync(0);
  expect(log).toEqual(['open a', 'open changed a', 'close a']);
  await all.close();
  expect(log.at(-1)).toBe('close changed a');
  expect(await all.send(target('b', open('b')), [EVENT])).toEqual([
    { ok: false, error: 'destination closed', permanent: false },
  ]);
});
