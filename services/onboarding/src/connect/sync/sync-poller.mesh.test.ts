// The data sync on a fake clock: a sync that the upstream did not accept is retried while the
// window is open, and a person is warned in time.
import { metrics } from '@bmg/common/telemetry';
import { stepsOf, testCall, useWorld, type World } from '../../../test/world';
import { registerClient, storeClient } from '../clients/register';
import type { Client } from '../../ground/clients';
import { dataSyncOf } from './coexistence-sync';
import { syncDue } from './sync-poller';

const SCOPE = { waba_id: '900000000000001', phone_number_id: '800000000000001' };
const TOKEN = 'EMULATED-TOKEN-1';
const MINUTE_S = 60;
const HOUR_S = 3_600;
const SYNC = '/smb_app_data$';

const world = useWorld();
let partner_id: string;
beforeEach(async () => {
  partner_id = (await world.partner())._id;
});

const refuseSync = (code = 131000, times = -1) =>
  world.emulator.fault({ match: { path: SYNC }, times, error: { code } });
const asked = async (): Promise<number> => (await world.emulator.requests({ path: SYNC })).length;
const find = async (): Promise<Client> =>
  (await world.deps.clients.find({ partner_id, ...SCOPE })) as Client;
/** As the partner sees it. */
const seen = async () => dataSyncOf(await find());
const events = () => stepsOf(world, partner_id);
const REGISTERED = ['REGISTRATION', 'COEXISTENCE_SYNC: SYNC_FAILED', 'COMPLETED'];

const register = (onboarding_id?: string, deps = world.deps) =>
  registerClient(
    deps,
    { partner_id, ...SCOPE },
    { access_token: TOKEN, onboarding_id },
    testCall(),
  );
/** A registration that crashes before its sync. */
const store = (access_token = TOKEN, onboarding_id?: string) =>
  storeClient(world.deps, { partner_id, ...SCOPE }, { access_token, onboarding_id }, testCall());
/** Lets time pass, and runs the poller every 30 minutes. */
async function pass(hours: number): Promise<void> {
  for (let minutes = 0; minutes < hours * 60; minutes += 30) {
    world.passTime(30 * MINUTE_S);
    await syncDue(world.deps);
  }
}
async function dueGauge(): Promise<number | undefined> {
  return (await metrics.coexistence_syncs_due.get()).values[0]?.value;
}

it('requests nothing if the registration has requested it', async () => {
  await register();
  expect(await asked()).toBe(2);
  await pass(2);
  expect(await asked()).toBe(2);
  expect((await find()).sync_retry_at).toBeNull();
  expect(await seen()).toMatchObject({
    status: 'requested',
    contacts_requested_at: expect.any(Date),
    history_requested_at: expect.any(Date),
  });
});

it('retries a missing sync with growing delays until the upstream accepts it', async () => {
  await refuseSync();
  await register();
  expect(await asked()).toBe(2);
  await syncDue(world.deps);
  expect(await asked()).toBe(2);
  world.passTime(5 * MINUTE_S);
  await syncDue(world.deps);
  expect(await asked()).toBe(4);
  await pass(5);
  expect(await asked()).toBeLessThan(20);
  await world.emulator.clearFaults();
  await pass(1);
  const client = await find();
  expect(client.sync_requested.smb_app_state_sync).toBeInstanceOf(Date);
  expect(client.sync_requested.history).toBeInstanceOf(Date);
  expect(client.sync_retry_at).toBeNull();
  expect(await events()).toEqual([...REGISTERED, 'COEXISTENCE_SYNC']);
});

it('requests only the sync type that is missing', async () => {
  await refuseSync(131000, 1);
  const { sync } = await register();
  expect(sync.history).toBe('requested');
  await pass(1);
  expect(await asked()).toBe(3);
  expect((await find()).sync_requested.smb_app_state_sync).toBeInstanceOf(Date);
});

it('warns once when less than six hours are left, in the log and by a metric', async () => {
  await refuseSync();
  expect((await register()).sync.history).toMatch(/^failed: /);
  const { sync_until, registered_at } = await find();
  const open_ms = Number(sync_until) - Number(registered_at);
  expect(open_ms / 1_000 / HOUR_S).toBeCloseTo(24, 2);
  expect(await seen()).toEqual({
    status: 'waiting',
    contacts_requested_at: undefined,
    history_requested_at: undefined,
    request_until: sync_until,
  });
  await pass(17);
  expect(await events()).toEqual(REGISTERED);
  expect(await dueGauge()).toBe(0);
  await pass(3);
  expect(await events()).toEqual([...REGISTERED, 'SYNC_DUE: SYNC_FAILED']);
  const [due] = await world.deps.events.list(partner_id, 1);
  expect(due).toMatchObject(SCOPE);
  expect(due?.error_message).toMatch(/^less than \d h are left to request .*; history failed: /);
  expect(due?.upstream_session_id).toMatch(/^A/);
  expect(await dueGauge()).toBe(1);
  await world.emulator.clearFaults();
  await pass(2);
  expect(await events()).toEqual([...REGISTERED, 'SYNC_DUE: SYNC_FAILED', 'COEXISTENCE_SYNC']);
  expect(await dueGauge()).toBe(0);
});

it('logs the closed window and stops retrying', async () => {
  await refuseSync();
  await register();
  await pass(26);
  expect(await events()).toEqual([
    ...REGISTERED,
    'SYNC_DUE: SYNC_FAILED',
    'COEXISTENCE_SYNC: SYNC_EXPIRED',
  ]);
  const before = await asked();
  await pass(2);
  expect(await asked()).toBe(before);
  expect(await dueGauge()).toBe(0);
  expect((await seen())?.status).toBe('expired');
});

it('stops when the upstream reports that the window has closed', async () => {
  await refuseSync(2593108);
  await register();
  await pass(1);
  expect(await events()).toEqual([...REGISTERED, 'COEXISTENCE_SYNC: SYNC_EXPIRED']);
  expect((await find()).sync_retry_at).toBeNull();
});

it('requests the sync after a crash between registration and request', async () => {
  await store();
  expect(await asked()).toBe(0);
  await pass(1);
  expect(await asked()).toBe(2);
  expect(await events()).toEqual(['COEXISTENCE_SYNC']);
});

it('opens a new window for a new onboarding, and keeps it for a repeated one', async () => {
  await refuseSync();
  await register('cex_1');
  const first = (await find()).sync_until as Date;
  world.passTime(HOUR_S);
  await register('cex_1');
  expect((await find()).sync_until).toEqual(first);
  await register('cex_2');
  expect((await find()).sync_until?.getTime()).toBeGreaterThan(first.getTime());
});

it('skips a deleted client and a number that is not in the business app', async () => {
  const other = await world.partner();
  await refuseSync();
  await register();
  await world.handlers.deleteClient({ partner_id, waba_id: SCOPE.waba_id });
  const cloud = { waba_id: '900000000000002', phone_number_id: '800000000000003' };
  const { sync } = await registerClient(
    world.deps,
    { partner_id: other._id, ...cloud },
    { access_token: 'EMULATED-TOKEN-2' },
    testCall(),
  );
  expect(sync.history).toMatch(/not in use in the business app/);
  const before = await asked();
  await pass(25);
  expect(await asked()).toBe(before);
});

it('requests each sync once when two replicas run at the same time', async () => {
  await refuseSync();
  await register();
  const before = await asked();
  world.passTime(5 * MINUTE_S);
  await Promise.all([syncDue(world.deps), syncDue(world.deps)]);
  expect(await asked()).toBe(before + 2);
});

describe('a registration while an earlier sync request is in flight', () => {
  const NEXT_TOKEN = 'EMULATED-TOKEN-SYSTEM';
  const tokens = async (): Promise<unknown[]> =>
    (await world.emulator.requests({ path: SYNC })).map(({ headers }) => headers['authorization']);
  /** Calls these, once each, before the first sync request is written and when it is on its way. */
  const whenSyncing = (steps: Partial<Record<'before' | 'after', () => Promise<void>>>) => {
    const once = async (step: keyof typeof steps): Promise<void> => {
      const work = steps[step];
      delete steps[step];
      await work?.();
    };
    const request: World['deps']['upstream']['request'] = (sent, call) => {
      if (!sent.path.endsWith('/smb_app_data')) return world.deps.upstream.request(sent, call);
      const beforeWrite = async (): Promise<void> => {
        await once('before');
        await sent.beforeWrite?.();
        await once('after');
      };
      return world.deps.upstream.request({ ...sent, beforeWrite }, call);
    };
    return { ...world.deps, upstream: { ...world.deps.upstream, request } };
  };
  const again = async (): Promise<void> => void (await store(NEXT_TOKEN, 'cex_2'));
  /** The sync of an earlier onboarding is due. */
  const syncIsDue = async (): Promise<void> => {
    await store(TOKEN, 'cex_1');
    world.passTime(5 * MINUTE_S);
  };
  /** As the emulator logs them. */
  const asLogged = (token: string): string => `Bearer …${token.slice(-4)}`;
  const RENEWED = [TOKEN, NEXT_TOKEN].map(asLogged);

  it('gives the request itself the new token while it is not written', async () => {
    await syncIsDue();
    await syncDue(whenSyncing({ before: again }));
    expect(await tokens()).toEqual([NEXT_TOKEN, NEXT_TOKEN].map(asLogged));
    expect((await seen())?.status).toBe('requested');
  });

  it('writes nothing for a client that is deleted in the last moment', async () => {
    await syncIsDue();
    const deleting = async (): Promise<void> =>
      void (await world.handlers.deleteClient({ partner_id, waba_id: SCOPE.waba_id }));
    await syncDue(whenSyncing({ before: deleting }));
    expect(await tokens()).toEqual([]);
  });

  it('gives the poller’s next request the new token, and the new onboarding its own sync', async () => {
    await syncIsDue();
    await syncDue(whenSyncing({ after: again }));
    expect(await tokens()).toEqual(RENEWED);
    // The sync of the earlier onboarding does not count for the new one.
    const { smb_app_state_sync, history } = (await find()).sync_requested;
    expect(smb_app_state_sync).toBeNull();
    expect(history).toBeInstanceOf(Date);
  });

  it('gives the earlier registration’s next request the new token', async () => {
    await register('cex_1', whenSyncing({ after: again }));
    expect(await tokens()).toEqual(RENEWED);
  });

  it('keeps its window open when the upstream reports the earlier one as closed', async () => {
    await syncIsDue();
    await refuseSync(2593108);
    await syncDue(whenSyncing({ after: again }));
    expect((await find()).sync_retry_at).toBeInstanceOf(Date);
    await world.emulator.clearFaults();
    await pass(1);
    expect((await seen())?.status).toBe('requested');
  });
});
