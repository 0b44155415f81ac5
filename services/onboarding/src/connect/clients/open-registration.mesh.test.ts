// From the moment in which the upstream may send an account's webhooks, the directory names the
// partner that registers it.
import { failureOf, refuses, testCall, useWorld } from '../../../test/world';
import { restoreAccount } from './register';

const ONE = { waba_id: '900000000000001', phone_number_id: '800000000000001' };
const DISPLAY_NUMBER = '15550100001';
const SUBSCRIPTION = { path: '/subscribed_apps$', method: 'POST' };
const DAY_S = 86_400;

const world = useWorld();

let _id: string;
beforeEach(async () => {
  ({ _id } = await world.partner());
});
const register = (partner_id = _id) =>
  world.register(partner_id, { ...ONE, access_token: 'EMULATED-TOKEN-1' });
const remove = (partner_id = _id) =>
  world.handlers.deleteClient({ partner_id, waba_id: ONE.waba_id });

/** The owners of the number, its spelling and its account, which agree. */
async function owners(): Promise<string[]> {
  const { waba_id, phone_number_id } = ONE;
  const directory = world.handlers;
  const asked = await directory.getOwnersOfNumbers({ numbers: [ONE] });
  const found = await Promise.all([
    directory.getOwners({ ...ONE, all_active: false }),
    directory.getOwners({ waba_id: '', phone_number_id, all_active: false }),
    directory.getOwners({
      waba_id,
      display_phone_number: DISPLAY_NUMBER,
      all_active: false,
    }),
    directory.getOwners({ waba_id, all_active: true }),
  ]);
  const answers = [...asked.owners, ...found];
  const [first, second, third, spelled] = answers;
  const partners = answers.map(({ partner_ids }) => [...partner_ids].sort());
  for (const one of partners) expect(one).toEqual(partners[0]);
  if (partners[0]?.length) {
    for (const one of [first, second, third, spelled]) expect(one).toMatchObject(ONE);
  }
  return partners[0] as string[];
}

/** Calls `meanwhile` when the subscription arrives upstream, and answers it afterwards. */
function whenSubscribing(meanwhile: () => Promise<void>): void {
  const { request } = world.deps.upstream;
  world.deps.upstream.request = async (given, call) => {
    if (given.operation === 'POST /{waba_id}/subscribed_apps') await meanwhile();
    return request(given, call);
  };
}

it('hands the events to the partner before the subscription is answered', async () => {
  let meanwhile: string[] | undefined;
  whenSubscribing(async () => {
    meanwhile = await owners();
    const listed = { partner_id: _id, limit: 10, offset: 0, status: 'all' };
    expect((await world.handlers.listClients(listed)).clients).toEqual([]);
    // A cached answer may name an earlier owner only.
    expect(world.deps.bumped.join()).toContain(ONE.waba_id);
  });
  await register();
  expect(meanwhile).toEqual([_id]);
  expect(await owners()).toEqual([_id]);
});

it('hands the events to a second partner beside the first', async () => {
  const second = await world.partner();
  await register();
  let meanwhile: string[] | undefined;
  whenSubscribing(async () => void (meanwhile = await owners()));
  await register(second._id);
  expect(meanwhile).toEqual([_id, second._id].sort());
});

it('keeps the events of a subscription without an answer for a repeat, which is retryable', async () => {
  await world.emulator.fault({ match: SUBSCRIPTION, drop: 'after' });
  const failure = await failureOf(register());
  expect(failure).toMatchObject({ code: 'UPSTREAM_ERROR', retryable: true });
  expect(await owners()).toEqual([_id]);
  expect((await world.deps.partners.find(_id))?.wabas).toEqual([]);
  expect(await register()).toMatchObject({ created: true });
  expect(await owners()).toEqual([_id]);
});

it('ends a registration that is not repeated within a day', async () => {
  await world.emulator.fault({ match: SUBSCRIPTION, drop: 'after' });
  await failureOf(register());
  world.passTime(DAY_S - 60);
  expect(await owners()).toEqual([_id]);
  world.passTime(61);
  expect(await owners()).toEqual([]);
});

it('leaves nothing behind when the upstream refuses the subscription', async () => {
  await world.emulator.fault({ match: SUBSCRIPTION, error: { code: 200, message: 'No right' } });
  const failure = await failureOf(register());
  expect(failure).toMatchObject({ upstream_code: 200, retryable: false });
  expect(await owners()).toEqual([]);
});

it('ends with the deletion of its client, also one that was never stored', async () => {
  const unknown = await world.partner();
  await register();
  await world.emulator.fault({ match: SUBSCRIPTION, drop: 'after' });
  await failureOf(register(unknown._id));
  expect(await owners()).toEqual([_id, unknown._id].sort());
  await world.emulator.clearRequests();
  await remove();
  expect(await owners()).toEqual([unknown._id]);
  const [unsubscribed] = await world.emulator.requests({ ...SUBSCRIPTION, method: 'DELETE' });
  expect(unsubscribed).toBeUndefined();
  await refuses(remove(unknown._id), 'WABA_NOT_REGISTERED');
  expect(await owners()).toEqual([]);
});

it('hands over the events of an account that is being restored', async () => {
  await register();
  await remove();
  expect(await owners()).toEqual([]);
  let meanwhile: string[] | undefined;
  whenSubscribing(async () => void (meanwhile = await owners()));
  await restoreAccount(world.deps, { partner_id: _id, waba_id: ONE.waba_id }, testCall());
  expect(meanwhile).toEqual([_id]);
});
