import { Endpoint, type EndpointSettings } from '@bmg/proto/endpoints';
import type { Input } from '../endpoint';
import { webhookEndpoints } from './rows';
import { EVENT_FILTERS } from './schemas';

const row = (verb: string, path: string) => {
  const found = webhookEndpoints.find((one) => one.verb === verb && one.path === path);
  if (!found) throw new Error(`no row ${verb} ${path}`);
  return found;
};
const create = row('POST', '/webhook-endpoints');
const update = row('PATCH', '/webhook-endpoints/:endpoint_id');

const input = (body: object): Input =>
  ({
    partner_id: 'ptn_1',
    params: { endpoint_id: 'whe_1' },
    query: {},
    body,
    base_url: 'https://gateway.example.com/v1',
  }) as unknown as Input;
const settingsOf = (body: object): EndpointSettings =>
  (update.request?.(input(body)) as { settings: EndpointSettings }).settings;

test('filters are the names of events and their first parts', () => {
  expect(EVENT_FILTERS).toEqual(
    expect.arrayContaining(['message.received', 'message.*', 'partner.*', 'webhook.*']),
  );
  expect(EVENT_FILTERS).toContain('group_lifecycle_update');
  expect(EVENT_FILTERS).not.toContain('group_lifecycle_update.*');
  expect(EVENT_FILTERS).not.toContain('*');
  expect(new Set(EVENT_FILTERS).size).toBe(EVENT_FILTERS.length);
});

test('null removes a filter, the headers or the limit; an absent field is unchanged', () => {
  const removed = settingsOf({
    events: null,
    waba_ids: null,
    phone_number_ids: null,
    headers: null,
    max_per_second: null,
  });
  expect(removed).toMatchObject({
    events: { items: [] },
    waba_ids: { items: [] },
    phone_number_ids: { items: [] },
    headers: { by_name: {} },
    max_per_second: 0,
  });
  const kept = Object.entries(settingsOf({ description: '' }));
  expect(kept.filter(([, value]) => value !== undefined)).toEqual([['description', '']]);
});

test('an update of nothing is refused with the fields that there are', () => {
  expect(() => update.request?.(input({}))).toThrow(
    /^one of url, description, events, .*destination/,
  );
});

test('the test event links to the changelog beside the API', () => {
  expect(create.request?.(input({ url: 'https://example.com' }))).toMatchObject({
    partner_id: 'ptn_1',
    changelog: 'https://gateway.example.com/changelog',
    settings: { url: 'https://example.com' },
  });
});

test('an answer shows null for what does not limit the endpoint', () => {
  const endpoint = Endpoint.fromPartial({ endpoint_id: 'whe_1', health: { delivered: 3 } });
  const shown = row('GET', '/webhook-endpoints/:endpoint_id').reply?.(endpoint, input({}));
  expect(shown).toMatchObject({
    endpoint: {
      events: null,
      waba_ids: null,
      phone_number_ids: null,
      max_per_second: null,
      disabled_at: null,
      destination: null,
      health: { delivered: 3, failing_since: null, last_error: null, last_http_status: null },
    },
  });
});

test('a destination has its settings beside its type, in requests and answers', () => {
  const destination = { type: 'kafka', brokers: ['kafka.example.com:9093'], ca: null };
  expect(create.request?.(input({ destination }))).toMatchObject({
    settings: {
      url: undefined,
      destination: { type: 'kafka', settings: { brokers: destination.brokers, ca: null } },
    },
  });
  expect(settingsOf({ destination: { topic: 'other' } })).toMatchObject({
    destination: { type: '', settings: { topic: 'other' } },
  });
  const endpoint = Endpoint.fromPartial({
    endpoint_id: 'whd_1',
    destination: { type: 'kafka', settings: { topic: 'events' } },
  });
  expect(row('GET', '/webhook-endpoints/:endpoint_id').reply?.(endpoint, input({}))).toMatchObject({
    endpoint: { url: null, destination: { type: 'kafka', topic: 'events' } },
  });
  const created = create.reply?.({ endpoint, secret: '' }, input({}));
  expect(created).toMatchObject({ secret: null });
});

test('the audit log has neither addresses nor credentials', () => {
  for (const { audit } of [create, update]) {
    expect(audit?.values).toContain('events');
    expect(audit?.values).not.toEqual(expect.arrayContaining(['destination']));
    expect(audit?.values).not.toEqual(expect.arrayContaining(['url']));
  }
});
