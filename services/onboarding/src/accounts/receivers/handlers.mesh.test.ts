// The registry of webhook endpoints on a real database and a fake clock: what is stored and sealed,
// the bound, rotation, disabling, and what the directory answers.
import { partnerVersionKey } from '@bmg/common/directory';
import type { Handlers } from '@bmg/common/rpc';
import { EndpointSettings, type EndpointRegistryDefinition } from '@bmg/proto/endpoints';
import { calling, type Calling, failureOf, refuses, useWorld } from '../../../test/world';
import type { Partner } from '../../ground/partners';
import { ENDPOINTS_MAX, WEBHOOK_ENDPOINTS } from './store';
import { createReceiverHandlers } from './handlers';

const HOUR_S = 3_600;
const WABA = '900000000000001';
const URL = 'https://crm.example.com/messages?token=of-the-url';

const world = useWorld();
let registry: Calling<Handlers<EndpointRegistryDefinition>>;
let partner: Partner;
let named: { partner_id: string; endpoint_id: string };

beforeEach(async () => {
  registry = calling(createReceiverHandlers(world.deps));
  partner = await world.partner({ wabas: [WABA] });
});

const settingsOf = (change: object): EndpointSettings => EndpointSettings.fromPartial(change);
const create = (change: object = {}, more: object = {}) =>
  registry.registerEndpoint({
    partner_id: partner._id,
    settings: settingsOf({ url: URL, ...change }),
    dry_run: false,
    untested: false,
    ...more,
  });
/** Creates an endpoint, which is `named` from then on. */
const made = async (change: object = {}, more: object = {}) => {
  const { endpoint, secret } = await create(change, more);
  const endpoint_id = endpoint?.endpoint_id as string;
  named = { partner_id: partner._id, endpoint_id };
  return { endpoint, endpoint_id, secret };
};
const update = (endpoint_id: string, change: object, dry_run = false) =>
  registry.changeEndpoint({
    partner_id: partner._id,
    endpoint_id,
    settings: settingsOf(change),
    dry_run,
  });
const list = async () => (await registry.listEndpoints({ partner_id: partner._id })).endpoints;
/** What webhooks learns of the partner's endpoints. */
async function receiving() {
  const { receivers } = await world.handlers.getReceivers({ partner_ids: [partner._id] });
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
      extra_by_prefix: false,
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

/** What fan-out learns of partners. */
const wanted = async (...partner_ids: string[]) =>
  (await world.handlers.getExtraEvents({ partner_ids })).wanted;

test('extra events are wanted by exact name, and by prefixes that were written since there are any', async () => {
  const old = await made({ events: { items: ['template.*'] } });
  const rows = world.mongo.db.collection<{ _id: string }>(WEBHOOK_ENDPOINTS);
  // The row of an earlier release.
  await rows.updateOne({ _id: old.endpoint_id }, { $unset: { extra_by_prefix: '' } });
  await made();
  const other = await world.partner({ extra_events: ['flow.updated'] });
  expect(await wanted(partner._id, other._id, 'ptn_unknown')).toEqual({
    [other._id]: { names: ['flow.updated'] },
  });
  await made({ events: { items: ['upstream.other'] } });
  await update(old.endpoint_id, { description: 'changed' });
  expect(await wanted(partner._id)).toEqual({ [partner._id]: { names: ['upstream.other'] } });
  await update(old.endpoint_id, { events: { items: ['template.*'] } });
  expect(await wanted(partner._id)).toEqual({
    [partner._id]: {
      names: ['template.components_updated', 'template.category_detected', 'upstream.other'],
    },
  });
  expect((await receiving()).map(({ extra_by_prefix }) => extra_by_prefix)).toEqual([
    true,
    false,
    true,
  ]);
});

test('a dry run stores nothing, and its secret becomes that of the endpoint', async () => {
  const { secret } = await create({}, { dry_run: true });
  expect([await list(), world.deps.bumped]).toEqual([[], []]);
  const created = await create({}, { secret });
  expect(created.secret).toBe(secret);
  expect((await receiving())[0]?.secrets).toEqual([secret]);
  await refuses(create({}, { secret: 'whsec_short' }), 'INVALID_FIELD', 'secret');
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
  await refuses(create({}, { dry_run: true }), 'LIMIT_REACHED');
});

test('an update changes what is given; another partner finds nothing', async () => {
  const { endpoint_id } = await made({ events: { items: ['message.*'] }, max_per_second: 5 });
  const changed = await update(endpoint_id, { events: { items: [] }, status: 'paused' });
  expect(changed).toMatchObject({ events: [], status: 'paused', max_per_second: 5, url: URL });
  await refuses(update(endpoint_id, {}), 'MISSING_FIELDS');
  const stranger = await world.partner();
  const request = { partner_id: stranger._id, endpoint_id };
  for (const work of [
    registry.deleteEndpoint(request),
    registry.rotateEndpointSecret({ ...request, overlap_hours: 1 }),
    registry.disableEndpoint({ ...request, unless_changed_since: undefined }),
  ]) {
    await refuses(work, 'NOT_FOUND');
  }
  await registry.deleteEndpoint(named);
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
  await refuses(create(change), 'INVALID_FIELD', field);
  expect(await list()).toEqual([]);
});

test('an untested endpoint gets no events until its test is confirmed', async () => {
  const { endpoint, endpoint_id } = await made({}, { untested: true });
  expect([endpoint?.status, (await receiving())[0]?.status]).toEqual(['untested', 'disabled']);
  expect((await update(endpoint_id, { status: 'paused' })).status).toBe('paused');
  expect((await receiving())[0]?.status).toBe('disabled');
  expect((await update(endpoint_id, { status: 'active' })).status).toBe('untested');
  world.deps.bumped.length = 0;
  expect((await registry.confirmTest(named)).status).toBe('active');
  expect(world.deps.bumped).toEqual([partnerVersionKey(partner._id)]);
  expect((await receiving())[0]?.status).toBe('active');
  await update(endpoint_id, { status: 'paused' });
  expect((await registry.confirmTest(named)).status).toBe('paused');
  expect(world.deps.bumped).toHaveLength(2);
});

test('after a rotation both secrets sign until the overlap is over', async () => {
  const { secret: first } = await made();
  const { secret, endpoint } = await registry.rotateEndpointSecret({ ...named, overlap_hours: 2 });
  expect(endpoint?.previous_secret_expires_at).toBeInstanceOf(Date);
  expect((await receiving())[0]?.secrets).toEqual([secret, first]);
  world.passTime(2 * HOUR_S + 1);
  expect((await receiving())[0]?.secrets).toEqual([secret]);
  expect((await list())[0]?.previous_secret_expires_at).toBeUndefined();
});

test('a failing endpoint is disabled once, with an event, unless its partner changed it', async () => {
  const { endpoint_id } = await made();
  const disable = (unless_changed_since: Date) =>
    registry.disableEndpoint({ ...named, unless_changed_since });
  const before = new Date(world.deps.now().getTime() - HOUR_S * 1_000);
  expect((await disable(before)).status).toBe('active');
  expect(world.deps.published).toEqual([]);
  const { status, disabled_at } = await disable(world.deps.now());
  expect([status, disabled_at]).toEqual(['disabled', expect.any(Date)]);
  await disable(world.deps.now());
  expect(world.deps.published).toEqual([
    {
      partner_id: partner._id,
      event: 'webhook.endpoint_disabled',
      occurrence: expect.stringContaining(endpoint_id),
      timestamp: expect.any(Number),
      data: JSON.stringify({
        endpoint_id,
        url: 'https://crm.example.com',
        destination: null,
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

test('headers are sent to another server only if they are given again', async () => {
  const headers = { by_name: { 'x-token': 'value' } };
  const { endpoint_id } = await made({ headers });
  const other = 'https://other.example.com/hooks';
  const moved = update(endpoint_id, { url: other });
  await refuses(moved, 'MISSING_FIELDS', { fields: ['headers'] });
  await update(endpoint_id, { url: 'https://crm.example.com/elsewhere' });
  await update(endpoint_id, { url: other, headers });
  expect(await receiving()).toMatchObject([{ url: other, headers: headers.by_name }]);
});

describe('a destination', () => {
  const CREDENTIAL = 'of-the-destination';
  const KAFKA = {
    type: 'kafka',
    settings: {
      brokers: ['kafka.example.com:9093'],
      topic: 'events',
      mechanism: 'scram-sha-512',
      username: 'gateway',
      password: CREDENTIAL,
    },
  };
  const withDestination = (change: object = {}) =>
    made({ url: undefined, destination: KAFKA, ...change });
  const { password: _password, ...shown } = { ...KAFKA.settings, tls: true };

  test('is stored with its credentials sealed, and returned to the directory only', async () => {
    const { endpoint, secret } = await withDestination();
    expect(secret).toBe('');
    expect(endpoint).toMatchObject({
      endpoint_id: expect.stringMatching(/^whd_/),
      url: '',
      destination: { type: 'kafka', settings: shown },
    });
    expect(endpoint?.destination?.settings).toEqual(shown);
    expect(await receiving()).toMatchObject([
      {
        url: '',
        secrets: [],
        destination: { type: 'kafka', settings: { ...shown, password: CREDENTIAL } },
      },
    ]);
    const rows = await world.mongo.db.collection(WEBHOOK_ENDPOINTS).find().toArray();
    expect(JSON.stringify(rows)).not.toContain(CREDENTIAL);
    expect(JSON.stringify(await list())).not.toContain(CREDENTIAL);
  });

  test('keeps the settings that a change leaves out; null sets the default', async () => {
    const { endpoint_id } = await withDestination();
    const settings = { topic: 'other', mechanism: 'plain', tls: null };
    const changed = await update(endpoint_id, { destination: { settings } });
    expect(changed.destination?.settings).toEqual({ ...shown, topic: 'other', mechanism: 'plain' });
    expect((await receiving())[0]?.destination?.settings).toMatchObject({
      topic: 'other',
      password: CREDENTIAL,
    });
    await update(endpoint_id, { destination: { settings: { password: 'another' } } });
    expect((await receiving())[0]?.destination?.settings).toMatchObject({ password: 'another' });
    const removed = update(endpoint_id, { destination: { settings: { password: null } } });
    await refuses(removed, 'MISSING_FIELDS', { fields: ['destination.password'] });
  });

  test('is sent to another server only with its credentials given again', async () => {
    const { endpoint_id } = await withDestination();
    for (const moved of [{ brokers: ['other.example.com:9093'] }, { ca: 'an authority' }]) {
      const work = update(endpoint_id, { destination: { settings: moved } });
      await refuses(work, 'MISSING_FIELDS', { fields: ['destination.password'] });
    }
    expect((await receiving())[0]?.destination?.settings).toMatchObject(KAFKA.settings);
    const settings = { brokers: ['other.example.com:9093'], password: 'for the other' };
    await update(endpoint_id, { destination: { settings } });
    expect((await receiving())[0]?.destination?.settings).toMatchObject(settings);
  });

  test.each<[string, object, string]>([
    ['a URL beside it', { url: URL }, 'destination'],
    ['headers', { headers: { by_name: { 'x-token': 'value' } } }, 'headers'],
    ['the binary mode', { format: 'cloudevents-binary' }, 'format'],
    ['an unknown type', { destination: { type: 'nats', settings: {} } }, 'destination.type'],
    [
      'a credential of the wrong type',
      { destination: { type: 'kafka', settings: { ...KAFKA.settings, password: 7 } } },
      'destination.password',
    ],
  ])('is refused with %s', async (_name, change, field) => {
    const refused = await failureOf(withDestination(change));
    expect([refused.code, refused.details]).toEqual(['INVALID_FIELD', { field }]);
    expect(JSON.stringify([refused.message, refused.details])).not.toContain(CREDENTIAL);
    expect(await list()).toEqual([]);
  });

  test('can become neither a URL nor another type, and has no secret to rotate', async () => {
    const { endpoint_id } = await withDestination();
    const of_kafka = named;
    const { endpoint_id: of_url } = await made();
    const to_sqs = { destination: { type: 'sqs', settings: {} } };
    await refuses(update(endpoint_id, { url: URL }), 'INVALID_FIELD', 'url');
    await refuses(update(of_url, { destination: KAFKA }), 'INVALID_FIELD', 'destination');
    await refuses(update(endpoint_id, to_sqs), 'INVALID_FIELD', 'destination.type');
    const rotation = registry.rotateEndpointSecret({ ...of_kafka, overlap_hours: 1 });
    await refuses(rotation, 'INVALID_FIELD', 'endpoint_id');
    const neither = create({ url: undefined });
    await refuses(neither, 'MISSING_FIELDS', { fields: ['url', 'destination'] });
  });

  test('is named by the event of its end', async () => {
    await withDestination();
    await registry.disableEndpoint({ ...named, unless_changed_since: world.deps.now() });
    expect(JSON.parse(String(world.deps.published[0]?.data))).toMatchObject({
      url: null,
      destination: { type: 'kafka', address: 'kafka://kafka.example.com:9093/events' },
    });
  });
});
