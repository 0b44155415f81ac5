import { ApiError } from '@bmg/common/errors';
import {
  CreateBroadcastRequest,
  type Broadcast,
  type GetBroadcastResponse,
} from '@bmg/proto/broadcasts';
import { inputOf, replyOf, requestOf, rowOf, taken } from '../../../../test/contract/rows';
import type { Fields } from '../endpoint';

const CREATE = 'POST /broadcasts';
const READ = 'GET /broadcasts/:broadcast_id';
const SETTING = 'PUT /broadcast-approval';

const aBody = (overrides: Fields): Fields => ({
  name: 'Autumn',
  template_name: 'order_update',
  template_language: 'en_US',
  contacts: ['15550100777'],
  ...overrides,
});
const request = async (overrides: Fields): Promise<CreateBroadcastRequest> => {
  const input = inputOf({ body: taken(CREATE, aBody(overrides)) });
  return CreateBroadcastRequest.fromPartial((await rowOf(CREATE).request?.(input)) as object);
};
const refused = async (overrides: Fields): Promise<ApiError> => {
  try {
    await request(overrides);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

test('accepts a contact as a string or an object, in which a phone number wins', async () => {
  const { contacts } = await request({
    contacts: [
      '+1 555 010 0777',
      'US.4Qm7Zr81Kd02',
      { recipient: '15550100778', params: { '1': 'Ada' } },
      { to: '15550100779' },
      { user_id: 'US.4Qm7Zr81Kd02', recipient: '15550100780' },
      { recipient: 'whatsapp:US.4Qm7Zr81Kd03', to: null, user_id: '' },
    ],
  });
  expect(contacts.map(({ recipient }) => recipient)).toEqual([
    '15550100777',
    'US.4Qm7Zr81Kd02',
    '15550100778',
    '15550100779',
    '15550100780',
    'US.4Qm7Zr81Kd03',
  ]);
  expect(contacts[2]?.params).toEqual({ '1': 'Ada' });
});

test('passes on a contact without a recipient, to be counted as skipped', async () => {
  const { contacts } = await request({
    contacts: ['', ' ', {}, { params: { '1': 'x' } }, { to: '' }],
  });
  expect(contacts.map(({ recipient }) => recipient)).toEqual(Array(5).fill(undefined));
});

test('maps an array of params to numbered variables', async () => {
  const { contacts } = await request({
    contacts: [{ to: '15550100777', params: ['Ada', 12, true] }],
  });
  expect(contacts[0]?.params).toEqual({ '1': 'Ada', '2': 12, '3': true });
});

test.each([
  [['15550100777', 17], 'contacts[1]'],
  [['15550100777', null], 'contacts[1]'],
  [[['15550100777']], 'contacts[0]'],
  [['0049 30 123456'], 'contacts[0]'],
  [[{ recipient: 'abc' }], 'contacts[0].recipient'],
  [['15550100777', { to: 15550100777 }], 'contacts[1].to'],
  [[{ to: '15550100777', user_id: '15550100778' }], 'contacts[0].user_id'],
  [[{ to: '15550100777', params: 'Ada' }], 'contacts[0].params'],
])('rejects contacts %j, naming %s', async (contacts, field) => {
  expect(await refused({ contacts })).toMatchObject({ code: 'INVALID_FIELD', details: { field } });
});

test('names the first of many invalid contacts', async () => {
  const { details } = await refused({ contacts: Array.from({ length: 500 }, () => 'abc') });
  expect((details as { also: string[] }).also).toHaveLength(20);
});

test('answers TOO_MANY_CONTACTS for more than 10,000 contacts, whatever else is wrong with them', async () => {
  const many = (count: number): unknown[] => Array.from({ length: count }, () => 1);
  expect(await refused({ contacts: many(10_001) })).toMatchObject({
    code: 'TOO_MANY_CONTACTS',
    http: 403,
  });
  expect((await refused({ contacts: many(10_000) })).code).toBe('INVALID_FIELD');
});

test('rejects a body of invalid items without collecting a fault for each', async () => {
  const started = performance.now();
  expect((await refused({ contacts: new Array(2_000_000).fill(1) })).code).toBe(
    'TOO_MANY_CONTACTS',
  );
  expect(await refused({ template_components: new Array(2_000_000).fill(1) })).toMatchObject({
    details: { field: 'template_components' },
  });
  expect(performance.now() - started).toBeLessThan(2_000);
});

test.each([
  ['2030-01-02T03:04:05Z', '2030-01-02T03:04:05.000Z'],
  ['2030-01-02T03:04+02:00', '2030-01-02T01:04:00.000Z'],
  ['2030-01-02t03:04:05.250-0130', '2030-01-02T04:34:05.250Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
])('reads scheduled_at %s as %s', async (scheduled_at, at) => {
  expect((await request({ scheduled_at })).scheduled_at).toEqual(new Date(at));
});

test.each([undefined, null])('starts at once if scheduled_at is %s', async (scheduled_at) => {
  expect((await request({ scheduled_at })).scheduled_at).toBeUndefined();
});

test.each([
  'tomorrow',
  '',
  '2030-01-02',
  '2030-01-02T03:04:05',
  '2030-02-30T00:00:00Z',
  '2030-13-01T00:00:00Z',
  '2030-01-02T25:00:00Z',
  1_900_000_000,
])('rejects scheduled_at %j', async (scheduled_at) => {
  expect(await refused({ scheduled_at })).toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'scheduled_at' },
  });
});

test('lists all missing fields', async () => {
  expect(await refused({ name: ' ', template_name: null, contacts: [] })).toMatchObject({
    code: 'MISSING_FIELDS',
    details: { fields: ['name', 'template_name', 'contacts'] },
  });
});

test('passes components on and rejects those that are not objects', async () => {
  const template_components = [
    {
      type: 'header',
      parameters: [{ type: 'image', image: { link: 'https://example.org/h.jpg' } }],
    },
  ];
  expect((await request({ template_components })).template_components).toEqual(template_components);
  expect((await request({ template_components: null })).template_components).toEqual([]);
  expect(await refused({ template_components: [{}, 'x'] })).toMatchObject({
    details: { field: 'template_components[1]' },
  });
});

test('answers NOT_FOUND for a malformed id', () => {
  const changes = ['cancel', 'pause', 'resume', 'approve'].map(
    (change) => `POST /broadcasts/:broadcast_id/${change}`,
  );
  for (const broadcast_id of ['0', '-1', 'abc', '1.5', '9'.repeat(20)]) {
    for (const name of [READ, ...changes]) {
      expect(() => requestOf(name, { params: { broadcast_id } })).toThrow(
        expect.objectContaining({ code: 'NOT_FOUND' }),
      );
    }
  }
  expect(requestOf(READ, { params: { broadcast_id: '42' }, waba_id: '800' })).toEqual({
    partner_id: 'ptn_1',
    waba_id: '800',
    broadcast_id: 42,
    forecast: false,
  });
});

const BROADCAST: Broadcast = {
  id: 42,
  waba_id: '800',
  phone_number_id: '700',
  name: 'Autumn',
  template_name: 'order_update',
  template_language: 'en_US',
  total: 2,
  sent: 1,
  delivered: 0,
  failed: 1,
  status: 'processing',
  created_at: new Date(0),
  skipped: 3,
  duplicates: 4,
  failures: [{ code: '131026', count: 1, example_recipient: '1555••••777' }],
};
const { skipped: _skipped, duplicates: _duplicates, failures: _failures, ...listed } = BROADCAST;
const LISTED = {
  ...listed,
  scheduled_at: null,
  started_at: null,
  completed_at: null,
  paused_at: null,
  pause_ends_at: null,
};

test('answers the contract’s fields in the detail view, null if absent', () => {
  const answer: GetBroadcastResponse = { broadcast: BROADCAST, progress: 100 };
  expect(replyOf(READ, answer)).toEqual({
    broadcast: {
      ...LISTED,
      error_log: null,
      skipped: 3,
      duplicates: 4,
      rate_per_sec: null,
      estimated_completion_at: null,
      failures: [{ code: '131026', count: 1, example_recipient: '1555••••777' }],
    },
    progress: 100,
  });
});

test('answers the approval only of a broadcast that needs one', () => {
  const approval = { state: 'waiting', created_by: 'per_1', ends_at: new Date(0) };
  const of = (broadcast: Broadcast) =>
    replyOf(READ, { broadcast, progress: 0 })['broadcast'] as Fields;
  expect(of(BROADCAST)).not.toHaveProperty('approval');
  expect(of({ ...BROADCAST, approval })['approval']).toEqual({
    ...approval,
    approved_by: null,
    approved_at: null,
  });
});

test('the setting takes null, and needs its field', () => {
  const made = (body: object) =>
    requestOf(SETTING, { body: taken(SETTING, body), person_id: 'per_1' });
  const of = { partner_id: 'ptn_1', caller_person_id: 'per_1' };
  expect(made({ above: 1_000 })).toEqual({ ...of, above: 1_000 });
  expect(made({ above: null })).toEqual({ ...of, above: undefined });
  expect(() => made({})).toThrow(expect.objectContaining({ code: 'MISSING_FIELDS' }));
  for (const above of [0, -1, 1.5, '5', 10_001, true, [5]]) {
    expect(() => made({ above })).toThrow(
      expect.objectContaining({ code: 'INVALID_FIELD', details: { field: 'above' } }),
    );
  }
});

test('answers limit and offset with the list', () => {
  const query = { limit: 100, offset: 0 };
  expect(replyOf('GET /broadcasts', { broadcasts: [BROADCAST], total: 1 }, { query })).toEqual({
    broadcasts: [LISTED],
    total: 1,
    ...query,
  });
});
