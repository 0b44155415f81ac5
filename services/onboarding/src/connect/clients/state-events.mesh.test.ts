import type { Received } from '@bmg/common/bus';
import { dayOf } from '@bmg/common/time';
import type { Event } from '@bmg/proto/stream';
import { testCall, useWorld } from '../../../test/world';
import { dataSyncOf } from '../sync/coexistence-sync';
import { inspectDue } from './token-expiry-poller';
import { refreshDue } from './refresh-poller';
import { storeClient } from './register';
import { applyStateEvents } from './state-events';
import type { Client } from '../../ground/clients';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAY_S = 86_400;
const WABA = '900000000000002';
const NUMBERS = ['800000000000002', '800000000000003'] as const;
const FIRST = { phone_number_id: NUMBERS[0] };
const TOKEN = 'EMULATED-TOKEN-2';

const world = useWorld();
let refreshes = 0;
let apply: (...batch: Received<Event>[]) => Promise<void>;
/** Two partners with both numbers of the account. */
let [one, two] = ['', ''];

beforeEach(async () => {
  refreshes = 0;
  const handle = applyStateEvents({ ...world.deps, onRefreshDue: () => void (refreshes += 1) });
  apply = (...batch) => handle(batch);
  [one, two] = [(await world.partner())._id, (await world.partner())._id];
  for (const owner of [one, two]) for (const number of NUMBERS) await register(owner, number);
  world.deps.bumped.length = 0;
});

const seconds = (): number => Math.floor(world.deps.now().getTime() / 1_000);

const event = (name: string, change: Partial<Event> = {}, data: object = {}): Received<Event> => ({
  message: {
    occurrence_id: 'occ_1',
    event: name,
    internal: !name.includes('.'),
    waba_id: WABA,
    timestamp: seconds(),
    data: JSON.stringify(data),
    received_at_ms: world.deps.now().getTime(),
    partner_ids: [],
    ...change,
  },
  key: '',
  span: undefined,
  partition: 0,
  offset: '0',
});

const register = (partner_id: string, phone_number_id: string = NUMBERS[0]) =>
  world.register(partner_id, { waba_id: WABA, phone_number_id, access_token: TOKEN });
const client = async (partner_id: string, phone_number_id: string = NUMBERS[0]) =>
  (await world.deps.clients.find({ partner_id, waba_id: WABA, phone_number_id })) as Client;
/** The health of the first partner's first number, or of its second one. */
const health = async (number?: string) => (await client(one, number)).health;

describe('offboarding', () => {
  it('pauses every number of the account for every partner, and makes caches stale', async () => {
    await apply(event('offboarded'));
    for (const owner of [one, two]) {
      for (const number of NUMBERS) expect((await client(owner, number)).health).toBe('paused');
    }
    expect(world.deps.bumped).toEqual(
      expect.arrayContaining([one, two, WABA].map((name) => expect.stringContaining(name))),
    );
    await apply(event('reconnected'));
    expect(await health()).toBe('connected');
  });

  it('makes caches stale again when the event is repeated', async () => {
    const offboarded = event('offboarded');
    await apply(offboarded);
    world.deps.bumped.length = 0;
    await apply(offboarded);
    expect(world.deps.bumped.length).toBeGreaterThan(0);
  });

  it('does not undo a later event when it arrives late', async () => {
    await apply(event('reconnected', { timestamp: seconds() + 10 }), event('offboarded'));
    expect(await health()).toBe('connected');
  });

  it('changes nothing if it arrived before a registration', async () => {
    const early = event('offboarded', { timestamp: seconds() + 10 });
    world.passTime(1);
    await register(one);
    await apply(early);
    expect([await health(), await health(NUMBERS[1])]).toEqual(['connected', 'paused']);
  });

  it('is compared with a registration by its arrival, and ends with the next one', async () => {
    await apply(event('offboarded', { timestamp: 1_700_000_000 }));
    expect(await health()).toBe('paused');
    await register(one);
    expect(await health()).toBe('connected');
  });

  it('also follows from a removal by the business, for the named number or for all', async () => {
    await apply(event('partner_removed', FIRST));
    expect([await health(), await health(NUMBERS[1])]).toEqual(['paused', 'connected']);
    await apply(event('partner_removed'));
    expect(await health(NUMBERS[1])).toBe('paused');
  });
});

describe('a removal by the business', () => {
  const owners = async (waba_id: string, all_active = false) => {
    const { getOwners, getOwnersOfNumbers } = world.handlers;
    const asked = { waba_id, ...FIRST, all_active };
    const sorted = <T extends { partner_ids: string[] }>(answer: T): T => ({
      ...answer,
      partner_ids: [...answer.partner_ids].sort(),
    });
    const found = await getOwners(asked);
    if (!all_active) {
      const unknown = { phone_number_id: '1', waba_id };
      const elsewhere = { ...FIRST, waba_id: '1' };
      const numbers = [unknown, { ...FIRST, waba_id }, elsewhere];
      const answer = await getOwnersOfNumbers({ numbers });
      const owners = answer.owners.map(sorted);
      const { partner_ids } = sorted(found);
      expect(owners[1]).toEqual({ ...found, partner_ids });
      expect(owners.map((one) => one.partner_ids)).toEqual([[], partner_ids, []]);
    }
    return found.partner_ids;
  };

  it('ends the events of every partner until it onboards the number again', async () => {
    expect((await owners(WABA)).sort()).toEqual([one, two].sort());
    await apply(event('partner_removed'));
    expect(await owners(WABA)).toEqual([]);
    world.passTime(1);
    await register(two);
    expect(await owners(WABA)).toEqual([two]);
    expect(await owners(WABA, true)).toHaveLength(2);
    await apply(event('reconnected', { timestamp: seconds() + 60 }));
    expect(await owners(WABA)).toEqual([two]);
  });

  it('keeps the number from sending after a reconnection', async () => {
    await apply(event('partner_removed'));
    await apply(event('reconnected', { timestamp: seconds() + 60 }));
    const scope = { partner_id: one, waba_id: WABA, phone_number_id: NUMBERS[0] };
    expect((await world.handlers.getCredential(scope)).sending).toBe('paused');
  });

  it('gives events of a number to clients of the webhook’s account only', async () => {
    expect(await owners('900000000000001')).toEqual([]);
    expect(await owners('')).toHaveLength(2);
  });

  it('loses the events of a dead token to a partner that onboards the number', async () => {
    await inspectDue(world.deps);
    world.passTime(1);
    await register(two);
    const mine = await client(one);
    expect(mine.token_checked_at).toBeUndefined();
    expect(await owners(WABA)).toHaveLength(2);
    // The emulator knows one token of the account: only the first partner's is inspected as dead.
    await world.deps.clients.change(mine, { token_expires_at: world.deps.now() });
    expect(await owners(WABA)).toEqual([two]);
  });
});

describe('facts of a number', () => {
  it('change with the events that name them', async () => {
    const tierIs = (messaging_limit_tier: string, change = {}) =>
      event('waba.tier_updated', change, { messaging_limit_tier });
    await apply(
      event('throughput', FIRST, { throughput_level: 'HIGH' }),
      tierIs('UNLIMITED', { phone_number_id: NUMBERS[1] }),
    );
    expect((await client(one)).throughput_level).toBe('HIGH');
    expect((await client(two)).throughput_level).toBe('HIGH');
    expect((await client(one, NUMBERS[1])).messaging_limit_tier).toBe('UNLIMITED');
    await apply(tierIs('TIER_10K'));
    expect((await client(one)).messaging_limit_tier).toBe('TIER_10K');
    await apply(tierIs('TIER_NOT_SET'));
    expect((await client(one)).messaging_limit_tier).toBe('TIER_10K');
  });

  it('are fetched again when its quality changes', async () => {
    await world.emulator.patchNumber(NUMBERS[0], { quality_rating: 'RED' });
    await apply(event('waba.quality_updated', FIRST, { event: 'FLAGGED' }));
    expect(refreshes).toBe(1);
    expect((await client(one)).quality_rating).toBe('GREEN');
    expect(await refreshDue(world.deps)).toBe(false);
    expect((await client(one)).quality_rating).toBe('RED');
    expect((await client(two)).quality_rating).toBe('RED');
    expect((await client(one, NUMBERS[1])).quality_rating).toBe('GREEN');
    await world.emulator.clearRequests();
    await refreshDue(world.deps);
    expect(await world.emulator.requests()).toHaveLength(0);
  });

  it('are fetched a bounded number of times while the upstream does not answer', async () => {
    await apply(event('waba.quality_updated', FIRST));
    const upstream = {
      ...world.deps.upstream,
      request: jest.fn().mockRejectedValue(new Error('away')),
    };
    for (let turn = 0; turn < 10; turn += 1) {
      await refreshDue({ ...world.deps, upstream });
      world.passTime(600);
    }
    expect(upstream.request).toHaveBeenCalledTimes(5);
    const row = await client(one, NUMBERS[0]);
    expect(row.refresh_due_at?.getTime()).toBeGreaterThan(world.deps.now().getTime() + HOUR_MS);
  });

  it('are fetched again every day, once for all partners with the number', async () => {
    await world.emulator.patchNumber(NUMBERS[0], { quality_rating: 'YELLOW' });
    await refreshDue(world.deps);
    expect((await client(one)).quality_rating).toBe('GREEN');
    for (let day = 0; day < 2; day += 1) {
      world.passTime(DAY_S);
      await world.emulator.clearRequests();
      await refreshDue(world.deps);
      expect(await world.emulator.requests()).toHaveLength(NUMBERS.length);
    }
    expect((await client(two)).quality_rating).toBe('YELLOW');
  });

  it('are fetched daily for numbers that an earlier release left without a time for it', async () => {
    await world.mongo.db.collection('clients').updateMany({}, { $set: { refresh_due_at: null } });
    await world.emulator.patchNumber(NUMBERS[0], { quality_rating: 'YELLOW' });
    await world.deps.clientFacts.scheduleRefreshes(world.deps.now());
    await refreshDue(world.deps);
    expect((await client(one)).quality_rating).toBe('YELLOW');
  });

  it('are recorded by day when they are registered, announced and fetched', async () => {
    const daysOf = async (partner_id: string, phone_number_id: string = NUMBERS[0]) =>
      (await world.deps.numberDays.latestOf({ partner_id, phone_number_id }, 90)).map(
        ({ day, quality_rating, messaging_limit_tier }) => [
          (Date.parse(day) - Date.parse(dayOf(started))) / DAY_MS,
          quality_rating,
          messaging_limit_tier,
        ],
      );
    const started = world.deps.now();
    expect(await daysOf(one)).toEqual([[0, 'GREEN', 'TIER_2K']]);
    world.passTime(DAY_S);
    const tier = { messaging_limit_tier: 'TIER_10K' };
    await apply(event('waba.tier_updated', FIRST, tier));
    world.passTime(DAY_S);
    const patch = { quality_rating: 'RED', messaging_limit_tier: 'TIER_10K' };
    await world.emulator.patchNumber(NUMBERS[0], patch);
    await refreshDue(world.deps);
    for (const owner of [one, two]) {
      expect(await daysOf(owner)).toEqual([
        [0, 'GREEN', 'TIER_2K'],
        [1, 'GREEN', 'TIER_10K'],
        [2, 'RED', 'TIER_10K'],
      ]);
    }
    expect(await daysOf(one, NUMBERS[1])).toHaveLength(2);
    expect(await daysOf('ptn_other')).toEqual([]);
  });

  it('include the portfolio that a sign-up confirmation names', async () => {
    await world.mongo.db.collection('clients').updateMany({}, { $set: { business_id: null } });
    await apply(event('partner_added', {}, { waba_info: { owner_business_id: '600' } }));
    expect((await client(one)).business_id).toBe('600');
  });
});

describe('the history of a number', () => {
  const chunk = (data: object, change: Partial<Event> = {}): Received<Event> =>
    event('history_sync', { ...FIRST, ...change }, data);
  const historyOf = async (partner_id: string, number: string = NUMBERS[0]) =>
    dataSyncOf(await client(partner_id, number))?.history;

  it('advances with its chunks for every partner, and never goes back', async () => {
    expect(await historyOf(one)).toBeUndefined();
    await apply(chunk({ phase: 1, progress: 66 }), chunk({ phase: 0, progress: 33 }));
    const received_at = expect.any(Date) as Date;
    expect(await historyOf(one)).toEqual({ phase: 1, progress: 66, received_at });
    await apply(chunk({ phase: null, progress: null }), chunk({ phase: '9', progress: 250 }));
    expect(await historyOf(two)).toEqual({ phase: 1, progress: 66, received_at });
    expect(await historyOf(one, NUMBERS[1])).toBeUndefined();
    expect(world.deps.bumped).toEqual([]);
  });

  it('reports that the business declined to share it', async () => {
    const refusal = { error_code: 2593109, error_message: 'The business declined' };
    await apply(chunk({ phase: null, progress: null, ...refusal }));
    expect(await historyOf(one)).toMatchObject({ received_at: expect.any(Date), ...refusal });
  });

  it('starts again with a new onboarding, whatever still arrives of the one before', async () => {
    const { _id } = await world.partner();
    const onboard = (onboarding_id: string) =>
      storeClient(
        world.deps,
        { partner_id: _id, waba_id: WABA, phone_number_id: NUMBERS[0] },
        { access_token: TOKEN, onboarding_id },
        testCall(),
      );
    await onboard('cex_1');
    const late = chunk({ phase: 2, progress: 100 });
    await apply(late);
    world.passTime(60);
    await onboard('cex_1');
    expect(await historyOf(_id)).toMatchObject({ phase: 2, progress: 100 });
    await onboard('cex_2');
    await apply(late);
    expect(await historyOf(_id)).toBeUndefined();
    await apply(chunk({ phase: 0, progress: 10 }));
    expect(await historyOf(_id)).toMatchObject({ phase: 0, progress: 10 });
  });
});

describe('the last activity', () => {
  it('is the time of the newest event of the number', async () => {
    const at = seconds();
    await apply(
      event('message.received', { ...FIRST, timestamp: at - 5 }),
      event('message.sent', { ...FIRST, timestamp: at - 20 }),
    );
    for (const owner of [one, two]) {
      expect((await client(owner)).last_activity_at).toEqual(new Date((at - 5) * 1_000));
      expect((await client(owner, NUMBERS[1])).last_activity_at).toBeNull();
    }
  });

  it('is written at most once a minute', async () => {
    const touch = jest.spyOn(world.deps.clientFacts, 'touch');
    const handle = applyStateEvents({ ...world.deps, onRefreshDue: () => undefined });
    const at = seconds() - 300;
    for (const timestamp of [at, at + 10, at + 59, at + 60, at + 61]) {
      await handle([event('message.received', { ...FIRST, timestamp })]);
    }
    expect(touch).toHaveBeenCalledTimes(2);
  });

  it('ignores replayed messages, and is never in the future', async () => {
    await apply(event('message.history', FIRST));
    expect((await client(one)).last_activity_at).toBeNull();
    await apply(event('message.received', { ...FIRST, timestamp: seconds() + 86_400 }));
    const { last_activity_at } = await client(one, NUMBERS[0]);
    expect(last_activity_at?.getTime()).toBeLessThanOrEqual(world.deps.now().getTime());
  });
});
