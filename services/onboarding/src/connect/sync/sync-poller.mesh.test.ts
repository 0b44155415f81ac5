// The data sync on a fake clock: a sync that the upstream did not accept is retried while the
// window is open, and a person is warned in time.
import { metrics } from '@bmg/common/telemetry';
import { stepsOf, testCall, useWorld, type World } from '../../../test/world';
import { registerClient, storeClient } from '../clients/register';
import { dataSyncOf } from './coexistence-sync';
import { syncDue } from './sync-poller';

const SCOPE = { waba_id: '900000000000001', phone_number_id: '800000000000001' };
const TOKEN = 'EMULATED-TOKEN-1';
const MINUTE_S = 60;
const HOUR_S = 3_600;
const SYNC = '/smb_app_data$';

const world = useWorld();

const refuseSync = (code = 131000, times = -1) =>
  world.emulator.fault({ match: { path: SYNC }, times, error: { code } });
const asked = async (): Promise<number> => (await world.emulator.requests({ path: SYNC })).length;
const find = (partner_id: string) => world.deps.clients.find({ partner_id, ...SCOPE });
/** As the partner sees it. */
const seen = async (partner_id: string) =>
  dataSyncOf((await find(partner_id)) as NonNullable<Awaited<ReturnType<typeof find>>>);
const events = (partner_id: string) => stepsOf(world, partner_id);
const REGISTERED = ['REGISTRATION', 'COEXISTENCE_SYNC: SYNC_FAILED', 'COMPLETED'];

const register = (partner_id: string, onboarding_id?: string) =>
  registerClient(
    world.deps,
    { partner_id, ...SCOPE },
    { access_token: TOKEN, ...(onboarding_id !== undefined && { onboarding_id }) },
    testCall(),
  );
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
  const { _id } = await world.partner();
  await register(_id);
  expect(await asked()).toBe(2);
  await pass(2);
  expect(await asked()).toBe(2);
  expect((await find(_id))?.sync_retry_at).toBeNull();
  expect(await seen(_id)).toMatchObject({
    status: 'requested',
    contacts_requested_at: expect.any(Date),
    history_requested_at: expect.any(Date),
  });
});

it('retries a missing sync with growing delays until the upstream accepts it', async () => {
  const { _id } = await world.partner();
  await refuseSync();
  await register(_id);
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
  const client = await find(_id);
  expect(client?.sync_requested.smb_app_state_sync).toBeInstanceOf(Date);
  expect(client?.sync_requested.history).toBeInstanceOf(Date);
  expect(client?.sync_retry_at).toBeNull();
  expect(await events(_id)).toEqual([...REGISTERED, 'COEXISTENCE_SYNC']);
});

it('requests only the sync type that is missing', async () => {
  const { _id } = await world.partner();
  await refuseSync(131000, 1);
  const { sync } = await register(_id);
  expect(sync.history).toBe('requested');
  await pass(1);
  expect(await asked()).toBe(3);
  expect((await find(_id))?.sync_requested.smb_app_state_sync).toBeInstanceOf(Date);
});

it('warns once when less than six hours are left, in the log and by a metric', async () => {
  const { _id } = await world.partner();
  await refuseSync();
  await register(_id);
  const registered = await find(_id);
  const sync_until = registered?.sync_until as Date;
  const open_ms = sync_until.getTime() - (registered?.registered_at.getTime() ?? 0);
  expect(open_ms / 1_000 / HOUR_S).toBeCloseTo(24, 2);
  expect(await seen(_id)).toEqual({
    status: 'waiting',
    contacts_requested_at: undefined,
    history_requested_at: undefined,
    request_until: sync_until,
  });
  await pass(17);
  expect(await events(_id)).toEqual(REGISTERED);
  expect(await dueGauge()).toBe(0);
  await pass(3);
  expect(await events(_id)).toEqual([...REGISTERED, 'SYNC_DUE: SYNC_FAILED']);
  const [due] = await world.deps.events.list(_id, 1);
  expect(due).toMatchObject(SCOPE);
  expect(due?.error_message).toMatch(/^less than \d h are left to request the sync: /);
  expect(due?.upstream_session_id).toMatch(/^A/);
  expect(await dueGauge()).toBe(1);
  await world.emulator.clearFaults();
  await pass(2);
  expect(await events(_id)).toEqual([...REGISTERED, 'SYNC_DUE: SYNC_FAILED', 'COEXISTENCE_SYNC']);
  expect(await dueGauge()).toBe(0);
});

it('logs the closed window and stops retrying', async () => {
  const { _id } = await world.partner();
  await refuseSync();
  await register(_id);
  await pass(26);
  expect(await events(_id)).toEqual([
    ...REGISTERED,
    'SYNC_DUE: SYNC_FAILED',
    'COEXISTENCE_SYNC: SYNC_EXPIRED',
  ]);
  const before = await asked();
  await pass(2);
  expect(await asked()).toBe(before);
  expect(await dueGauge()).toBe(0);
  expect((await seen(_id))?.status).toBe('expired');
});

it('stops when the upstream reports that the window has closed', async () => {
  const { _id } = await world.partner();
  await refuseSync(2593108);
  await register(_id);
  await pass(1);
  expect(await events(_id)).toEqual([...REGISTERED, 'COEXISTENCE_SYNC: SYNC_EXPIRED']);
  expect((await find(_id))?.sync_retry_at).toBeNull();
});

it('requests the sync after a crash between registration and request', async () => {
  const { _id } = await world.partner();
  const scope = { partner_id: _id, ...SCOPE };
  await storeClient(world.deps, scope, { access_token: TOKEN }, testCall());
  expect(await asked()).toBe(0);
  await pass(1);
  expect(await asked()).toBe(2);
  expect(await events(_id)).toEqual(['COEXISTENCE_SYNC']);
});

it('opens a new window for a new onboarding, and keeps it for a repeated one', async () => {
  const { _id } = await world.partner();
  await refuseSync();
  await register(_id, 'cex_1');
  const first = (await find(_id))?.sync_until;
  world.passTime(HOUR_S);
  await register(_id, 'cex_1');
  expect((await find(_id))?.sync_until).toEqual(first);
  await register(_id, 'cex_2');
  expect((await find(_id))?.sync_until?.getTime()).toBeGreaterThan(first?.getTime() as number);
});

it('skips a deleted client and a number that is not in the business app', async () => {
  const [one, other] = [await world.partner(), await world.partner()];
  await refuseSync();
  await register(one._id);
  await world.handlers.deleteClient({ partner_id: one._id, waba_id: SCOPE.waba_id });
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
  const { _id } = await world.partner();
  await refuseSync();
  await register(_id);
  const before = await asked();
  world.passTime(5 * MINUTE_S);
  await Promise.all([syncDue(world.deps), syncDue(world.deps)]);
  expect(await asked()).toBe(before + 2);
});

describe('a registration while an earlier sync request is in flight', () => {
  const NEXT_TOKEN = 'EMULATED-TOKEN-SYSTEM';
  const tokens = async (): Promise<unknown[]> =>
    (await world.emulator.requests({ path: SYNC })).map(({ headers }) => headers['authorization']);
  const store = (partner_id: string, access_token: string, onboarding_id: string) =>
    storeClient(world.deps, { partner_id, ...SCOPE }, { access_token, onboarding_id }, testCall());
  /**
   * Registers again, with another token: before the first sync request is written, or when it is on
   * its way.
   */
  const registeringAgain = (
    partner_id: string,
    when: 'before' | 'on its way' = 'on its way',
  ): World['deps'] => {
    let registered = false;
    const registerOnce = async (): Promise<void> => {
      if (registered) return;
      registered = true;
      await store(partner_id, NEXT_TOKEN, 'cex_2');
    };
    const request: World['deps']['upstream']['request'] = (sent, call) => {
      if (!sent.path.endsWith('/smb_app_data')) return world.deps.upstream.request(sent, call);
      const beforeWrite = async (): Promise<void> => {
        if (when === 'before') await registerOnce();
        await sent.beforeWrite?.();
        await registerOnce();
      };
      return world.deps.upstream.request({ ...sent, beforeWrite }, call);
    };
    return { ...world.deps, upstream: { ...world.deps.upstream, request } };
  };
  /** As the emulator logs them. */
  const asLogged = (token: string): string => `Bearer …${token.slice(-4)}`;
  const RENEWED = [TOKEN, NEXT_TOKEN].map(asLogged);

  it('gives the request itself the new token while it is not written', async () => {
    const { _id } = await world.partner();
    await store(_id, TOKEN, 'cex_1');
    world.passTime(5 * MINUTE_S);
    await syncDue(registeringAgain(_id, 'before'));
    expect(await tokens()).toEqual([NEXT_TOKEN, NEXT_TOKEN].map(asLogged));
    expect((await seen(_id))?.status).toBe('requested');
  });

  it('writes nothing for a client that is deleted in the last moment', async () => {
    const { _id } = await world.partner();
    await store(_id, TOKEN, 'cex_1');
    world.passTime(5 * MINUTE_S);
    const request: World['deps']['upstream']['request'] = (sent, call) => {
      const beforeWrite = async (): Promise<void> => {
        await world.handlers.deleteClient({ partner_id: _id, waba_id: SCOPE.waba_id });
        await sent.beforeWrite?.();
      };
      return world.deps.upstream.request({ ...sent, beforeWrite }, call);
    };
    await syncDue({ ...world.deps, upstream: { ...world.deps.upstream, request } });
    expect(await tokens()).toEqual([]);
  });

  it('gives the poller’s next request the new token, and the new onboarding its own sync', async () => {
    const { _id } = await world.partner();
    await store(_id, TOKEN, 'cex_1');
    world.passTime(5 * MINUTE_S);
    await syncDue(registeringAgain(_id));
    expect(await tokens()).toEqual(RENEWED);
    // The sync of the earlier onboarding does not count for the new one.
    const { smb_app_state_sync, history } = (await find(_id))?.sync_requested ?? {};
    expect(smb_app_state_sync).toBeNull();
    expect(history).toBeInstanceOf(Date);
  });

  it('gives the earlier registration’s next request the new token', async () => {
    const { _id } = await world.partner();
    await registerClient(
      registeringAgain(_id),
      { partner_id: _id, ...SCOPE },
      { access_token: TOKEN, onboarding_id: 'cex_1' },
      testCall(),
    );
    expect(await tokens()).toEqual(RENEWED);
  });

  it('keeps its window open when the upstream reports the earlier one as closed', async () => {
    const { _id } = await world.partner();
    await store(_id, TOKEN, 'cex_1');
    await refuseSync(2593108);
    world.passTime(5 * MINUTE_S);
    await syncDue(registeringAgain(_id));
    expect((await find(_id))?.sync_retry_at).toBeInstanceOf(Date);
    await world.emulator.clearFaults();
    await pass(1);
    expect((await seen(_id))?.status).toBe('requested');
  });
});
