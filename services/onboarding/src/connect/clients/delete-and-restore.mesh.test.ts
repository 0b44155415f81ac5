// Deletion of an account, including one that a crash interrupted, and its restore.
import { failureOf, refuses, testCall, useWorld } from '../../../test/world';
import { restoreAccount } from './register';

const WABA = '900000000000002';
const NUMBERS = ['800000000000002', '800000000000003'];
const TOKEN = 'EMULATED-TOKEN-2';

const world = useWorld();

const register = (partner_id: string, phone_number_id: string) =>
  world.register(partner_id, { waba_id: WABA, phone_number_id, access_token: TOKEN });
const remove = (partner_id: string) => world.handlers.deleteClient({ partner_id, waba_id: WABA });
const restore = (partner_id: string) =>
  restoreAccount(world.deps, { partner_id, waba_id: WABA }, testCall());
const active = async (partner_id: string): Promise<string[]> =>
  (await world.deps.clients.activeOf({ partner_id, waba_id: WABA }))
    .map(({ phone_number_id }) => phone_number_id)
    .sort();
const subscriptions = async (): Promise<string[]> =>
  (await world.emulator.requests({ path: '/subscribed_apps$' })).map(({ method }) => method);

async function deleted(change = {}): Promise<string> {
  const { _id } = await world.partner(change);
  for (const number of NUMBERS) await register(_id, number);
  await remove(_id);
  expect(await active(_id)).toEqual([]);
  expect((await world.deps.partners.find(_id))?.wabas).toEqual([]);
  await world.emulator.clearRequests();
  return _id;
}

describe('a deletion', () => {
  it('returns the time until which the client’s events are in the event log', async () => {
    const { _id } = await world.partner();
    await register(_id, NUMBERS[0] as string);
    const { events_removed_by } = await remove(_id);
    const [client] = await world.deps.clients.deletedOf({ partner_id: _id, waba_id: WABA });
    const kept_ms = Number(events_removed_by) - Number(client?.deleted_at);
    expect(kept_ms / 86_400_000).toBeCloseTo(7 + 2 / 24, 1);
  });

  it('is completed by a repeat after a crash before the place was freed, then refused', async () => {
    const { _id } = await world.partner();
    await register(_id, NUMBERS[0] as string);
    await world.deps.clients.remove({ partner_id: _id, waba_id: WABA }, new Date());
    world.deps.bumped.length = 0;
    await remove(_id);
    expect((await world.deps.partners.find(_id))?.wabas).toEqual([]);
    expect(world.deps.bumped.join()).toContain(WABA);
    await refuses(remove(_id), 'WABA_NOT_REGISTERED');
  });
});

it('restores every deleted number, the place in the plan, and the subscription', async () => {
  const partner_id = await deleted({ max_wabas: 1 });
  world.deps.bumped.length = 0;
  const restored = await restore(partner_id);
  expect(restored.map(({ status }) => status)).toEqual(['active', 'active']);
  expect(await active(partner_id)).toEqual(NUMBERS);
  expect(await subscriptions()).toEqual(['POST']);
  expect((await world.deps.partners.find(partner_id))?.wabas).toEqual([WABA]);
  expect(world.deps.bumped.join()).toContain(partner_id);
  expect(world.deps.bumped.join()).toContain(WABA);
});

it('restores the account of that partner only', async () => {
  const [one, other] = [await deleted(), await deleted()];
  await restore(one);
  expect(await active(one)).toEqual(NUMBERS);
  expect(await active(other)).toEqual([]);
});

it('leaves the account deleted when the upstream refuses the subscription', async () => {
  const partner_id = await deleted();
  await world.emulator.fault({ match: { path: '/subscribed_apps$' }, error: { code: 190 } });
  expect(await failureOf(restore(partner_id))).toMatchObject({
    code: 'UPSTREAM_ERROR',
    upstream_code: 190,
  });
  expect(await active(partner_id)).toEqual([]);
  expect((await world.deps.partners.find(partner_id))?.wabas).toEqual([]);
  await restore(partner_id);
  expect(await active(partner_id)).toEqual(NUMBERS);
});

it('refuses a restore beyond the plan’s limit without a request to the upstream', async () => {
  const partner_id = await deleted();
  await world.deps.partners.change(partner_id, { max_wabas: 0 }, new Date());
  await refuses(restore(partner_id), 'WABA_LIMIT_REACHED');
  expect(await subscriptions()).toEqual([]);
  expect(await active(partner_id)).toEqual([]);
});

it('returns NOT_FOUND and changes nothing if no client is deleted', async () => {
  const { _id } = await world.partner();
  await refuses(restore(_id), 'NOT_FOUND');
  await register(_id, NUMBERS[0] as string);
  await refuses(restore(_id), 'NOT_FOUND');
  expect(await active(_id)).toEqual([NUMBERS[0]]);
  await refuses(restore('ptn_nobody'), 'NOT_FOUND');
});
