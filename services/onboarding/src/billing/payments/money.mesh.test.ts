// Single billing cases: concurrent registrations, partners from before the processor, voided
// invoices.
import type { Handlers } from '@bmg/common/rpc';
import type { PaymentsDefinition } from '@bmg/proto/billing';
import { eventually } from '../../../../../test/testkit/eventually';
import { openMoneyWorld, START, type MoneyWorld } from '../../../test/money';
import type { CardBehaviour } from '../../../../../test/payments-double';
import { calling, failureOf, refuses } from '../../../test/world';
import { monthOf } from '../../ground/slots';
import { nextMonth } from './stripe/review';

const HOUR_MS = 3_600_000;

let world: MoneyWorld;
beforeAll(async () => {
  world = await openMoneyWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.reset();
  world.setTime(START);
});

/** Makes the account active without a payment. */
const place = (partner_id: string, waba_id: string): Promise<boolean> =>
  world.plain.partners.activateWaba({ partner_id, waba_id, month: monthOf(world.now()) }, Infinity);
const paid = (): number[] => world.core().payments.map(({ cents }) => cents);
const rpc = () => calling(world.processor().rpcs[0]?.handlers as Handlers<PaymentsDefinition>);
const toNextMonth = (): void => world.setTime(new Date(nextMonth(world.now()).getTime() + HOUR_MS));

/** Puts a card on file and delivers all webhooks so far, some for the second time. */
async function putCard(partner_id: string, card: CardBehaviour): Promise<void> {
  await world.putCard(partner_id, card);
  for (const event of world.core().events) await world.post(event);
}

const openPages = (): string[] => world.openInvoices().map(world.pageOf);

/** The accounts that may not send, each with the page of its invoice. */
async function waiting(partner_id: string): Promise<Array<[string, string | null]>> {
  return (await world.clients(partner_id))
    .filter(({ billing }) => billing !== 'active')
    .map(({ waba_id, payment_url }) => [waba_id, payment_url]);
}

/** A partner with this many paid accounts. */
async function partnerWith(accounts: number): Promise<string> {
  const partner_id = await world.partner();
  await world.putCard(partner_id, 'fine');
  for (let waba = 1; waba <= accounts; waba += 1) await world.register(partner_id, `w${waba}`);
  return partner_id;
}

test('shares slots between accounts registered at the same time', async () => {
  const partner_id = await partnerWith(0);
  const wabas = ['w1', 'w2', 'w3', 'w4', 'w5'];
  await Promise.all(wabas.map((waba) => world.register(partner_id, waba)));
  expect(paid()).toEqual([1_000, 1_000]);
  const partner = await world.plain.partners.find(partner_id);
  expect([...(partner?.wabas ?? [])].sort()).toEqual(wabas);
  expect(partner?.waiting_wabas ?? []).toEqual([]);
  expect(partner?.months?.[monthOf(START)]).toEqual({ peak: 5, last: 5 });
});

test('gives an account registered while others wait an invoice of its own', async () => {
  const partner_id = await partnerWith(3);
  await putCard(partner_id, 'needs_authentication');
  toNextMonth();
  await world.review(partner_id);
  const refused = await failureOf(world.register(partner_id, 'w4'));
  expect(refused.code).toBe('PAYMENT_ACTION_REQUIRED');
  expect(refused.payment_url).toBe(openPages().at(-1));
  expect(openPages()).toHaveLength(2);
  // The second invoice is paid first: the accounts that have waited longest resume.
  world.core().payByPerson(world.openInvoices().at(-1) as string);
  await world.review(partner_id);
  expect(await waiting(partner_id)).toEqual([['w4', openPages().at(-1)]]);
  await putCard(partner_id, 'fine');
  await world.review(partner_id);
  expect(await waiting(partner_id)).toEqual([]);
  expect(paid()).toEqual([1_000, 1_000, 1_000]);
});

test('makes accounts registered at the same time wait for all the slots they need', async () => {
  const partner_id = await partnerWith(0);
  await putCard(partner_id, 'needs_authentication');
  const wabas = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7'];
  await Promise.all(wabas.map((waba) => failureOf(world.register(partner_id, waba))));
  await world.review(partner_id);
  expect((await waiting(partner_id)).map(([waba]) => waba).sort()).toEqual(wabas);
  expect(openPages()).toHaveLength(3);
  await putCard(partner_id, 'fine');
  await world.review(partner_id);
  expect(await waiting(partner_id)).toEqual([]);
  expect(paid()).toEqual([1_000, 1_000, 1_000]);
});

test('charges once with several workers at the turn of the month', async () => {
  const partners = [await partnerWith(4), await partnerWith(1)];
  expect(paid()).toHaveLength(3);
  toNextMonth();
  for (const partner_id of partners)
    await world.plain.accounts.bringForward(partner_id, world.now());
  await Promise.all([world.reviewDue(), world.reviewDue(), world.reviewDue()]);
  expect(paid()).toHaveLength(6);
});

test('bills partners from before the processor from the next month on', async () => {
  const partner_id = await world.partner();
  for (const waba of ['w1', 'w2']) await place(partner_id, waba);
  const [worker] = world.processor().workers;
  await worker?.start(new AbortController().signal);
  try {
    const account = await eventually(() => world.plain.accounts.find(partner_id));
    expect(account.due_at).toEqual(nextMonth(START));
  } finally {
    await worker?.stop();
  }
  expect(paid()).toEqual([]);
  await world.putCard(partner_id, 'fine');
  toNextMonth();
  await world.reviewDue();
  expect(paid()).toEqual([1_000]);
});

test('charges an account that support restores beyond the paid slots', async () => {
  const partner_id = await partnerWith(3);
  await place(partner_id, 'w4');
  await world.review(partner_id);
  expect(paid()).toEqual([1_000, 1_000]);
});

test('charges nothing while the partner is not active', async () => {
  const partner_id = await partnerWith(1);
  await world.plain.partners.change(partner_id, { status: 'suspended' }, world.now());
  toNextMonth();
  await world.review(partner_id);
  expect(paid()).toEqual([1_000]);
  await world.plain.partners.change(partner_id, { status: 'active' }, world.now());
  await world.review(partner_id);
  expect(paid()).toEqual([1_000, 1_000]);
});

test('voids the invoice of a refused registration that is not repeated', async () => {
  const partner_id = await partnerWith(3);
  await putCard(partner_id, 'declined');
  const reason = 'insufficient_funds';
  await refuses(world.register(partner_id, 'w4'), 'PAYMENT_FAILED', { reason });
  const statuses = (): string[] => [...world.core().invoices.values()].map(({ status }) => status);
  await world.review(partner_id);
  expect(statuses()).toEqual(['paid', 'open']);
  world.passTime(2 * HOUR_MS);
  await world.review(partner_id);
  expect(statuses()).toEqual(['paid', 'void']);
  const { invoices } = await rpc().getBilling({ partner_id });
  expect(invoices.map(({ slot, status }) => [slot, status])).toEqual([
    [2, 'void'],
    [1, 'paid'],
  ]);
});

test('keeps accounts active while the processor is unavailable, and charges once it is back', async () => {
  const partner_id = await partnerWith(1);
  toNextMonth();
  for (let times = 0; times < 3; times += 1) world.core().failNext('lost_before');
  await world.review(partner_id);
  expect((await world.plain.partners.find(partner_id))?.waiting_wabas ?? []).toEqual([]);
  expect(paid()).toEqual([1_000]);
  world.core().clearFaults();
  world.passTime(2 * 60_000);
  await world.reviewDue();
  expect(paid()).toEqual([1_000, 1_000]);
});

test('returns from the page for a card only to this service', async () => {
  const partner_id = await partnerWith(0);
  const ask = (return_url: string) => rpc().createCardSession({ partner_id, return_url });
  await ask('https://gateway.test/dashboard/billing');
  expect([...world.core().sessions.values()].at(-1)?.success_url).toBe(
    'https://gateway.test/dashboard/billing',
  );
  for (const elsewhere of ['https://evil.test/', 'javascript:alert(1)', 'dashboard']) {
    await refuses(ask(elsewhere), 'INVALID_FIELD');
  }
});
