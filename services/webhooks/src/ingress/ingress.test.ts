// Requests that the ingress refuses before it reads their body.
import { request } from 'node:http';
import { REFUSAL_DELAY_MS } from '@bmg/common/overload';
import { createLogger } from '@bmg/common/telemetry';
import { sendAllFirst } from '../../../../test/testkit/send-all-first';
import { createIngress, REFUSALS_AT_ONCE, type Ingress } from './ingress';

const log = createLogger('test');
const MIB = 1024 * 1024;
const SIGNATURE = `sha256=${'0'.repeat(64)}`;
/** A network of whose payment webhooks too many failed. */
const FAILING = '203.0.113.7';
let ingress: Ingress;
let is_with_processor = true;
/** The statuses that the outage watch got. */
const answered: number[] = [];

beforeAll(async () => {
  const none = () => Promise.reject(new Error('nothing may get here'));
  ingress = createIngress(
    {
      INGRESS_HOST: '127.0.0.1',
      INGRESS_PORT: 0,
      PROXY_HOPS: 1,
      UPSTREAM_APP_SECRET: 'secret',
      UPSTREAM_VERIFY_TOKEN: 'token',
    },
    {
      bus: { publish: none } as never,
      payments: {
        exist: () => is_with_processor,
        mayPost: (network) => network !== FAILING,
        forward: none,
      },
      outages: { answered: (status) => void answered.push(status) },
      canary: none,
      log,
    },
  );
  await ingress.start(new AbortController().signal);
});
afterAll(() => ingress.stop());

/** Announces a body of 3 MiB, and sends none of it. */
const announce = (path: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const posting = request(
      {
        port: ingress.port(),
        path,
        method: 'POST',
        headers: { 'content-length': String(3 * MIB), ...headers },
      },
      (response) => {
        resolve(response.statusCode ?? 0);
        posting.destroy();
      },
    );
    posting.on('error', reject);
    posting.flushHeaders();
  });

test.each<[string, string, Record<string, string>]>([
  ['a webhook without a signature', '/webhooks/upstream', {}],
  ['a malformed signature', '/webhooks/upstream', { 'x-hub-signature-256': 'sha256=zz' }],
  ['a signature of another kind', '/webhooks/upstream', { 'x-hub-signature': SIGNATURE }],
  ['a payment event without a signature', '/webhooks/payments', {}],
  ['a payment event with any header', '/webhooks/payments', { 'stripe-signature': 'x' }],
  [
    'a payment event with an old signature',
    '/webhooks/payments',
    { 'stripe-signature': `t=1,v1=${'0'.repeat(64)}` },
  ],
  ['an event of the canary without a signature', '/webhooks/canary', {}],
])('refuses %s with 401 and does not wait for its body', async (_name, path, headers) => {
  expect(await announce(path, headers)).toBe(401);
});

test('a webhook without a signature, which the upstream never sends, is no sign of an outage', async () => {
  answered.length = 0;
  expect(await announce('/webhooks/upstream', {})).toBe(401);
  const response = await fetch(`http://127.0.0.1:${ingress.port()}/webhooks/upstream`, {
    method: 'POST',
    headers: { 'x-hub-signature-256': SIGNATURE },
    body: '{}',
  });
  expect([response.status, answered]).toEqual([401, [401]]);
});

const signedPayment = (): Record<string, string> => ({
  'stripe-signature': `t=${Math.floor(Date.now() / 1_000)},v1=${'0'.repeat(64)}`,
});

test('refuses a payment event that is larger than any of the processor', async () => {
  expect(await announce('/webhooks/payments', signedPayment())).toBe(413);
});

test('refuses a payment event of a network with too many failures before its body arrives', async () => {
  const of = (address: string) => ({
    ...signedPayment(),
    'x-forwarded-for': `192.0.2.1, ${address}`,
  });
  expect([
    await announce('/webhooks/payments', of(FAILING)),
    await announce('/webhooks/payments', of('203.0.113.8')),
  ]).toEqual([429, 413]);
});

test('without a payment processor the address of its events does not exist', async () => {
  is_with_processor = false;
  expect(await announce('/webhooks/payments', signedPayment())).toBe(404);
  is_with_processor = true;
});

test('answers a sender that reads nothing before its whole body is sent', async () => {
  const url = `http://127.0.0.1:${ingress.port()}`;
  const body = Buffer.alloc(20 * MIB, 0x20);
  expect([
    await sendAllFirst(url, '/webhooks/upstream', {}, body),
    await sendAllFirst(url, '/webhooks/upstream', { 'x-hub-signature-256': SIGNATURE }, body),
  ]).toEqual(['HTTP/1.1 401 Unauthorized', 'HTTP/1.1 413 Payload Too Large']);
});

test('delays its answers to unsigned webhooks once it has refused many', async () => {
  const refuse = async (): Promise<number> => {
    const started = performance.now();
    expect(await announce('/webhooks/upstream', {})).toBe(401);
    return performance.now() - started;
  };
  const count = REFUSALS_AT_ONCE.burst + 30;
  const waits = await Promise.all(Array.from({ length: count }, refuse));
  // Timers are up to a millisecond early.
  expect(Math.max(...waits)).toBeGreaterThanOrEqual(REFUSAL_DELAY_MS - 1);
});
