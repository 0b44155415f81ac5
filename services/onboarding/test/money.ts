// The world of the billing tests: the real stores, registration and billing code, the payments
// double without sockets, a fake clock, and crashes at any step.
import type Stripe from 'stripe';
import type { Call } from '@bmg/common/rpc';
import type { Upstream } from '@bmg/common/upstream';
import {
  createPaymentsCore,
  eventBody,
  inProcess,
  signature,
  WEBHOOK_SECRET,
  type Event,
} from '../../../test/payments-double';
import { NEXT_YEAR } from '../../../test/testkit/next-year';
import { customerOf } from '../src/billing/payments/stripe/charge';
import { cover } from '../src/billing/payments/stripe/cover';
import { handlePaymentEvent } from '../src/billing/payments/stripe/webhooks';
import { noPayments } from '../src/billing/payments/choose-processor';
import type { PaymentProcessor } from '../src/billing/payments/processor';
import { createStripeApi } from '../src/billing/payments/stripe/api';
import { createStripePayments, reviewDue } from '../src/billing/payments/stripe/processor';
import { storeClient } from '../src/connect/clients/register';
import type { Dependencies } from '../src/dependencies';
import { monthOf } from '../src/ground/slots';
import {
  BILLING_ACCOUNTS,
  createBillingAccounts,
} from '../src/billing/payments/store/billing-accounts';
import { createClientSyncs } from '../src/connect/sync/store';
import { createNumberDays } from '../src/ground/number-days';
import { CLIENTS, createClients } from '../src/ground/clients';
import { createPartners, PARTNERS } from '../src/ground/partners';
import { createPaymentEvents, PAYMENT_EVENTS } from '../src/billing/payments/store/payment-events';
import { createSlotCharges, SLOT_CHARGES } from '../src/billing/payments/store/slot-charges';
import { createVault } from '@bmg/common/vault';
import { aPartner, KEYRING, openDatabase, silentLog, testCall } from './world';

/** When each test begins. */
export const START = new Date(Date.UTC(NEXT_YEAR, 8, 10, 10));

export class Crash extends Error {}

/** Crashes the process at a chosen step. After that, every step fails until `restart`. */
function createFate() {
  let left = Infinity;
  let dead = false;
  const step = (): void => {
    if (dead) throw new Crash('dead');
    left -= 1;
    if (left > 0) return;
    dead = true;
    throw new Crash('now');
  };
  return {
    step,
    dieIn: (steps: number) => void (left = steps),
    isDead: () => dead,
    restart: () => void ([left, dead] = [Infinity, false]),
    /** Makes every call of the object two steps: one before its work and one after. */
    on<T extends object>(target: T): T {
      return new Proxy(target, {
        get(object, name) {
          const value: unknown = Reflect.get(object, name);
          if (typeof value !== 'function') return value;
          return async (...given: unknown[]): Promise<unknown> => {
            step();
            const result: unknown = await value.apply(object, given);
            step();
            return result;
          };
        },
      });
    },
  };
}

/** An upstream that accepts everything. */
const upstream: Upstream = {
  name: 'upstream',
  start: async () => undefined,
  stop: async () => undefined,
  request: async ({ operation, path }) => {
    const id = path.split('/')[1] ?? '';
    if (operation.endsWith('/phone_numbers')) return { data: [{ id: `phone-${id}` }] };
    return { id, display_phone_number: '15550100001', verified_name: 'A shop' };
  },
};

export type MoneyWorld = Awaited<ReturnType<typeof openMoneyWorld>>;

export async function openMoneyWorld() {
  const mongo = await openDatabase();
  let time = START.getTime();
  const now = (): Date => new Date(time);
  const fate = createFate();
  let core = createPaymentsCore(now);
  const settings = {
    api_key: 'sk_test_double',
    webhook_secret: WEBHOOK_SECRET,
    api_base: 'http://payments.test',
    public_url: 'https://gateway.test',
  };
  const plain = {
    accounts: createBillingAccounts(mongo.db),
    charges: createSlotCharges(mongo.db),
    paymentEvents: createPaymentEvents(mongo.db),
    partners: createPartners(mongo.db),
    clients: createClients(mongo.db),
    clientSyncs: createClientSyncs(mongo.db),
    numberDays: createNumberDays(mongo.db),
  };
  const stores = Object.fromEntries(
    Object.entries(plain).map(([name, store]) => [name, fate.on<object>(store)]),
  ) as typeof plain;
  const build = () => ({
    ...stores,
    versions: { bump: async () => undefined, current: async () => undefined },
    api: createStripeApi(settings, now, {
      httpClient: inProcess(core, fate.step) as unknown as Stripe.HttpClient,
      maxNetworkRetries: 0,
    }),
    now,
    log: silentLog(),
  });
  let deps = build();
  const requestReview = async (partner_id: string): Promise<void> =>
    void (await stores.accounts.bringForward(partner_id, now()));
  const payments: PaymentProcessor = {
    ...noPayments,
    name: 'stripe',
    cover: (purchase, call: Call) => cover(deps, purchase, call),
    review: requestReview,
  };
  const vault = createVault(KEYRING);
  const registering = {
    vault,
    upstream,
    payments,
    openRegistrations: { open: async () => undefined, close: async () => undefined },
    clientTokens: { recheckOthers: async () => undefined },
    onTokensDue: () => undefined,
    onEventsDue: () => undefined,
  };
  return {
    fate,
    /** The stores without crashes, for setup and assertions. */
    plain,
    now,
    core: () => core,
    passTime: (ms: number) => void (time += ms),
    setTime: (at: Date) => void (time = at.getTime()),
    /** Empties the processor and the database. */
    async reset() {
      core = createPaymentsCore(now);
      deps = build();
      fate.restart();
      for (const name of [BILLING_ACCOUNTS, SLOT_CHARGES, PAYMENT_EVENTS, PARTNERS, CLIENTS]) {
        await mongo.db.collection(name).deleteMany({});
      }
    },
    async partner(): Promise<string> {
      const partner = aPartner({ created_at: now(), updated_at: now() });
      await plain.partners.insert(partner);
      return partner._id;
    },
    register: (partner_id: string, waba_id: string) =>
      storeClient(
        { ...deps, ...registering } as unknown as Dependencies,
        { partner_id, waba_id, phone_number_id: `phone-${waba_id}` },
        { access_token: 'token' },
        testCall(),
      ),
    async remove(partner_id: string, waba_id: string): Promise<void> {
      await plain.clients.remove({ partner_id, waba_id }, now());
      await plain.partners.releaseWaba(partner_id, waba_id, monthOf(now()));
      await plain.accounts.bringForward(partner_id, now());
    },
    reviewDue: () => reviewDue(deps),
    async review(partner_id: string): Promise<void> {
      await plain.accounts.bringForward(partner_id, now());
      await reviewDue(deps);
    },
    clients: async (partner_id: string) =>
      (await plain.clients.list(partner_id, 'active', { limit: 50, offset: 0 })).clients,
    openInvoices: () =>
      [...core.invoices.values()].filter(({ status }) => status === 'open').map(({ id }) => id),
    pageOf: (invoice_id: string) => `${core.base_url}/pay/${invoice_id}`,
    /** The processor as the service wires it, with its poller and RPCs. */
    processor: (): PaymentProcessor =>
      createStripePayments(
        settings,
        { ...deps, ...plain },
        { httpClient: inProcess(core) as unknown as Stripe.HttpClient, maxNetworkRetries: 0 },
      ),
    async post(event: Event): Promise<void> {
      const body = eventBody(event);
      await handlePaymentEvent(
        { ...deps, requestReview },
        { body: Buffer.from(body), signature: signature(body, now()) },
      );
    },
    /** A person puts a card on file on the processor's page. */
    async putCard(partner_id: string, behaviour: 'fine' | 'declined' | 'needs_authentication') {
      const account = await plain.accounts.ensure(partner_id, now(), now());
      const customer = await customerOf({ ...deps, ...plain }, account);
      await deps.api.cardPage(customer, 'https://gateway.test/dashboard');
      const session = [...core.sessions.keys()].at(-1) as string;
      core.completeCheckout(session, behaviour);
    },
    close: () => mongo.drop(),
  };
}
