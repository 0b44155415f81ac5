// The only file that sends requests to Stripe. It decides nothing: a refused card is a result, and
// every other failure is a ProcessorAway, which callers retry.
import Stripe from 'stripe';
import { ApiError } from '@bmg/common/errors';
import { endSpan, SpanKind, startSpan } from '@bmg/common/telemetry';
import { GONE, readInvoice, type Reading } from './reading';

export interface StripeSettings {
  api_key: string;
  webhook_secret: string;
  api_base: string;
  /** The gateway's address, to which people return from Stripe's pages. */
  public_url: string;
}

/** For tests: another transport, and no waits between retries. */
export interface StripeOptions {
  httpClient?: Stripe.HttpClient;
  maxNetworkRetries?: number;
}

export interface Card {
  id: string;
  brand: string;
  last4: string;
  exp_month: number;
  exp_year: number;
}

interface NewInvoice {
  charge_id: string;
  customer_id: string;
  description: string;
}

interface InvoiceLine {
  customer_id: string;
  invoice_id: string;
  cents: number;
  description: string;
}

export type StripeApi = ReturnType<typeof createStripeApi>;

/** A request to Stripe failed and its effect is unknown: try again. */
export class ProcessorAway extends ApiError {
  /** Stripe answered with an error that it repeats while it keeps the request's idempotency key. */
  readonly sticky: boolean;

  constructor(error: unknown) {
    super('SERVICE_UNAVAILABLE', 'the payment processor is not available: try again', {
      retry_after_s: 5,
      retryable: true,
      cause: brief(error),
    });
    const answered = error instanceof Stripe.errors.StripeError && error.statusCode !== undefined;
    this.sticky = answered && (error.statusCode ?? 0) >= 500;
  }
}

const TIMEOUT_MS = 8_000;
const RETRIES = 1;
/** Maximum age of a webhook signature, as Stripe recommends. */
const TOLERANCE_S = 300;
const INVOICES_MAX = 100;
const REFUSALS = [400, 402, 404];

export function createStripeApi(
  settings: StripeSettings,
  now: () => Date,
  options: StripeOptions = {},
) {
  const { protocol, hostname, port } = new URL(settings.api_base);
  const stripe = new Stripe(settings.api_key, {
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    ...(port !== '' && { port }),
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    ...options,
  });
  return {
    ...customerRequests(stripe),
    ...draftRequests(stripe),
    ...paymentRequests(stripe),
    /** Throws UNAUTHORIZED if the signature is wrong, INVALID_PAYLOAD if it is not JSON. */
    verify(body: Buffer, signature: string): Stripe.Event {
      const { webhook_secret } = settings;
      try {
        return stripe.webhooks.constructEvent(
          body,
          signature,
          webhook_secret,
          TOLERANCE_S,
          undefined,
          now().getTime(),
        );
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError) {
          throw new ApiError('UNAUTHORIZED', 'the signature does not match');
        }
        throw new ApiError('INVALID_PAYLOAD', 'the body is not valid JSON');
      }
    },
  };
}

const customerRequests = (stripe: Stripe) => ({
  async createCustomer({ partner_id, name }: { partner_id: string; name: string }, key: string) {
    const params = { name, metadata: { partner_id } };
    const made = await ask('customers.create', () =>
      stripe.customers.create(params, { idempotencyKey: key }),
    );
    return made.id;
  },
  cardOf: (customer_id: string) =>
    ask('customers.retrieve', async () => {
      const customer = await stripe.customers.retrieve(customer_id, {
        expand: ['invoice_settings.default_payment_method'],
      });
      if (customer.deleted) return null;
      const chosen = readCard(customer.invoice_settings.default_payment_method);
      if (chosen) return chosen;
      const { data } = await stripe.customers.listPaymentMethods(customer_id, {
        type: 'card',
        limit: 1,
      });
      return readCard(data[0] ?? null);
    }),
  /** Makes the card of a completed setup the one that is charged. */
  adoptCard: (customer_id: string, setup_intent_id: string) =>
    ask('setup_intents.retrieve', async () => {
      const { payment_method } = await stripe.setupIntents.retrieve(setup_intent_id);
      const id = idOf(payment_method);
      if (id === undefined) return;
      await stripe.customers.update(customer_id, {
        invoice_settings: { default_payment_method: id },
      });
    }),
  async cardPage(customer_id: string, return_url: string) {
    const session = await ask('checkout.sessions.create', () =>
      stripe.checkout.sessions.create({
        mode: 'setup',
        customer: customer_id,
        currency: 'usd',
        allowed_payment_method_types: ['card'],
        success_url: return_url,
        cancel_url: return_url,
      }),
    );
    if (!session.url) throw new ProcessorAway(new Error('the checkout session has no URL'));
    return session.url;
  },
});

/** Makes an invoice: a draft, its line, and the invoice that can be paid. */
const draftRequests = (stripe: Stripe) => ({
  async createInvoice({ charge_id, customer_id, description }: NewInvoice, key: string) {
    const params: Stripe.InvoiceCreateParams = {
      customer: customer_id,
      collection_method: 'charge_automatically',
      // Stripe must not finalise or charge the invoice on its own.
      auto_advance: false,
      currency: 'usd',
      pending_invoice_items_behavior: 'exclude',
      payment_settings: { payment_method_types: ['card'] },
      description,
      metadata: { charge_id },
    };
    const made = await ask('invoices.create', () =>
      stripe.invoices.create(params, { idempotencyKey: key }),
    );
    return made.id;
  },
  /** The invoice of a charge, for one whose ID could not be stored; null if there is none. */
  async findInvoice(customer_id: string, charge_id: string) {
    const { data } = await ask('invoices.list', () =>
      stripe.invoices.list({ customer: customer_id, limit: INVOICES_MAX }),
    );
    const mine = data.filter(
      ({ metadata, status }) => metadata?.['charge_id'] === charge_id && status !== 'void',
    );
    return mine.at(-1)?.id ?? null;
  },
  async addLine({ customer_id, invoice_id, cents, description }: InvoiceLine, key: string) {
    const params = {
      customer: customer_id,
      invoice: invoice_id,
      amount: cents,
      currency: 'usd',
      description,
    };
    await ask('invoice_items.create', () =>
      stripe.invoiceItems.create(params, { idempotencyKey: key }),
    );
  },
  async finalize(invoice_id: string, key: string) {
    await ask('invoices.finalize', () =>
      stripe.invoices.finalizeInvoice(invoice_id, { auto_advance: false }, { idempotencyKey: key }),
    );
  },
});

const paymentRequests = (stripe: Stripe) => ({
  /** Returns Stripe's reason for a refusal, or null if it was not refused. */
  pay: (
    { invoice_id, payment_method }: { invoice_id: string; payment_method: string },
    key: string,
  ) =>
    ask('invoices.pay', async () => {
      try {
        await stripe.invoices.pay(invoice_id, { payment_method }, { idempotencyKey: key });
        return null;
      } catch (error) {
        if (!(error instanceof Stripe.errors.StripeError)) throw error;
        // Any other error, a lock or a rate limit for example, is no evidence about the card.
        if (!REFUSALS.includes(error.statusCode ?? 0)) throw error;
        return error.decline_code ?? error.code ?? 'refused';
      }
    }),
  read: (invoice_id: string) =>
    ask('invoices.retrieve', async () => {
      try {
        const expand = ['payments.data.payment.payment_intent'];
        return readInvoice(await stripe.invoices.retrieve(invoice_id, { expand }));
      } catch (error) {
        if (isMissing(error)) return GONE;
        throw error;
      }
    }),
  /** Voids the invoice, or deletes a draft. Stripe refuses this for a paid invoice. */
  async drop(invoice_id: string, { status }: Reading) {
    await ask('invoices.drop', async () =>
      status === 'draft'
        ? await stripe.invoices.del(invoice_id)
        : await stripe.invoices.voidInvoice(invoice_id),
    );
  },
});

/** Runs a request in a span of its own. Throws ProcessorAway on any error. */
async function ask<T>(name: string, work: () => Promise<T>): Promise<T> {
  const span = startSpan(`stripe ${name}`, { kind: SpanKind.CLIENT });
  try {
    const answer = await work();
    endSpan(span);
    return answer;
  } catch (error) {
    const away = new ProcessorAway(error);
    endSpan(span, away);
    throw away;
  }
}

/** The error without the library's copy of the whole answer, so that it can be logged. */
function brief(error: unknown): Error {
  if (!(error instanceof Stripe.errors.StripeError)) {
    return new Error(error instanceof Error ? error.message : 'unknown');
  }
  const { type, code, statusCode, requestId } = error;
  return new Error(`${type} ${statusCode ?? 'no answer'} ${code ?? ''} ${requestId ?? ''}`.trim());
}

const isMissing = (error: unknown): boolean =>
  error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing';

/** The ID of an object that Stripe may have expanded. */
export const idOf = (given: string | { id: string } | null): string | undefined =>
  typeof given === 'string' ? given : given?.id;

function readCard(method: string | Stripe.PaymentMethod | null): Card | null {
  if (method === null || typeof method === 'string' || !method.card) return null;
  const { brand, last4, exp_month, exp_year } = method.card;
  return { id: method.id, brand, last4, exp_month, exp_year };
}
