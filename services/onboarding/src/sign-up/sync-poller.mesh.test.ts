// The clock of the data sync, on a clock that can be moved: what the upstream did not take is asked
// for again while it may be, and a person is told in time.
import { metrics } from '@bmg/common/telemetry';
import { openWorld, testCall, type World } from '../../testing/world';
import { registerClient, storeClient } from '../clients/register';
import { syncDue } from './sync-poller';

const SCOPE = { waba_id: '900000000000001', phone_number_id: '800000000000001' };
const TOKEN = 'EMULATED-TOKEN-1';
const MINUTE_S = 60;
const HOUR_S = 3_600;
const SYNC = '/smb_app_data$';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const refuseSync = (code = 131000, times = -1) =>
  world.emulator.fault({ match: { path: SYNC }, times, error: { code } });
const asked = async (): Promise<number> => (await world.emulator.requests({ path: SYNC })).length;
const find = (partner_id: string) => world.deps.clients.find({ partner_id, ...SCOPE });
const events = async (partner_id: string): Promise<string[]> =>
  (await world.deps.events.list(partner_id, 200))
    .reverse()
    .map(({ current_step, error_code }) =>
      error_code ? `${current_step}: ${error_code}` : current_step,
    );
const REGISTERED = ['REGISTRATION', 'COEXISTENCE_SYNC: SYNC_FAILED', 'COMPLETED'];

const register = (partner_id: string, onboarding_id?: string) =>
  registerClient(
    world.deps,
    { partner_id, ...SCOPE },
    { access_token: TOKEN, ...(onboarding_id !== undefined && { onboarding_id }) },
    testCall(),
  );
/** Lets so much time pass, looking as often as the clock does on a busy day. */
async function pass(hours: number): Promise<void> {
  for (let minutes = 0; minutes < hours * 60; minutes += 30) {
    world.passTime(30 * MINUTE_S);
    await syncDue(world.deps);
  }
}
async function dueGauge(): Promise<number | undefined> {
  return (await metrics.coexistence_syncs_due.get()).values[0]?.value;
}

it('asks for nothing where the registration has', async () => {
  const { _id } = await world.partner();
  await register(_id);
  expect(await asked()).toBe(2);
  await pass(2);
  expect(await asked()).toBe(2);
  expect((await find(_id))?.sync_retry_at).toBeNull();
});

it('asks again for what is missing, soon and then rarely, until the upstream takes it', async () => {
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

it('asks for the one that is missing and not for the other', async () => {
  const { _id } = await world.partner();
  await refuseSync(131000, 1);
  const { sync } = await register(_id);
  expect(sync.history).toBe('requested');
  await pass(1);
  expect(await asked()).toBe(3);
  expect((await find(_id))?.sync_requested.smb_app_state_sync).toBeInstanceOf(Date);
});

it('warns once when less than six hours are left: in the log, and by a number to watch', async () => {
  const { _id } = await world.partner();
  await refuseSync();
  await register(_id);
  await pass(17);
  expect(await events(_id)).toEqual(REGISTERED);
  expect(await dueGauge()).toBe(0);
  await pass(3);
  expect(await events(_id)).toEqual([...REGISTERED, 'SYNC_DUE: SYNC_FAILED']);
  const [due] = await world.deps.events.list(_id, 1);
  expect(due).toMatchObject(SCOPE);
  expect(due?.error_message).toMatch(/^less than \d h are left to ask for the sync: /);
  expect(due?.upstream_session_id).toMatch(/^A/);
  expect(await dueGauge()).toBe(1);
  await world.emulator.clearFaults();
  await pass(2);
  expect(await events(_id)).toEqual([...REGISTERED, 'SYNC_DUE: SYNC_FAILED', 'COEXISTENCE_SYNC']);
  expect(await dueGauge()).toBe(0);
});

it('says it when the time is over, and asks no more', async () => {
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
});

it('takes the upstream’s word that the time is over', async () => {
  const { _id } = await world.partner();
  await refuseSync(2593108);
  await register(_id);
  await pass(1);
  expect(await events(_id)).toEqual([...REGISTERED, 'COEXISTENCE_SYNC: SYNC_EXPIRED']);
  expect((await find(_id))?.sync_retry_at).toBeNull();
});

it('takes up what a crash between the registration and the request has left', async () => {
  const { _id } = await world.partner();
  const scope = { partner_id: _id, ...SCOPE };
  await storeClient(world.deps, scope, { access_token: TOKEN }, testCall());
  expect(await asked()).toBe(0);
  await pass(1);
  expect(await asked()).toBe(2);
  expect(await events(_id)).toEqual(['COEXISTENCE_SYNC']);
});

it('begins anew with a new onboarding, and goes on under a repeated one', async () => {
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

it('leaves a deleted client and a number that is not in the business app alone', async () => {
  const [one, other] = [await world.partner(), await world.partner()];
  await refuseSync();
  await register(one._id);
  await world.handlers.deleteClient({ partner_id: one._id, waba_id: SCOPE.waba_id }, testCall());
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

it('asks for each number once when two replicas look at the same time', async () => {
  const { _id } = await world.partner();
  await refuseSync();
  await register(_id);
  const before = await asked();
  world.passTime(5 * MINUTE_S);
  await Promise.all([syncDue(world.deps), syncDue(world.deps)]);
  expect(await asked()).toBe(before + 2);
});
