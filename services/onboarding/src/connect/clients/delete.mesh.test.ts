// Deletion of an account, including one that a crash interrupted.
import { refuses, useWorld } from '../../../test/world';

const ONE = { waba_id: '900000000000001', phone_number_id: '800000000000001' };
const WABA = ONE.waba_id;

const world = useWorld();

const register = (partner_id: string) =>
  world.register(partner_id, { ...ONE, access_token: 'EMULATED-TOKEN-1' });
const remove = (partner_id: string) => world.handlers.deleteClient({ partner_id, waba_id: WABA });

it('frees the account’s place and answers WABA_NOT_REGISTERED the second time', async () => {
  const { _id } = await world.partner();
  await register(_id);
  await remove(_id);
  expect((await world.deps.partners.find(_id))?.wabas).toEqual([]);
  await refuses(remove(_id), 'WABA_NOT_REGISTERED');
});

it('returns the time until which the client’s events are in the event log', async () => {
  const { _id } = await world.partner();
  await register(_id);
  const { events_removed_by } = await remove(_id);
  const [deleted] = await world.deps.clients.deletedOf({ partner_id: _id, waba_id: WABA });
  const kept_ms = Number(events_removed_by) - Number(deleted?.deleted_at);
  expect(kept_ms / 86_400_000).toBeCloseTo(7 + 2 / 24, 1);
});

it('completes a deletion that a crash interrupted before the place was freed', async () => {
  const { _id } = await world.partner();
  await register(_id);
  await world.deps.clients.remove({ partner_id: _id, waba_id: WABA }, new Date());
  world.deps.bumped.length = 0;
  await remove(_id);
  expect((await world.deps.partners.find(_id))?.wabas).toEqual([]);
  expect(world.deps.bumped.join()).toContain(WABA);
  await refuses(remove(_id), 'WABA_NOT_REGISTERED');
});
