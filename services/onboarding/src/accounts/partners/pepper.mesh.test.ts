// The pepper's rotation: hashes under the older pepper are found, counted and renewed.
import { createKey, createPeppers, PARTNER_KEY_PREFIX } from '@bmg/common/keys';
import {
  calling,
  type Calling,
  codeRequest,
  PEPPER,
  testCall,
  useWorld,
} from '../../../test/world';
import { createDirectoryHandlers } from '../../connect/directory/handlers';
import { createDashboardHandlers } from './handlers';
import { registerFromCode } from '../../connect/sign-up/register-from-code';

const KEY = createKey(PARTNER_KEY_PREFIX);
const NEW = `2026:${Buffer.alloc(32, 'b').toString('base64')}`;
const FORMER = `:${Buffer.from(PEPPER).toString('base64')}`;
const before = createPeppers(PEPPER);
const after = createPeppers(`${NEW},${FORMER}`);

const world = useWorld();
let directory: Calling<ReturnType<typeof createDirectoryHandlers>>;
beforeEach(async () => {
  directory = calling(createDirectoryHandlers({ ...world.deps, peppers: after }));
});

const partnerIds = async (key_hashes: string[]): Promise<Array<string | undefined>> => {
  const { callers } = await directory.authenticateMany({ key_hashes });
  return key_hashes.map((hash) => callers[hash]?.partner_id);
};
const renew = () => directory.renewKeyHash({ key_hash: before.hash(KEY), newest: after.hash(KEY) });
const old = () => world.deps.partners.keysOfOtherPeppers('2026', world.deps.now());

test('a hash is renewed once, and only the newest is known afterwards', async () => {
  const { _id } = await world.partner({ key_hash: before.hash(KEY) });
  const [newest, former] = after.hashes(KEY);
  expect(await partnerIds([newest, former as string])).toEqual([undefined, _id]);
  expect(await old()).toEqual({ count: 1, partner_ids: [_id] });
  expect(await renew()).toEqual({ renewed: true });
  expect(await renew()).toEqual({ renewed: false });
  expect(await partnerIds([newest, former as string])).toEqual([_id, undefined]);
  expect(await old()).toEqual({ count: 0, partner_ids: [] });
});

test('the key before a rotation is counted until it expires, and renewed', async () => {
  const expires_at = new Date(world.deps.now().getTime() + 60_000);
  const key_hash = before.hash(KEY);
  const { _id } = await world.partner({
    key_hash: after.hash('another'),
    previous_key: { key_hash, expires_at },
  });
  expect(await old()).toEqual({ count: 1, partner_ids: [_id] });
  await renew();
  expect(await partnerIds([after.hash(KEY), after.hash('another')])).toEqual([_id, _id]);
  expect(await old()).toMatchObject({ count: 0 });
});

test('expired previous keys and, without an ID, keys of a ring are told apart', async () => {
  await world.partner({
    key_hash: after.hash(KEY),
    previous_key: { key_hash: before.hash('b'), expires_at: new Date(0) },
  });
  expect(await old()).toMatchObject({ count: 0 });
  const without_id = await world.deps.partners.keysOfOtherPeppers('', world.deps.now());
  expect(without_id).toMatchObject({ count: 1 });
});

test('a gateway with another newest pepper does not undo a renewal', async () => {
  const { _id } = await world.partner({ key_hash: after.hash(KEY) });
  const undone = { key_hash: after.hash(KEY), newest: before.hash(KEY) };
  expect(await directory.renewKeyHash(undone)).toEqual({ renewed: false });
  expect(await partnerIds([after.hash(KEY)])).toEqual([_id]);
});

test('a console session stays open when the hash of its key is renewed', async () => {
  const { _id, key_hash } = await world.partner({ key_hash: before.hash(KEY) });
  const own = calling(createDashboardHandlers(world.deps));
  await own.openSession({ key_hash, token_hash: 'session' });
  await renew();
  const session = await own.useSession({ token_hash: 'session', passive: false, people: true });
  expect(session.partner_id).toBe(_id);
});

test('a sign-up code sent again after the pepper’s change is the same code', async () => {
  const { _id } = await world.partner();
  const { code } = await world.emulator.code({ token: 'EMULATED-TOKEN-1' });
  const first = await world.handlers.registerFromCode(codeRequest(_id, { code }));
  const again = registerFromCode({ ...world.deps, peppers: after });
  const second = await again(codeRequest(_id, { code }), testCall());
  expect(first.created).toBe(true);
  expect(second.client?.waba_id).toBe(first.client?.waba_id);
});
