// Bad broadcasts: the gateway or the service refuses them with code and field, and stores nothing.
import { joinMesh, ONE, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { sendAllFirst } from '../testkit/send-all-first';
import { aBroadcast, people, scopeOf } from './broadcast-support';
import { newAccount } from './endpoint-stage';
import { openStored, type Stored } from './stored';

const MIB = 1_048_576;
const BODY_LIMIT_BYTES = 16 * MIB;
const BSUID = 'US.4Qm7Zr81Kd02';

let mesh: Mesh;
let partner: TestPartner;
let stored: Stored;

beforeAll(async () => {
  mesh = await joinMesh();
  partner = await mesh.createPartner();
  await partner.register(ONE);
  stored = await openStored(mesh, partner.partner_id);
});
afterAll(async () => {
  await stored.close();
  await mesh.stop();
});

const post = (body: unknown) => partner.call('POST', '/broadcasts', body, scopeOf(ONE));

/** Document counts in the collections of the broadcasts service. */
const broadcastsStored = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(await stored.count()).filter(([name]) => name.startsWith('broadcasts.')),
  );

const later = (): string => new Date(Date.now() + 3_600_000).toISOString();

type Refusal = [what: string, body: () => unknown, status: number, code: string, error: object];

const INVALID = 'INVALID_FIELD';
const REFUSALS: Refusal[] = [
  [
    'no contacts',
    () => aBroadcast([]),
    400,
    'MISSING_FIELDS',
    { details: { fields: ['contacts'] } },
  ],
  [
    '10001 contacts',
    () => aBroadcast(people(10_001)),
    403,
    'TOO_MANY_CONTACTS',
    { details: { field: 'contacts', limit: 10_000 } },
  ],
  [
    'contacts of wrong types',
    () => aBroadcast(['15550100777', 7, null, [], '15550100778', true]),
    400,
    INVALID,
    { details: { field: 'contacts[1]', also: ['contacts[2]', 'contacts[3]', 'contacts[5]'] } },
  ],
  [
    'malformed phone numbers',
    () => aBroadcast(['15550100777', 'Ada', { recipient: '0049 30 123456' }]),
    400,
    INVALID,
    { details: { field: 'contacts[1]', also: ['contacts[2].recipient'] } },
  ],
  [
    'a time in the past',
    () => aBroadcast(people(1), { scheduled_at: '2020-01-01T00:00:00Z' }),
    400,
    INVALID,
    { details: { field: 'scheduled_at' } },
  ],
  [
    'a malformed time',
    () => aBroadcast(people(1), { scheduled_at: 'next Monday' }),
    400,
    INVALID,
    { details: { field: 'scheduled_at' } },
  ],
  [
    'an unknown template',
    () => aBroadcast(people(1), { template_name: 'no_such_template' }),
    502,
    'UPSTREAM_ERROR',
    { upstream_code: 132_001, retryable: false },
  ],
  [
    'a template pending approval',
    () => aBroadcast(people(1), { template_name: 'review_pending' }),
    502,
    'UPSTREAM_ERROR',
    { upstream_code: 132_001 },
  ],
  [
    'a paused template',
    () => aBroadcast(people(1), { template_name: 'sale_paused' }),
    502,
    'UPSTREAM_ERROR',
    { upstream_code: 132_015 },
  ],
  [
    'a language the template does not have',
    () => aBroadcast(people(1), { template_language: 'ms' }),
    502,
    'UPSTREAM_ERROR',
    { upstream_code: 132_001 },
  ],
  [
    'params that do not fit the template',
    () =>
      aBroadcast(
        [
          { recipient: '15550100777', params: ['Ada', 'A-17'] },
          { recipient: '15550100778', params: ['Bo'] },
        ],
        { template_name: 'order_update' },
      ),
    400,
    INVALID,
    { details: { field: 'contacts[1].params', variables: ['1', '2'] } },
  ],
  [
    'an authentication template for a BSUID',
    () => aBroadcast([{ recipient: BSUID, params: ['123456'] }], { template_name: 'login_code' }),
    400,
    'AUTH_TEMPLATE_NEEDS_PHONE',
    { upstream_code: 131_062, retryable: false },
  ],
  [
    'a body above 16 MiB',
    () => aBroadcast(people(1), { note: 'x'.repeat(BODY_LIMIT_BYTES) }),
    400,
    'INVALID_PAYLOAD',
    {},
  ],
  ['a body that is not JSON', () => '{"name":', 400, 'INVALID_PAYLOAD', {}],
];

test.each(REFUSALS)('refuses %s and stores nothing', async (_what, body, status, code, error) => {
  const before = await broadcastsStored();
  const answer = await post(body());
  expect([answer.status, answer.body.error]).toEqual([
    status,
    expect.objectContaining({ code, ...error }),
  ]);
  expect(await broadcastsStored()).toEqual(before);
});

test('answers a body above the limit to a client that reads nothing before all of it is sent', async () => {
  const headers = { 'x-partner-key': partner.partner_key, 'Content-Type': 'application/json' };
  const body = Buffer.alloc(2 * BODY_LIMIT_BYTES, 0x20);
  expect(await sendAllFirst(mesh.base_url, '/v1/broadcasts', headers, body)).toBe(
    'HTTP/1.1 400 Bad Request',
  );
});

test('accepts ten thousand contacts in a body just under 16 MiB', async () => {
  const contacts = people(10_000).map((recipient) => ({
    recipient,
    params: ['Ada', 'x'.repeat(1_540)],
  }));
  const body = JSON.stringify(
    aBroadcast(contacts, { template_name: 'order_update', scheduled_at: later() }),
  );
  expect(body.length).toBeGreaterThan(15 * MIB);
  expect(body.length).toBeLessThan(BODY_LIMIT_BYTES);
  const { status, body: answer } = await post(body);
  expect([status, answer]).toMatchObject([201, { status: 'scheduled', total: 10_000 }]);
});

test('skips contacts without an address, removes duplicates and reports both counts', async () => {
  const contacts = [
    '15550100777',
    '+1 555 010 0777',
    {},
    { params: {} },
    '',
    BSUID,
    { recipient: BSUID },
  ];
  const { body } = await post(aBroadcast(contacts, { scheduled_at: later() }));
  expect(body).toMatchObject({ total: 2, skipped: 3, duplicates: 2, warnings: [] });
  const blank = await post(aBroadcast([{}, '', { recipient: ' ' }], { scheduled_at: later() }));
  expect([blank.status, blank.body.error.code, blank.body.error.details.fields]).toEqual([
    400,
    'MISSING_FIELDS',
    ['contacts'],
  ]);
});

test('warns at creation when a broadcast exceeds the daily messaging limit of the number', async () => {
  const number = await newAccount(mesh, { messaging_limit_tier: 'TIER_250' });
  await partner.register(number);
  const create = async (count: number) =>
    (
      await partner.call(
        'POST',
        '/broadcasts',
        aBroadcast(people(count), { scheduled_at: later() }),
        scopeOf(number),
      )
    ).body;
  expect(await create(250)).toMatchObject({ total: 250, warnings: [] });
  expect(await create(251)).toMatchObject({
    total: 251,
    warnings: [{ code: 'MESSAGING_LIMIT', message: expect.stringContaining('250 people') }],
  });
});
