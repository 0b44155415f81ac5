// Comparisons on a real database: what an addition changes, the bounds, the lease, the end.
import { testDatabase } from '../../../../test/testkit/database';
import { indexes } from '../collections';
import { createShadows, SHADOWS, type Result, type StoredShadow } from './store';

const HOUR_MS = 3_600_000;
const NOW = new Date();

const db = testDatabase(indexes);
const shadows = createShadows(db);
beforeEach(() => db.collection(SHADOWS).deleteMany({}));

const aShadow = (_id: string, change: Partial<StoredShadow> = {}): StoredShadow => ({
  _id,
  partner_id: 'ptn_1',
  endpoint_id: null,
  source: 'live',
  url: 'https://new.example.com/hooks',
  max_per_second: 20,
  header_names: [],
  status: 'running',
  created_at: NOW,
  ends_at: new Date(NOW.getTime() + HOUR_MS),
  ended_at: null,
  last: 0,
  position: 0,
  ahead: [],
  owner: '',
  leased_until: new Date(NOW.getTime() + HOUR_MS),
  compared: 0,
  different: 0,
  dropped: 0,
  answers: {},
  first_ms: {},
  shadow_ms: {},
  differences: [],
  added: [],
  expires_at: new Date(NOW.getTime() + 24 * HOUR_MS),
  ...change,
});
const found = async (_id = 'shd_1') => (await shadows.find('ptn_1', _id)) as StoredShadow;
const result = (event_id: string, status: number): Result => ({
  event_id,
  event: 'message.received',
  at: NOW,
  first: { http_status: 200, error: null, duration_ms: 10 },
  shadow: {
    http_status: status,
    error: status === 200 ? null : `HTTP ${status}`,
    duration_ms: 100,
  },
});

test('an addition counts once, and a dropped event is no answer', async () => {
  await shadows.insert(aShadow('shd_1'));
  for (const id of ['add_1', 'add_1', 'add_2']) {
    await shadows.add('shd_1', id, [result('evt_1', 200), result('evt_2', 503), null]);
  }
  expect(await found()).toMatchObject({
    compared: 4,
    different: 2,
    dropped: 2,
    answers: { '2xx/2xx': 2, '2xx/5xx': 2 },
    first_ms: { 25: 4 },
    shadow_ms: { 49: 4 },
  });
  expect((await found()).differences.map(({ event_id }) => event_id)).toEqual(['evt_2', 'evt_2']);
});

test('keeps the latest differences of a shadow, and the latest shadows of a partner', async () => {
  await shadows.insert(aShadow('shd_1'));
  const results = Array.from({ length: 120 }, (_one, at) => result(`evt_${at}`, 500));
  await shadows.add('shd_1', 'add_1', results);
  const { differences, different } = await found();
  expect([different, differences.length, differences[0]?.event_id]).toEqual([120, 100, 'evt_20']);
  for (let at = 0; at < 20; at += 1) await shadows.insert(aShadow(`shd_2${at + 10}`));
  await shadows.insert(aShadow('shd_3', { partner_id: 'ptn_2' }));
  expect(await shadows.find('ptn_1', 'shd_1')).toBeNull();
  const list = await shadows.list('ptn_1');
  expect([list.length, list[0]?._id]).toEqual([20, 'shd_229']);
  expect(list[0]).not.toHaveProperty('differences');
});

test('one replica works on a shadow, and only while it runs', async () => {
  await shadows.insert(aShadow('shd_1', { source: 'last_day', last: 10 }));
  const until = new Date(NOW.getTime() + 2 * HOUR_MS);
  expect(await shadows.claim('one', NOW, until)).toBeNull();
  await shadows.release('shd_1');
  const claimed = (await shadows.claim('one', NOW, until)) as StoredShadow;
  expect(claimed).toMatchObject({ _id: 'shd_1', owner: 'one' });
  expect(await shadows.claim('two', NOW, until)).toBeNull();
  const progress = { position: 4, ahead: [6], results: [result('evt_1', 200)] };
  expect(await shadows.update(claimed, progress)).toBe(true);
  expect(await found()).toMatchObject({ position: 4, ahead: [6], compared: 1 });
  expect(await shadows.update({ ...claimed, owner: 'two' }, progress)).toBe(false);
  await shadows.end('shd_1', 'stopped', NOW);
  await shadows.end('shd_1', 'completed', until);
  expect(await found()).toMatchObject({ status: 'stopped', ended_at: NOW });
  expect(await shadows.update(claimed, progress)).toBe(false);
  await shadows.release('shd_1');
  expect(await shadows.claim('two', new Date(until.getTime() + 1), until)).toBeNull();
});
