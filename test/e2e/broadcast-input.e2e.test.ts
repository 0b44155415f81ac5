// The largest broadcasts: one just below the limit of a body, and one above it.
import { ONE } from '../harness/shared-mesh';
import { sendAllFirst } from '../testkit/send-all-first';
import { aBroadcast, people, scopeOf } from './broadcast-support';
import { useMesh, usePartner } from './use-mesh';

const MIB = 1_048_576;
const BODY_LIMIT_BYTES = 16 * MIB;

const mesh = useMesh();
const partner = usePartner(mesh);

const post = (body: unknown) => partner.call('POST', '/broadcasts', body, scopeOf(ONE));

const later = (): string => new Date(Date.now() + 3_600_000).toISOString();

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
