// The registry of webhook endpoints on a real database and a fake clock: what is stored and sealed, the
// bound, rotation, disabling, and what the directory answers.
import { partnerVersionKey } from '@bmg/common/directory';
import type { Handlers } from '@bmg/common/rpc';
import { createVault } from '@bmg/common/vault';
import { EndpointSettings, type EndpointRegistryDefinition } from '@bmg/proto/endpoints';
import { failureOf, KEYRING, openWorld, testCall, type World } from '../../testing/world';
import { createDirectoryHandlers } from '../directory/handlers';
import { rotateKeyring } from '../secrets/keyring';
import type { Partner } from '../store/partners';
import { ENDPOINTS_MAX, WEBHOOK_ENDPOINTS } from '../store/webhook-endpoints';
import { createEndpointHandlers } from './handlers';

const HOUR_S = 3_600;
const WABA = '900000000000001';
const URL = 'https://crm.example.com/messages?token=of-the-url';
const NEW_RING = `fresh:hkdf:${Buffer.alloc(32, 7).toString('base64')},${KEYRING}`;

let world: World;
let registry: Handlers<EndpointRegistryDefinition>;
let partner: Partner;
let published: Array<{ message: Record<string, unknown> }>;

beforeEach(async () => {
  world = await openWorld();
  published = [];
  const bus = {
    publish: async (messages: unknown) => void published.push(...(messages as typeof published)),
  };
  const settings = { ALLOW_PRIVATE_URLS: false };
  registry = createEndpointHandlers({ ...world.deps, settings, bus: bus as never });
  partner = await world.partner({ wabas: [WABA] });
});
afterEach(() => world.close());

const settingsOf = (change: object): EndpointSettings => EndpointSettings.fromPartial(change);
const create = (change: object = {}, more: object = {}) =>
  registry.registerEndpoint(
    {
      partner_id: partner._id,
      settings: settingsOf({ url: URL, ...change }),
      dry_run: false,
      secret: undefined,
      ...more,
    },
    testCall(),
  );
const made = async (change: object = {}) => {
  const { endpoint, secret } = await create(change);
  return { endpoint_id: endpoint?.endpoint_id as string, secret };
};
const update = (endpoint_id: string, change: object, dry_run = false) =>
  registry.changeEndpoint(
    { partner_id: partner._id, endpoint_id, settings: settingsOf(change), dry_run },
    testCall(),
  );
const list = async () =>
  (await registry.listEndpoints({ partner_id: partner._id }, testCall())).endpoints;
/** What webhooks learns of the partner's endpoints. */
async function receiving(vault = world.deps.vault) {
  const directory = createDirectoryHandlers({ ...world.deps, vault });
  const { receivers } = await directory.getReceivers({ partner_ids: [partner._id] }, testCall());
  return receivers[partner._id]?.endpoints ?? [];
}

test('the directory returns an endpoint with its secret and headers, which are stored sealed', async () => {
  const headers = { by_name: { 'X-Token': 'of-the-header' } };
  const { endpoint_id, secret } = await made({ headers, waba_ids: { items: [WABA] } });
  expect(await receiving()).toEqual([
    {
      endpoint_id,
      url: URL,
      secrets: [secret],
      status: 'active',
      events: [],
      waba_ids: [WABA],
      phone_number_ids: [],
      headers: { 'x-token': 'of-the-header' },
      max_per_second: 0,
      ordered: true,
      format: 'envelope',
    },
  ]);
  const rows = await world.mongo.db.collection(WEBHOOK_ENDPOINTS).find().toArray();
  expect(JSON.stringify(rows)).not.toContain('of-the-header');
  expect(JSON.stringify(rows)).not.toContain(secret.slice('whsec_'.length));
  expect(JSON.stringify(await list())).not.toContain('of-the-header');
  expect(world.deps.bumped).toContain(partnerVersionKey(partner._id));
});

test('a dry run stores nothing, and its secret becomes that of the endpoint', async () => {
  const { secret } = await create({}, { dry_run: true });
  expect([await list(), world.deps.bumped]).toEqual([[], []]);
  const created = await create({}, { secret });
  expect(created.secret).toBe(secret);
  expect((await receiving())[0]?.secrets).toEqual([secret]);
  const forged = await failureOf(create({}, { secret: 'whsec_short' }));
  expect(forged.details).toMatchObject({ field: 'secret' });
  const { endpoint_id = '' } = created.endpoint ?? {};
  expect(await update(endpoint_id, { description: 'dry' }, true)).toMatchObject({
    description: 'dry',
  });
  expect((await list())[0]?.description).toBe('');
});

test('creations at the same time do not pass the bound together', async () => {
  for (let count = 0; count < ENDPOINTS_MAX - 2; count += 1) await create();
  const results = await Promise.allSettled([create(), create(), create(), create()]);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  expect(await list()).toHaveLength(ENDPOINTS_MAX);
  expect((await failureOf(create({}, { dry_run: true }))).code).toBe('QUOTA_EXCEEDED');
});

test('an update changes what is given; another partner finds nothing', async () => {
  const { endpoint_id } = await made({ events: { items: ['message.*'] }, max_per_second: 5 });
  const changed = await update(endpoint_id, { events: { items: [] }, status: 'paused' });
  expect(changed).toMatchObject({ events: [], status: 'paused', max_per_second: 5, url: URL });
  const nothing = await failureOf(update(endpoint_id, {}));
  expect(nothing.code).toBe('MISSING_FIELDS');
  const stranger = await world.partner();
  const request = { partner_id: stranger._id, endpoint_id };
  for (const work of [
    registry.deleteEndpoint(request, testCall()),
    registry.rotateEndpointSecret({ ...request, overlap_hours: 1 }, testCall()),
    registry.disableEndpoint({ ...request, unless_changed_since: undefined }, testCall()),
  ]) {
    expect((await failureOf(Promise.resolve(work))).code).toBe('NOT_FOUND');
  }
  await registry.deleteEndpoint({ partner_id: partner._id, endpoint_id }, testCall());
  expect(await list()).toEqual([]);
});

test.each<[string, object, string]>([
  ['an http address', { url: 'http://example.com/' }, 'url'],
  ['a private address', { url: 'https://10.0.0.1/' }, 'url'],
  ['an unknown status', { status: 'disabled' }, 'status'],
  ['an unknown format', { format: 'xml' }, 'format'],
  ['too high a rate', { max_per_second: 1_001 }, 'max_per_second'],
  ['another’s account', { waba_ids: { items: ['1'] } }, 'waba_ids[0]'],
])('%s is refused by its field', async (_name, change, field) => {
  const refused = await failureOf(Promise.resolve(create(change)));
  expect([refused.code, (refused.details as { field: string }).field]).toEqual([
    'INVALID_FIELD',
    field,
  ]);
  expect(await list()).toEqual([]);
});

test('after a rotation both secrets sign until the overlap is over', async () => {
  const { endpoint_id, secret: first } = await made();
  const request = { partner_id: partner._id, endpoint_id };
  const { secret, endpoint } = await registry.rotateEndpointSecret(
    { ...request, overlap_hours: 2 },
    testCall(),
  );
  expect(endpoint?.previous_secret_expires_at).toBeInstanceOf(Date);
  expect((await receiving())[0]?.secrets).toEqual([secret, first]);
  world.passTime(2 * HOUR_S + 1);
  expect((await receiving())[0]?.secrets).toEqual([secret]);
  expect((await list())[0]?.previous_secret_expires_at).toBeUndefined();
});

test('a failing endpoint is disabled once, with an event, unless its partner changed it', async () => {
  const { endpoint_id } = await made();
  const disable = (unless_changed_since: Date) =>
    registry.disableEndpoint(
      { partner_id: partner._id, endpoint_id, unless_changed_since },
      testCall(),
    );
  const before = new Date(world.deps.now().getTime() - HOUR_S * 1_000);
  expect((await disable(before)).status).toBe('active');
  expect(published).toEqual([]);
  const { status, disabled_at } = await disable(world.deps.now());
  expect([status, disabled_at]).toEqual(['disabled', expect.any(Date)]);
  await disable(world.deps.now());
  expect(published.map(({ message }) => message)).toEqual([
    {
      partner_id: partner._id,
      event: 'webhook.endpoint_disabled',
      occurrence: expect.stringContaining(endpoint_id),
      timestamp: expect.any(Number),
      data: JSON.stringify({
        endpoint_id,
        url: 'https://crm.example.com',
        reason: 'failing',
      }),
    },
  ]);
  expect((await receiving())[0]?.status).toBe('disabled');
  expect(await update(endpoint_id, { status: 'active' })).toMatchObject({
    status: 'active',
    disabled_at: undefined,
  });
});

test('the rotation of the key ring rewraps secrets and headers', async () => {
  const { secret } = await made({ headers: { by_name: { 'x-token': 'value' } } });
  const vault = createVault(NEW_RING);
  const { rewrapped } = await rotateKeyring(
    { ...world.deps, vault },
    { after: undefined, limit: 100 },
  );
  expect(rewrapped).toBe(2);
  const alone = createVault(NEW_RING.split(',')[0] as string);
  expect(await receiving(alone)).toMatchObject([
    { secrets: [secret], headers: { 'x-token': 'value' } },
  ]);
});
