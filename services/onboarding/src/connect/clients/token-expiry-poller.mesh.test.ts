// Token expiry on a fake clock: each token is checked once a day, and those that expire soon are
// counted.
import { metrics } from '@bmg/common/telemetry';
import { testCall, useWorld } from '../../../test/world';
import { registerClient } from './register';
import { inspectDue } from './token-expiry-poller';

const SCOPE = { waba_id: '900000000000001', phone_number_id: '800000000000001' };
const TOKEN = 'EMULATED-TOKEN-1';
const DAY_S = 86_400;

const world = useWorld();
let partner_id: string;
beforeEach(async () => {
  partner_id = (await world.partner())._id;
  await registerClient(world.deps, { partner_id, ...SCOPE }, { access_token: TOKEN }, testCall());
});

const find = () => world.deps.clients.find({ partner_id, ...SCOPE });
const asked = async (): Promise<number> =>
  (await world.emulator.requests({ path: '/debug_token$' })).length;
async function expiring(): Promise<number | undefined> {
  await inspectDue(world.deps);
  return (await metrics.tokens_expiring.get()).values[0]?.value;
}

it('checks a token once a day and does not count one that never expires', async () => {
  expect(await expiring()).toBe(0);
  expect((await find())?.token_expires_at).toBeNull();
  const once = await asked();
  expect(await expiring()).toBe(0);
  expect(await asked()).toBe(once);
  world.passTime(DAY_S + 60);
  await expiring();
  expect(await asked()).toBe(once + 1);
});

it('counts a token that expires within two weeks, and none that expires later', async () => {
  await world.emulator.token({ token: TOKEN, expires_in_s: 30 * DAY_S });
  expect(await expiring()).toBe(0);
  await world.emulator.token({ token: TOKEN, expires_in_s: 10 * DAY_S });
  world.passTime(DAY_S + 60);
  expect(await expiring()).toBe(1);
});

it('counts a revoked token until the client has another', async () => {
  await world.emulator.token({ token: TOKEN, invalid: true });
  expect(await expiring()).toBe(1);
  await world.emulator.token({ token: TOKEN, invalid: false });
  world.passTime(DAY_S + 60);
  expect(await expiring()).toBe(0);
});

it('checks again within the hour after a failure, and never without an app', async () => {
  await world.emulator.fault({ match: { path: '/debug_token$' }, times: 2, drop: 'before' });
  expect(await expiring()).toBe(0);
  expect((await find())?.token_expires_at).toBeUndefined();
  world.passTime(3_600 + 60);
  await expiring();
  expect((await find())?.token_expires_at).toBeNull();
  const before = await asked();
  world.passTime(DAY_S + 60);
  world.deps.settings.UPSTREAM_APP_ID = undefined;
  await expiring();
  expect(await asked()).toBe(before);
});

it('does not mark a token as expired that has replaced the refused one', async () => {
  await world.emulator.token({ token: TOKEN, invalid: true });
  const seen: unknown[] = [];
  const request: typeof world.deps.upstream.request = async (sent, call) => {
    if (sent.path.endsWith('/debug_token')) {
      seen.push((await find())?.token_expires_at);
      if (seen.length === 1) {
        const again = { access_token: 'EMULATED-TOKEN-SYSTEM' };
        await registerClient(world.deps, { partner_id, ...SCOPE }, again, testCall());
      }
    }
    return world.deps.upstream.request(sent, call);
  };
  await inspectDue({ ...world.deps, upstream: { ...world.deps.upstream, request } });
  expect(seen).toEqual([undefined, undefined]);
  expect((await find())?.token_expires_at).toBeNull();
});
