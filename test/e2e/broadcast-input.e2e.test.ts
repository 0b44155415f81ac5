// Bad broadcasts: the gateway or the service refuses them with code and field, and stores nothing.
import { ONE } from '../harness/shared-mesh';
import { sendAllFirst } from '../testkit/send-all-first';
import { aBroadcast, people, scopeOf } from './broadcast-support';
import { openStored, type Stored } from './stored';
import { useMesh, usePartner } from './use-mesh';

const MIB = 1_048_576;
const BODY_LIMIT_BYTES = 16 * MIB;
const BSUID = 'US.4Qm7Zr81Kd02';

const mesh = useMesh();
const partner = usePartner(mesh);
let stored: Stored;

beforeAll(async () => {
  stored = await openStored(mesh, partner.partner_id);
});
afterAll(() => stored.close());

const post = (body: unknown) => partner.call('POST', '/broadcasts', body, scopeOf(ONE));

/** Document counts in the collections of the broadcasts service. */
const broadcastsStored = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(await stored.count()).filter(([name]) => name.startsWith('broadcasts.')),
  );

const later = (): string => new Date(Date.now() + 3_600_000).toISOString();

type Refusal = [what: string, body: () => unknown, status: number, code: string, error: object];

const REFUSALS: Refusal[] = [
  [
    'an unknown template',
    () => aBroadcast(people(1), { template_name: 'no_such_template' }),
    502,
    'UPSTREAM_ERROR',
    { upstream_code: 132_001, retryable: false },
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
    'INVALID_FIELD',
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
