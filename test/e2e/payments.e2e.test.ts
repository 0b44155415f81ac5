// Payments end to end: paid registrations, monthly invoices that fail, payment links, and the
// webhooks of the payment processor.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { createRpcClient, type RpcClient } from '@bmg/common/rpc';
import { PaymentsDefinition } from '@bmg/proto/billing';
import { eventually } from '../testkit/eventually';
import { ONE, startMesh, TWO_A, TWO_B, type Mesh, type TestPartner } from '../harness/mesh';
import {
  API_KEY,
  eventBody,
  signature,
  startPayments,
  WEBHOOK_SECRET,
  type CardBehaviour,
  type Event,
  type PaymentsDouble,
} from '../payments-double';
import { faultsOf } from './console-answers';

let mesh: Mesh;
let payments: PaymentsDouble;
let rpc: RpcClient<PaymentsDefinition>;
let passed_ms = 0;
const now = (): Date => new Date(Date.now() + passed_ms);
const webhook_url = (): string => new URL('/webhooks/payments', mesh.ingress_url).href;

beforeAll(async () => {
  payments = await startPayments(webhook_url, now);
  mesh = await startMesh(
    {
      PAYMENT_PROCESSOR: 'stripe',
      STRIPE_API_KEY: API_KEY,
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      STRIPE_API_BASE: payments.url,
    },
    { now },
  );
  rpc = createRpcClient(PaymentsDefinition, mesh.env['ONBOARDING_ADDR'] as string);
});
afterAll(async () => {
  await rpc?.stop();
  await mesh?.stop();
  await payments?.close();
});
afterEach(() => payments.core.clearFaults());

/** Follows the card link and enters a card, as a person would. */
async function putCard(partner: TestPartner, card: CardBehaviour): Promise<void> {
  const { partner_id } = partner;
  const { url } = await rpc.rpc.createCardSession(
    { partner_id, return_url: undefined },
    mesh.call(),
  );
  await fetch(url, { method: 'POST', body: card });
  expect(new Set(await payments.postNew())).toEqual(new Set([200]));
}
const billing = ({ partner_id }: TestPartner) => rpc.rpc.getBilling({ partner_id }, mesh.call());
const send = (partner: TestPartner, waba_id = ONE.waba_id) =>
  partner.call(
    'POST',
    '/messages/send',
    { to: '15550100777', text: 'Hello' },
    { 'x-waba-id': waba_id },
  );
const clientsOf = async (partner: TestPartner): Promise<unknown[]> =>
  (await partner.call('GET', '/clients')).body.clients as unknown[];
const paidBy = ({ partner_id }: TestPartner): number[] =>
  payments.core.payments
    .filter(({ metadata }) => metadata['charge_id']?.startsWith(`${partner_id}/`))
    .map(({ cents }) => cents);
const eventsOf = (partner: TestPartner, type: string): Event[] =>
  payments.core.events.filter((event) => event.type === type && mine(partner, event));
const mine = ({ partner_id }: TestPartner, { object }: Event): boolean =>
  (object as { metadata?: Record<string, string> }).metadata?.['charge_id']?.startsWith(
    `${partner_id}/`,
  ) === true;

test('puts a card on file from the console, which shows it and the invoices', async () => {
  const partner = await mesh.createPartner();
  const { origin } = new URL(mesh.base_url);
  const opened = await fetch(`${origin}/dashboard/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ partner_key: partner.partner_key }),
  });
  const { csrf_token } = (await opened.json()) as { csrf_token: string };
  const cookie = (opened.headers.get('set-cookie') as string).split(';')[0] as string;
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${origin}/dashboard/api${path}`, {
      method,
      headers: { cookie, origin, 'x-csrf-token': csrf_token, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const received = (await answer.json()) as any; // any: arbitrary response body
    if (answer.ok) expect(faultsOf(method, path, received)).toEqual([]);
    return { status: answer.status, body: received };
  };
  const elsewhere = await ask('POST', '/card', { return_url: 'https://elsewhere.example/' });
  expect([elsewhere.status, elsewhere.body.error.details]).toEqual([400, { field: 'return_url' }]);
  const page = await eventually(async () => {
    const answer = await ask('POST', '/card', {});
    return answer.status !== 429 && answer;
  });
  expect(page.status).toBe(201);
  await fetch(page.body.url, { method: 'POST', body: 'fine' });
  expect(new Set(await payments.postNew())).toEqual(new Set([200]));
  expect((await partner.register()).status).toBe(201);
  const { billing: shown } = (await ask('GET', '/billing')).body;
  expect(shown).toMatchObject({
    processor: 'stripe',
    state: 'active',
    card: { last4: expect.stringMatching(/^\d{4}$/) },
    invoices: [{ status: 'paid', amount_cents: 1_000 }],
  });
  await partner.call('DELETE', `/clients/${ONE.waba_id}`);
});

describe('the first business account', () => {
  test('needs a card on file: 402 CARD_REQUIRED, and nothing is stored', async () => {
    const partner = await mesh.createPartner();
    const { status, body } = await partner.register();
    expect([status, body.error.code, body.error.retryable]).toEqual([402, 'CARD_REQUIRED', false]);
    expect(await clientsOf(partner)).toEqual([]);
    expect(await billing(partner)).toMatchObject({
      card: undefined,
      card_known: true,
      invoices: [],
    });
  });

  test('is not connected when the card is declined, and is connected with a valid card', async () => {
    const partner = await mesh.createPartner();
    await putCard(partner, 'declined');
    const refused = await partner.register();
    expect([refused.status, refused.body.error]).toMatchObject([
      402,
      { code: 'PAYMENT_FAILED', details: { reason: 'insufficient_funds' } },
    ]);
    expect(await clientsOf(partner)).toEqual([]);
    await putCard(partner, 'fine');
    expect((await partner.register()).status).toBe(201);
    expect(paidBy(partner)).toEqual([1_000]);
    expect((await send(partner)).status).toBe(200);
    expect((await partner.call('GET', '/usage')).body.billing).toEqual({
      slots: 1,
      peak_active_wabas: 1,
      active_wabas: 1,
      fee_usd: 10,
    });
    expect(await billing(partner)).toMatchObject({
      processor: 'stripe',
      state: 'active',
      card: { brand: 'visa', last4: '4242' },
      invoices: [{ slot: 1, amount_cents: 1_000, status: 'paid' }],
    });
  });

  test('covers a second account, its second number and a repeated registration without a new payment', async () => {
    const partner = await mesh.createPartner();
    await putCard(partner, 'fine');
    for (const number of [ONE, TWO_A, TWO_B]) {
      expect((await partner.register(number)).status).toBe(201);
    }
    await partner.call('DELETE', `/clients/${ONE.waba_id}`);
    expect((await partner.register(ONE)).status).toBe(200);
    expect(paidBy(partner)).toEqual([1_000]);
  });

  test.each(['500_after', 'lost_after', 'lost_before'] as const)(
    'is paid once when the processor’s answer to the payment is %s',
    async (fault) => {
      const partner = await mesh.createPartner();
      await putCard(partner, 'fine');
      payments.core.failNext(fault, /POST .*\/pay$/);
      const answer = await partner.register();
      // The library retries a lost connection; otherwise the partner retries.
      if (answer.status !== 201) expect(answer.body.error.retryable).toBe(true);
      await eventually(async () => [200, 201].includes((await partner.register()).status));
      expect(paidBy(partner)).toEqual([1_000]);
    },
  );
});

/** The operator's command line against this mesh. */
const bmg = (...args: string[]): Promise<{ stdout: string }> => {
  const bin = resolve(__dirname, '../../deploy/cli/bin/bmg.js');
  const env = { ...process.env, ONBOARDING_ADDR: mesh.env['ONBOARDING_ADDR'] };
  return promisify(execFile)(process.execPath, [bin, ...args], { env });
};

test('`bmg partner card` prints the link for putting a card on file', async () => {
  const partner = await mesh.createPartner();
  const { stdout } = await bmg('partner', 'card', partner.partner_id);
  expect(stdout.trim()).toContain(`${payments.url}/setup/cs_`);
  await fetch(stdout.trim(), { method: 'POST', body: 'fine' });
  expect(await billing(partner)).toMatchObject({ card: { last4: '4242' } });
  const answer = await bmg('--json', 'partner', 'card', partner.partner_id);
  expect(Object.keys(JSON.parse(answer.stdout) as object)).toEqual(['url']);
});

describe('a bank that asks for authentication', () => {
  let partner: TestPartner;
  let payment_url: string;

  test('answers 402 PAYMENT_ACTION_REQUIRED with payment_url and stores the account as inactive', async () => {
    partner = await mesh.createPartner();
    await putCard(partner, 'needs_authentication');
    const { status, body } = await partner.register();
    expect([status, body.error.code]).toEqual([402, 'PAYMENT_ACTION_REQUIRED']);
    payment_url = body.error.payment_url as string;
    expect(payment_url).toContain(`${payments.url}/pay/in_`);
    expect(await clientsOf(partner)).toMatchObject([{ waba_id: ONE.waba_id, status: 'active' }]);
    expect((await partner.call('GET', '/usage')).body.billing).toMatchObject({
      slots: 0,
      active_wabas: 0,
      fee_usd: 0,
    });
    const { stdout } = await bmg('--json', 'partner', 'show', partner.partner_id);
    expect(JSON.parse(stdout)).toMatchObject({ active_wabas: 0 });
  });

  test('stops sends with the same answer', async () => {
    const { status, body } = await send(partner);
    expect([status, body.error]).toMatchObject([
      402,
      { code: 'PAYMENT_ACTION_REQUIRED', payment_url, retryable: false },
    ]);
  });

  test('gets no second request from a repeated registration', async () => {
    const { status, body } = await partner.register();
    expect([status, body.error.payment_url]).toEqual([402, payment_url]);
    expect(eventsOf(partner, 'invoice.payment_action_required')).toHaveLength(1);
    expect(await billing(partner)).toMatchObject({
      state: 'payment_action_required',
      waiting_waba_ids: [ONE.waba_id],
    });
  });

  test('activates the account after the payment, in any order of webhooks', async () => {
    await fetch(payment_url, { method: 'POST' });
    // The account stays inactive until the processor's webhook arrives.
    expect((await send(partner)).status).toBe(402);
    const statuses = await payments.postNew((events) => [...events.reverse(), ...events]);
    expect(new Set(statuses)).toEqual(new Set([200]));
    await eventually(async () => (await send(partner)).status === 200);
    expect(paidBy(partner)).toEqual([1_000]);
    expect((await partner.call('GET', '/usage')).body.billing).toMatchObject({
      slots: 1,
      fee_usd: 10,
    });
  });

  test('keeps the account active when a late or repeated failure webhook arrives', async () => {
    const [late] = eventsOf(partner, 'invoice.payment_failed') as [Event];
    expect(await payments.post(late)).toBe(200);
    expect(await payments.post({ ...late, id: 'evt_another' })).toBe(200);
    expect(await billing(partner)).toMatchObject({ state: 'active', waiting_waba_ids: [] });
    expect((await send(partner)).status).toBe(200);
  });
});

describe('a webhook of the processor', () => {
  const event: Event = { id: 'evt_test', type: 'charge.refunded', created: 0, object: {} };
  const raw = (body: string, header: string | undefined, method = 'POST') =>
    fetch(webhook_url(), {
      method,
      ...(method === 'POST' && { body }),
      headers: header === undefined ? {} : { 'stripe-signature': header },
    });

  test('with a wrong signature gets 401 and changes nothing', async () => {
    const partner = await mesh.createPartner();
    await putCard(partner, 'needs_authentication');
    await partner.register();
    const [invoice] = [...payments.core.invoices.values()].slice(-1);
    const forged: Event = {
      id: 'evt_forged',
      type: 'invoice.paid',
      created: 0,
      object: { ...invoice, object: 'invoice', status: 'paid', status_transitions: { paid_at: 1 } },
    };
    const body = eventBody(forged);
    expect(await payments.post(forged, { secret: 'whsec_wrong' })).toBe(401);
    expect((await raw(body, undefined)).status).toBe(401);
    expect((await raw(body, 'v1=nonsense')).status).toBe(401);
    expect((await raw(`${body} `, signature(body, now()))).status).toBe(401);
    // A replayed webhook with an old timestamp.
    const old = new Date(now().getTime() - 600_000);
    expect((await raw(body, signature(body, old))).status).toBe(401);
    expect(await billing(partner)).toMatchObject({
      state: 'payment_action_required',
      waiting_waba_ids: [ONE.waba_id],
    });
    expect((await send(partner)).status).toBe(402);
  });

  test('that is signed but malformed gets 400', async () => {
    const body = '{"id":';
    expect((await raw(body, signature(body, now()))).status).toBe(400);
  });

  test('of an irrelevant type gets 200', async () => {
    expect(await payments.post(event)).toBe(200);
  });

  test('that is too large gets 413, and a GET gets 405', async () => {
    const body = JSON.stringify({ ...event, filling: 'x'.repeat(1024 * 1024) });
    expect((await raw(body, signature(body, now()))).status).toBe(413);
    expect((await raw('', undefined, 'GET')).status).toBe(405);
  });

  test('gets 503 with Retry-After while onboarding is down', async () => {
    await mesh.stopService('onboarding');
    const body = eventBody({ ...event, id: 'evt_later' });
    const answer = await raw(body, signature(body, now()));
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    await mesh.startService('onboarding');
    await eventually(async () => (await raw(body, signature(body, now()))).status === 200);
  });
});

describe('a new month', () => {
  test('is paid automatically; if the payment fails, sends stop until the invoice is paid', async () => {
    const [good, bad] = [await mesh.createPartner(), await mesh.createPartner()];
    for (const partner of [good, bad]) {
      await putCard(partner, 'fine');
      expect((await partner.register()).status).toBe(201);
    }
    await putCard(bad, 'declined');
    const at = now();
    const turn = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1, 1);
    passed_ms += turn - at.getTime();
    await eventually(() => paidBy(good).length === 2);
    await eventually(async () => (await send(bad)).status === 402);
    const { body } = await send(bad);
    expect(body.error).toMatchObject({ code: 'PAYMENT_FAILED', retryable: false });
    expect((await send(good)).status).toBe(200);
    expect(await billing(bad)).toMatchObject({ state: 'billing_failed' });
    const payment_url = (await billing(bad)).invoices.find(
      ({ status }) => status === 'declined',
    )?.payment_url;
    await fetch(payment_url as string, { method: 'POST' });
    await payments.postNew();
    await eventually(async () => (await send(bad)).status === 200);
    expect([paidBy(good), paidBy(bad)]).toEqual([
      [1_000, 1_000],
      [1_000, 1_000],
    ]);
  });
});

test('answers 404 to processor webhooks when no processor is configured', async () => {
  await mesh.stopService('onboarding');
  mesh.env['PAYMENT_PROCESSOR'] = 'none';
  await mesh.startService('onboarding');
  const event: Event = { id: 'evt_none', type: 'invoice.paid', created: 0, object: {} };
  await eventually(async () => (await payments.post(event)) === 404);
});
