// Payments end to end: paid registrations, payment links, and the webhooks of the processor.
import { createRpcClient, type RpcClient } from '@bmg/common/rpc';
import { PaymentsDefinition } from '@bmg/proto/billing';
import { addressesOf, runBmg } from '../testkit/bmg';
import { eventually } from '../testkit/eventually';
import { ONE, startMesh, type Mesh, type TestPartner } from '../harness/mesh';
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
import { consoleOf } from './people-support';

let mesh: Mesh;
let payments: PaymentsDouble;
let rpc: RpcClient<PaymentsDefinition>;
const webhook_url = (): string => new URL('/webhooks/payments', mesh.ingress_url).href;

beforeAll(async () => {
  payments = await startPayments(webhook_url, () => new Date());
  mesh = await startMesh({
    PAYMENT_PROCESSOR: 'stripe',
    STRIPE_API_KEY: API_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_BASE: payments.url,
  });
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

test('puts a card on file from the console, which shows it and the invoices', async () => {
  const partner = await mesh.createPartner();
  const web = consoleOf(mesh);
  const { partner_key } = partner;
  const ask = web.browserOf(await web.ask('POST', '/session', { body: { partner_key } }));
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
    expect((await partner.call('GET', '/usage')).body.billing).toMatchObject({ slots: 1 });
    expect(await billing(partner)).toMatchObject({
      state: 'active',
      card: { brand: 'visa', last4: '4242' },
      invoices: [{ slot: 1, amount_cents: 1_000, status: 'paid' }],
    });
  });
});

test('`bmg partner card` prints the link for putting a card on file', async () => {
  const partner = await mesh.createPartner();
  const { out } = await runBmg(['partner', 'card', partner.partner_id], addressesOf(mesh.env));
  const url = out.trim();
  expect(url).toContain(`${payments.url}/setup/cs_`);
  await fetch(url, { method: 'POST', body: 'fine' });
  expect(await billing(partner)).toMatchObject({ card: { last4: '4242' } });
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
    const { billing: bill } = (await partner.call('GET', '/usage')).body;
    expect(bill).toMatchObject({ slots: 0, active_wabas: 0, fee_usd: 0 });
  });

  test('stops sends with the same answer', async () => {
    const { status, body } = await send(partner);
    expect([status, body.error]).toMatchObject([
      402,
      { code: 'PAYMENT_ACTION_REQUIRED', payment_url, retryable: false },
    ]);
  });

  test('activates the account after the payment, in any order of webhooks', async () => {
    await fetch(payment_url, { method: 'POST' });
    // The account stays inactive until the processor's webhook arrives.
    expect((await send(partner)).status).toBe(402);
    const statuses = await payments.postNew((events) => [...events.reverse(), ...events]);
    expect(new Set(statuses)).toEqual(new Set([200]));
    await eventually(async () => (await send(partner)).status === 200);
    expect(paidBy(partner)).toEqual([1_000]);
  });
});

describe('a webhook of the processor', () => {
  const event: Event = { id: 'evt_test', type: 'charge.refunded', created: 0, object: {} };
  const raw = (body: string) =>
    fetch(webhook_url(), {
      method: 'POST',
      body,
      headers: { 'stripe-signature': signature(body, new Date()) },
    });

  test('with a wrong signature gets 401', async () => {
    expect(await payments.post(event, { secret: 'whsec_wrong' })).toBe(401);
  });

  test('gets 503 with Retry-After while onboarding is down', async () => {
    await mesh.stopService('onboarding');
    const body = eventBody({ ...event, id: 'evt_later' });
    const answer = await raw(body);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    await mesh.startService('onboarding');
    await eventually(async () => (await raw(body)).status === 200);
  });
});
