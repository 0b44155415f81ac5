// API keys on a real database and a fake clock: their life, their bound, and what the directory
// answers.
import { createPeppers } from '@bmg/common/keys';
import type { Handlers } from '@bmg/common/rpc';
import type { CreateKeyRequest, KeysDefinition } from '@bmg/proto/keys';
import { eventually } from '../../../../../test/testkit/eventually';
import { calling, type Calling, PEPPER, peppers, refuses, useWorld } from '../../../test/world';
import { createDirectoryHandlers } from '../../connect/directory/handlers';
import { KEYS_MAX, PARTNER_KEYS } from './store';
import type { Partner } from '../../ground/partners';
import { createKeyHandlers } from './handlers';

const HOUR_S = 3_600;
const WABA = '900000000000001';

const world = useWorld();
let keys: Calling<Handlers<KeysDefinition>>;
let partner: Partner;

beforeEach(async () => {
  keys = calling(createKeyHandlers(world.deps));
  partner = await world.partner({ wabas: [WABA] });
});

const create = (change: Partial<CreateKeyRequest> = {}) =>
  keys.createKey({
    partner_id: partner._id,
    name: 'A key',
    scopes: ['read'],
    waba_ids: [],
    addresses: [],
    ...change,
  });
const made = async (change: Partial<CreateKeyRequest> = {}) => {
  const { key, secret } = await create(change);
  return { key_id: key?.key_id as string, secret };
};
const update = (key_id: string, change: object) =>
  keys.updateKey({ partner_id: partner._id, key_id, never_expires: false, ...change });
const rotate = (key_id: string, overlap_hours: number, change = {}) =>
  keys.rotateKey({ partner_id: partner._id, key_id, overlap_hours, ...change });
const revoke = (key_id: string, caller = {}) =>
  keys.revokeKey({ partner_id: partner._id, key_id, ...caller });

/** What a gateway learns of a secret. */
async function callerOf(secret: string, restrictions = true) {
  const key_hash = peppers.hash(secret);
  const request = { key_hashes: [key_hash], restrictions };
  return (await world.handlers.authenticateMany(request)).callers[key_hash];
}

test('a key is found with its restriction, and only its hash is stored', async () => {
  const expires_at = new Date(Date.now() + HOUR_S * 1_000);
  const addresses = ['203.0.113.0/24'];
  const limits = { scopes: ['send', 'read'], waba_ids: [WABA], addresses, expires_at };
  const { key_id, secret } = await made(limits);
  expect(await callerOf(secret)).toEqual({
    partner_id: partner._id,
    rate_limit_per_sec: partner.rate_limit_per_sec,
    status: 'active',
    restriction: { key_id, ...limits },
  });
  const stored = await world.mongo.db.collection(PARTNER_KEYS).find().toArray();
  expect(JSON.stringify(stored)).not.toContain(secret);
  expect(JSON.stringify(stored)).not.toContain(secret.slice(5, -6));
});

test('a gateway that does not enforce restrictions does not find a key', async () => {
  const { secret } = await made();
  expect(await callerOf(secret, false)).toBeUndefined();
  const key_hash = peppers.hash(secret);
  await refuses(world.handlers.authenticate({ key_hash }), 'INVALID_PARTNER_KEY');
});

test('a key ends with its expiry and its revocation, and each change makes caches stale', async () => {
  const { key_id, secret } = await made({ expires_at: new Date(Date.now() + HOUR_S * 1_000) });
  const other = await made();
  world.deps.bumped.length = 0;
  world.passTime(HOUR_S + 1);
  expect(await callerOf(secret)).toBeUndefined();
  await update(key_id, { never_expires: true });
  expect((await callerOf(secret))?.restriction?.expires_at).toBeUndefined();
  await revoke(key_id);
  expect(await callerOf(secret)).toBeUndefined();
  expect(await callerOf(other.secret)).toBeDefined();
  expect(world.deps.bumped).toHaveLength(2);
  await refuses(revoke(key_id), 'NOT_FOUND');
});

test('a rotated secret works until the end of the overlap, and the one before it no more', async () => {
  const { key_id, secret: first } = await made();
  const { secret: second, key } = await rotate(key_id, 2);
  const end = key?.previous_expires_at as Date;
  expect((await callerOf(first))?.restriction).toMatchObject({ key_id, expires_at: end });
  expect((await callerOf(second))?.restriction?.expires_at).toBeUndefined();
  const { secret: third } = await rotate(key_id, 2);
  const known = async (...secrets: string[]) =>
    (await Promise.all(secrets.map((one) => callerOf(one)))).map((caller) => caller !== undefined);
  expect(await known(first, second)).toEqual([false, true]);
  world.passTime(2 * HOUR_S);
  expect(await known(second, third)).toEqual([false, true]);
  const { secret: fourth } = await rotate(key_id, 0);
  expect(await known(third, fourth)).toEqual([false, true]);
});

test('of rotations at the same time, each secret but the last is the previous one of another', async () => {
  const { key_id } = await made();
  const rotated = await Promise.all([rotate(key_id, 1), rotate(key_id, 1), rotate(key_id, 1)]);
  const callers = await Promise.all(rotated.map(({ secret }) => callerOf(secret)));
  expect(callers.filter((caller) => caller !== undefined)).toHaveLength(2);
});

test('an API key grants, changes, rotates and revokes nothing that it does not have', async () => {
  const small = await made({ scopes: ['manage', 'read'] });
  const large = await made({ scopes: ['manage', 'billing'] });
  const limited = await made({ scopes: ['manage'], addresses: ['203.0.113.7'] });
  const by = { caller_key_id: small.key_id };
  for (const refused of [
    create({ ...by, scopes: ['billing'] }),
    update(small.key_id, { ...by, scopes: { items: ['billing'] } }),
    update(large.key_id, { ...by, name: 'x' }),
    rotate(large.key_id, 1, by),
    revoke(large.key_id, by),
  ]) {
    await refuses(refused, 'SCOPE_MISSING', { scope: 'billing' });
  }
  expect((await create({ ...by, scopes: ['read'] })).key?.scopes).toEqual(['read']);
  await refuses(revoke('key_none', by), 'NOT_FOUND');
  await revoke(limited.key_id, by);
  const narrowed = await update(large.key_id, { ...by, scopes: { items: ['read'] } });
  expect(narrowed.scopes).toEqual(['read']);
  await revoke(small.key_id, by);
  expect(await callerOf(small.secret)).toBeUndefined();
  expect(await callerOf(large.secret)).toBeDefined();
});

test('a key that was revoked since its request was admitted changes nothing', async () => {
  const { key_id } = await made({ scopes: ['manage'] });
  await revoke(key_id);
  await refuses(create({ caller_key_id: key_id, scopes: ['manage'] }), 'INVALID_PARTNER_KEY');
});

test('only what is given changes, and an empty list removes a limit', async () => {
  const { key_id } = await made({ waba_ids: [WABA], addresses: ['203.0.113.7'] });
  const renamed = await update(key_id, { name: 'Another' });
  expect(renamed).toMatchObject({ name: 'Another', waba_ids: [WABA], addresses: ['203.0.113.7'] });
  expect(await update(key_id, { waba_ids: { items: [] } })).toMatchObject({
    waba_ids: [],
    addresses: ['203.0.113.7'],
  });
  for (const change of [{}, { scopes: { items: [] } }]) {
    await refuses(update(key_id, change), 'MISSING_FIELDS');
  }
  await refuses(update(key_id, { waba_ids: { items: ['1'] } }), 'INVALID_FIELD', 'waba_ids[0]');
});

test('a partner has a bounded number of keys, also when they are created at the same time', async () => {
  const together = await Promise.allSettled(Array.from({ length: KEYS_MAX + 3 }, () => create()));
  const refused = together.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect(refused).toEqual(['LIMIT_REACHED', 'LIMIT_REACHED', 'LIMIT_REACHED']);
  const request = { partner_id: partner._id };
  const listed = await keys.listKeys(request);
  expect([listed.keys.length, listed.keys_max]).toEqual([KEYS_MAX, KEYS_MAX]);
  await revoke(listed.keys[7]?.key_id as string);
  await create();
  expect((await keys.listKeys(request)).keys).toHaveLength(KEYS_MAX);
  // Another partner has its own.
  partner = await world.partner();
  await create();
});

test('the keys of another partner are unknown', async () => {
  const { key_id } = await made();
  partner = await world.partner();
  for (const work of [revoke(key_id), rotate(key_id, 1), update(key_id, { name: 'x' })]) {
    await refuses(work, 'NOT_FOUND');
  }
  expect((await keys.listKeys({ partner_id: partner._id })).keys).toEqual([]);
});

test('the last use is stored once a minute', async () => {
  const { secret } = await made();
  const lastUse = async (): Promise<number> => {
    const listed = await keys.listKeys({ partner_id: partner._id });
    return listed.keys[0]?.last_used_at?.getTime() ?? 0;
  };
  expect(await lastUse()).toBe(0);
  await callerOf(secret);
  await eventually(async () => (await lastUse()) > 0);
  const first = await lastUse();
  world.passTime(50);
  await callerOf(secret);
  expect(await lastUse()).toBe(first);
  world.passTime(11);
  await callerOf(secret);
  await eventually(async () => (await lastUse()) > first);
});

test('the hash of a key under an older pepper is counted and renewed, previous secrets too', async () => {
  const { key_id, secret } = await made();
  const rotated = await rotate(key_id, 1);
  const ring = `2026:${Buffer.alloc(32, 'b').toString('base64')},:${Buffer.from(PEPPER).toString('base64')}`;
  const after = createPeppers(ring);
  const renewing = calling(createDirectoryHandlers({ ...world.deps, peppers: after }));
  const old = () => world.deps.partnerKeys.ofOtherPeppers('2026', world.deps.now());
  expect(await old()).toEqual({ count: 1, partner_ids: [partner._id] });
  for (const text of [secret, rotated.secret]) {
    const [newest, former] = after.hashes(text);
    const renewal = { key_hash: former as string, newest };
    expect(await renewing.renewKeyHash(renewal)).toEqual({ renewed: true });
    const request = { key_hashes: [newest], restrictions: true };
    const { callers } = await renewing.authenticateMany(request);
    expect(callers[newest]?.restriction?.key_id).toBe(key_id);
  }
  expect(await old()).toEqual({ count: 0, partner_ids: [] });
});

test('the links that a key created end with it, and no others', async () => {
  const { key_id } = await made({ scopes: ['manage'] });
  const link = (given: object) =>
    world.handlers.createConnectSession({ partner_id: partner._id, ...given });
  const [own, other] = [await link({ key_id }), await link({})];
  await revoke(key_id);
  const isOpen = async ({ token }: { token: string }): Promise<string> => {
    const request = { token_hash: peppers.hash(token) };
    return (await world.handlers.openConnectPage(request)).outcome;
  };
  expect([await isOpen(own), await isOpen(other)]).toEqual(['unknown', 'open']);
});
