import { Endpoint, type EndpointSettings } from '@bmg/proto/endpoints';
import { replyOf, requestOf, rowOf } from '../../../../test/contract/rows';
import { EVENT_FILTERS } from './schemas';

const READ = 'GET /webhook-endpoints/:endpoint_id';
const CREATE = 'POST /webhook-endpoints';
const UPDATE = 'PATCH /webhook-endpoints/:endpoint_id';

const settingsOf = (body: object) =>
  requestOf(UPDATE, { params: { endpoint_id: 'whe_1' }, body })['settings'] as EndpointSettings;

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
  expect(() => settingsOf({})).toThrow(/^one of url, description, events, .*destination/);
});

test('the test event links to the changelog beside the API', () => {
  expect(requestOf(CREATE, { body: { url: 'https://example.com' } })).toMatchObject({
    partner_id: 'ptn_1',
    changelog: 'https://gateway.example.com/changelog',
    settings: { url: 'https://example.com' },
  });
});

test('an answer shows null for what does not limit the endpoint', () => {
  const endpoint = Endpoint.fromPartial({ endpoint_id: 'whe_1', health: { delivered: 3 } });
  expect(replyOf(READ, endpoint)).toMatchObject({
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
  expect(requestOf(CREATE, { body: { destination } })).toMatchObject({
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
  expect(replyOf(READ, endpoint)).toMatchObject({
    endpoint: { url: null, destination: { type: 'kafka', topic: 'events' } },
  });
  expect(replyOf(CREATE, { endpoint, secret: '' })).toMatchObject({ secret: null });
});

test('the audit log has neither addresses nor credentials', () => {
  for (const { audit } of [CREATE, UPDATE].map(rowOf)) {
    expect(audit?.values).toContain('events');
    expect(audit?.values).not.toEqual(expect.arrayContaining(['destination']));
    expect(audit?.values).not.toEqual(expect.arrayContaining(['url']));
  }
});
