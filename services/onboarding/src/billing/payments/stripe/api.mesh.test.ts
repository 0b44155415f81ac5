// Runs the Stripe client against Stripe's own mock, which checks every request against the
// published API description. The mock is a Go program, so this test needs a Go toolchain.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Stripe from 'stripe';
import { accepts, freePort } from '../../../../../../deploy/local/src/ports';
import { eventually } from '../../../../../../test/testkit/eventually';
import { createStripeApi, type StripeApi } from './api';

const VERSION = 'v0.203.0';
const BUILD_LIMIT_MS = 300_000;
const hasGo = spawnSync('go', ['version']).status === 0;
if (!hasGo) {
  process.stdout.write('skipped: no Go toolchain, so that stripe-mock cannot be built\n');
}

let mock: ChildProcess | undefined;
let api: StripeApi;

/** Builds the mock once per machine. */
function build(): string {
  const folder = join(tmpdir(), `stripe-mock-${VERSION}`);
  const binary = join(folder, 'stripe-mock');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  const built = spawnSync('go', ['install', `github.com/stripe/stripe-mock@${VERSION}`], {
    env: { ...process.env, GOBIN: folder, GOFLAGS: '-modcacherw' },
    timeout: BUILD_LIMIT_MS,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`stripe-mock was not built: ${built.stderr}`);
  return binary;
}

/** The mock describes the API before 2026-10-28, when this parameter was renamed. */
function speakingTheOlderVersion(): Stripe.HttpClient {
  const client = Stripe.createNodeHttpClient();
  const send = client.makeRequest.bind(client);
  client.makeRequest = (host, port, path, method, headers, data, ...rest) => {
    const older = data.replace('allowed_payment_method_types', 'payment_method_types');
    const length = { 'Content-Length': Buffer.byteLength(older) };
    return send(
      host,
      port,
      path,
      method,
      data === older ? headers : { ...headers, ...length },
      older,
      ...rest,
    );
  };
  return client;
}

beforeAll(async () => {
  if (!hasGo) return;
  const port = await freePort();
  mock = spawn(build(), ['-http-addr', `127.0.0.1:${port}`], { stdio: 'ignore' });
  await eventually(() => accepts(port));
  api = createStripeApi(
    {
      api_key: 'sk_test_123',
      webhook_secret: 'whsec_test',
      api_base: `http://127.0.0.1:${port}`,
      public_url: 'https://gateway.test',
    },
    () => new Date(),
    { maxNetworkRetries: 0, httpClient: speakingTheOlderVersion() },
  );
}, BUILD_LIMIT_MS + 60_000);
afterAll(() => {
  mock?.kill();
});

const REQUESTS: Array<[string, () => Promise<unknown>]> = [
  ['createCustomer', () => api.createCustomer({ partner_id: 'ptn_1', name: 'A partner' }, 'key-1')],
  ['cardOf', () => api.cardOf('cus_1')],
  ['adoptCard', () => api.adoptCard('cus_1', 'seti_1')],
  ['cardPage', () => api.cardPage('cus_1', 'https://gateway.test/dashboard')],
  [
    'createInvoice',
    () => api.createInvoice({ charge_id: 'c', customer_id: 'cus_1', description: 'Slot' }, 'key-2'),
  ],
  ['findInvoice', () => api.findInvoice('cus_1', 'c')],
  [
    'addLine',
    () =>
      api.addLine(
        { customer_id: 'cus_1', invoice_id: 'in_1', cents: 1_000, description: 'Slot' },
        'key-3',
      ),
  ],
  ['finalize', () => api.finalize('in_1', 'key-4')],
  ['read', () => api.read('in_1')],
  [
    'drop',
    async () => {
      const reading = await api.read('in_1');
      await api.drop('in_1', { ...reading, status: 'draft' });
      await api.drop('in_1', { ...reading, status: 'open' });
    },
  ],
];

(hasGo ? test : test.skip).each(REQUESTS)(
  '%s sends a request that Stripe accepts',
  async (_name, ask) => {
    await ask();
  },
);

(hasGo ? test : test.skip)(
  'pay sends a request that Stripe accepts, without a refusal',
  async () => {
    expect(await api.pay({ invoice_id: 'in_1', payment_method: 'pm_1' }, 'key-5')).toBeNull();
  },
);
