// Shadows at the registry, on a real database and a fake clock: what is checked, stored and sealed,
// one at a time, and what the directory answers.
import { partnerVersionKey } from '@bmg/common/directory';
import type { Handlers } from '@bmg/common/rpc';
import {
  EndpointSettings,
  ShadowSettings,
  type EndpointRegistryDefinition,
} from '@bmg/proto/endpoints';
import { calling, type Calling, refuses, useWorld } from '../../../test/world';
import { PARTNERS, type Partner } from '../../ground/partners';
import { createReceiverHandlers } from './handlers';

const HOUR_S = 3_600;
const URL = 'https://new.example.com/hooks?token=of-the-url';
const FIRST = 'https://first.example.com/hooks';

const world = useWorld();
let registry: Calling<Handlers<EndpointRegistryDefinition>>;
let partner: Partner;

beforeEach(async () => {
  registry = calling(createReceiverHandlers(world.deps));
  partner = await world.partner({ webhook_url: FIRST });
});

const register = (shadow_id: string, change: object = {}, more: object = {}) =>
  registry.registerShadow({
    partner_id: partner._id,
    shadow_id,
    settings: ShadowSettings.fromPartial({
      url: URL,
      source: 'live',
      hours: 2,
      max_per_second: 20,
      ...change,
    }),
    dry_run: false,
    ...more,
  });
const remove = (shadow_id: string) => registry.removeShadow({ partner_id: partner._id, shadow_id });
/** What webhooks learns of the partner's shadow. */
async function receiving() {
  const { receivers } = await world.handlers.getReceivers({ partner_ids: [partner._id] });
  return receivers[partner._id]?.shadow;
}
const addEndpoint = async (settings: object): Promise<string> => {
  const { endpoint } = await registry.registerEndpoint({
    partner_id: partner._id,
    settings: EndpointSettings.fromPartial(settings),
    dry_run: false,
    untested: false,
  });
  return endpoint?.endpoint_id as string;
};

test('the directory returns a shadow with its secret and headers, which are stored sealed', async () => {
  expect(await receiving()).toBeUndefined();
  const headers = { by_name: { 'X-Token': 'of-the-header' } };
  const { secret, header_names, ends_at } = await register('shd_1', { headers });
  expect(header_names).toEqual(['x-token']);
  expect(await receiving()).toEqual({
    shadow_id: 'shd_1',
    url: URL,
    secret,
    headers: { 'x-token': 'of-the-header' },
    source: 'live',
    max_per_second: 20,
    ends_at,
  });
  const rows = JSON.stringify(await world.mongo.db.collection(PARTNERS).find().toArray());
  expect(rows).not.toContain('of-the-header');
  expect(rows).not.toContain(secret.slice('whsec_'.length));
  expect(world.deps.bumped).toContain(partnerVersionKey(partner._id));
});

test('a dry run stores nothing, and its secret becomes that of the shadow', async () => {
  const { secret } = await register('shd_1', {}, { dry_run: true });
  expect([await receiving(), world.deps.bumped]).toEqual([undefined, []]);
  await register('shd_1', {}, { secret });
  expect((await receiving())?.secret).toBe(secret);
  await refuses(register('shd_2', {}, { secret: 'whsec_short' }), 'QUOTA_EXCEEDED');
});

test('one runs at a time, until it is removed or its time is over', async () => {
  const results = await Promise.allSettled(['shd_1', 'shd_2', 'shd_3'].map((id) => register(id)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const running = (await receiving())?.shadow_id as string;
  const trial = register('shd_4', {}, { dry_run: true });
  await refuses(trial, 'QUOTA_EXCEEDED', { shadow_id: running });
  // Of another shadow: nothing changes.
  await remove('shd_4');
  expect((await receiving())?.shadow_id).toBe(running);
  await remove(running);
  await remove(running);
  expect(await receiving()).toBeUndefined();
  await register('shd_5');
  world.passTime(2 * HOUR_S + 1);
  expect(await receiving()).toBeUndefined();
  await register('shd_6');
  expect((await receiving())?.shadow_id).toBe('shd_6');
});

test.each<[string, object, string]>([
  ['an http address', { url: 'http://example.com/' }, 'url'],
  ['a private address', { url: 'https://10.0.0.1/' }, 'url'],
  ['the address of the first receiver', { url: FIRST }, 'url'],
  ['an unknown source', { source: 'last_week' }, 'source'],
  ['no time', { hours: 0 }, 'hours'],
  ['too long a time', { hours: 73 }, 'hours'],
  ['too high a rate', { max_per_second: 101 }, 'max_per_second'],
  ['another’s endpoint', { endpoint_id: 'whe_none' }, 'endpoint_id'],
  ['a header of ours', { headers: { by_name: { 'webhook-id': 'x' } } }, 'headers.webhook-id'],
])('%s is refused by its field', async (_name, change, field) => {
  await refuses(register('shd_1', change), 'INVALID_FIELD', field);
  expect(await receiving()).toBeUndefined();
});

test('is compared with an endpoint that has a URL', async () => {
  const endpoint_id = await addEndpoint({ url: FIRST });
  await refuses(register('shd_1', { endpoint_id, url: FIRST }), 'INVALID_FIELD', 'url');
  const settings = { queue_url: 'https://sqs.example.com/1/events', access_key_id: 'id' };
  const queue = await addEndpoint({
    destination: { type: 'sqs', settings: { ...settings, secret_access_key: 'sealed' } },
  });
  await refuses(register('shd_1', { endpoint_id: queue }), 'INVALID_FIELD', 'endpoint_id');
  await register('shd_1', { endpoint_id });
  expect((await receiving())?.endpoint_id).toBe(endpoint_id);
});

test('without a webhook URL, an endpoint has to be named', async () => {
  partner = await world.partner();
  await refuses(register('shd_1'), 'MISSING_FIELDS', { fields: ['endpoint_id'] });
});
