// The table of the processor's endpoints: the parameters that each accepts, and its effect.
import { customerObject, invoiceObject, listOf, methodObject } from './objects';
import { invalid, Refusal, type Customer, type Invoice, type Params, type World } from './types';

interface Operation {
  params: string[];
  required?: string[];
  run(world: World, params: Params, id: string): object;
}

const text = (value: string | Params | undefined): string | null =>
  typeof value === 'string' ? value : null;
const strings = (value: string | Params | undefined): Record<string, string> =>
  typeof value === 'object' ? (value as Record<string, string>) : {};
const expands = (params: Params, wanted: string): boolean =>
  Object.values(strings(params['expand'])).includes(wanted);
const missing = (what: string, id: string): Refusal =>
  new Refusal(
    404,
    {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: `No such ${what}: '${id}'`,
    },
    false,
  );

/** The newest first. */
const pageOf = <T>(all: T[], params: Params, show: (one: T) => object): object =>
  listOf(
    all
      .reverse()
      .slice(0, Number(text(params['limit']) ?? 10))
      .map(show),
  );

function customerOf(world: World, id: string | null): Customer {
  const found = world.customers.get(id ?? '');
  if (!found) throw missing('customer', id ?? '');
  return found;
}

function invoiceOf(world: World, id: string | null): Invoice {
  const found = world.invoices.get(id ?? '');
  if (!found) throw missing('invoice', id ?? '');
  return found;
}

/**
 * Records the payment and emits its events. Callers pass an open invoice, so it is paid only once.
 */
export function markPaid(world: World, invoice: Invoice): void {
  invoice.status = 'paid';
  invoice.paid_at = Math.floor(world.now().getTime() / 1_000);
  if (invoice.intent) Object.assign(invoice.intent, { status: 'succeeded' });
  const { id, customer, total, metadata } = invoice;
  if (total > 0) world.payments.push({ invoice: id, customer, cents: total, metadata });
  world.emit('invoice.paid', invoiceObject(world, invoice));
  world.emit('invoice.payment_succeeded', invoiceObject(world, invoice));
}

function pay(world: World, params: Params, id: string): object {
  const invoice = invoiceOf(world, id);
  if (invoice.status === 'paid') throw invalid('Invoice is already paid', undefined, true);
  if (invoice.status !== 'open' || !invoice.intent) {
    throw invalid(`This invoice is ${invoice.status} and cannot be paid`, undefined, true);
  }
  const method = world.methods.get(text(params['payment_method']) ?? '');
  if (method?.customer !== invoice.customer) {
    throw missing('PaymentMethod', text(params['payment_method']) ?? '');
  }
  if (method.behaviour === 'fine') {
    markPaid(world, invoice);
    return invoiceObject(world, invoice);
  }
  const asks = method.behaviour === 'needs_authentication';
  Object.assign(
    invoice.intent,
    asks
      ? { status: 'requires_action', last_payment_error: null }
      : {
          status: 'requires_payment_method',
          last_payment_error: { code: 'card_declined', decline_code: 'insufficient_funds' },
        },
  );
  world.emit('invoice.payment_failed', invoiceObject(world, invoice));
  if (asks) world.emit('invoice.payment_action_required', invoiceObject(world, invoice));
  throw new Refusal(402, {
    type: 'card_error',
    message: asks ? 'This payment requires additional user action.' : 'Your card was declined.',
    ...(asks
      ? { code: 'invoice_payment_intent_requires_action' }
      : { code: 'card_declined', decline_code: 'insufficient_funds' }),
  });
}

/** The operations by method and path; `:id` stands for an ID. */
export const operations: Record<string, Operation> = {
  'POST /v1/customers': {
    params: ['name', 'metadata'],
    run(world, params) {
      const id = world.id('cus');
      const customer: Customer = {
        id,
        name: text(params['name']),
        metadata: strings(params['metadata']),
        default_payment_method: null,
      };
      world.customers.set(id, customer);
      return customerObject(world, customer);
    },
  },
  'GET /v1/customers/:id': {
    params: ['expand'],
    run: (world, params, id) =>
      customerObject(
        world,
        customerOf(world, id),
        expands(params, 'invoice_settings.default_payment_method'),
      ),
  },
  'POST /v1/customers/:id': {
    params: ['invoice_settings'],
    run(world, params, id) {
      const customer = customerOf(world, id);
      const chosen = strings(params['invoice_settings'])['default_payment_method'] ?? null;
      if (chosen !== null && world.methods.get(chosen)?.customer !== id) {
        throw missing('PaymentMethod', chosen);
      }
      customer.default_payment_method = chosen;
      return customerObject(world, customer);
    },
  },
  'GET /v1/customers/:id/payment_methods': {
    params: ['type', 'limit'],
    run(world, params, id) {
      customerOf(world, id);
      const mine = [...world.methods.values()].filter(({ customer }) => customer === id);
      return pageOf(mine, params, methodObject);
    },
  },
  'POST /v1/checkout/sessions': {
    params: [
      'mode',
      'customer',
      'currency',
      'allowed_payment_method_types',
      'success_url',
      'cancel_url',
    ],
    required: ['mode', 'success_url'],
    run(world, params) {
      const { id: customer } = customerOf(world, text(params['customer']));
      const id = world.id('cs');
      const setup_intent = world.id('seti');
      const success_url = text(params['success_url']) as string;
      world.sessions.set(id, { id, customer, setup_intent, success_url, done: false });
      return {
        id,
        object: 'checkout.session',
        mode: 'setup',
        url: `${world.base_url}/setup/${id}`,
      };
    },
  },
  'GET /v1/setup_intents/:id': {
    params: [],
    run(world, _params, id) {
      const payment_method = world.setups.get(id);
      if (payment_method === undefined) throw missing('setupintent', id);
      return { id, object: 'setup_intent', status: 'succeeded', payment_method };
    },
  },
  'POST /v1/invoices': {
    params: [
      'customer',
      'collection_method',
      'auto_advance',
      'currency',
      'pending_invoice_items_behavior',
      'payment_settings',
      'description',
      'metadata',
    ],
    required: ['customer'],
    run(world, params) {
      const { id: customer } = customerOf(world, text(params['customer']));
      const invoice: Invoice = {
        id: world.id('in'),
        customer,
        status: 'draft',
        total: 0,
        description: text(params['description']),
        metadata: strings(params['metadata']),
        created: Math.floor(world.now().getTime() / 1_000),
        paid_at: null,
        intent: null,
      };
      world.invoices.set(invoice.id, invoice);
      return invoiceObject(world, invoice);
    },
  },
  'GET /v1/invoices': {
    params: ['customer', 'limit'],
    run(world, params) {
      const mine = [...world.invoices.values()].filter(
        ({ customer }) => customer === text(params['customer']),
      );
      return pageOf(mine, params, (invoice) => invoiceObject(world, invoice));
    },
  },
  'GET /v1/invoices/:id': {
    params: ['expand'],
    run: (world, params, id) =>
      invoiceObject(
        world,
        invoiceOf(world, id),
        expands(params, 'payments.data.payment.payment_intent'),
      ),
  },
  'DELETE /v1/invoices/:id': {
    params: [],
    run(world, _params, id) {
      if (invoiceOf(world, id).status !== 'draft') {
        throw invalid('You can only delete draft invoices.');
      }
      world.invoices.delete(id);
      return { id, object: 'invoice', deleted: true };
    },
  },
  'POST /v1/invoiceitems': {
    params: ['customer', 'invoice', 'amount', 'currency', 'description'],
    required: ['customer'],
    run(world, params) {
      const invoice = invoiceOf(world, text(params['invoice']));
      if (invoice.status !== 'draft') {
        throw invalid('This invoice is no longer editable', 'invoice_not_editable', true);
      }
      invoice.total += Number(text(params['amount']));
      return { id: world.id('ii'), object: 'invoiceitem', invoice: invoice.id };
    },
  },
  'POST /v1/invoices/:id/finalize': {
    params: ['auto_advance'],
    run(world, _params, id) {
      const invoice = invoiceOf(world, id);
      if (invoice.status !== 'draft') {
        throw invalid('This invoice is already finalized', undefined, true);
      }
      invoice.status = 'open';
      invoice.intent = {
        id: world.id('pi'),
        status: 'requires_payment_method',
        last_payment_error: null,
      };
      world.emit('invoice.finalized', invoiceObject(world, invoice));
      // An invoice of zero is paid at once.
      if (invoice.total === 0) markPaid(world, invoice);
      return invoiceObject(world, invoice);
    },
  },
  'POST /v1/invoices/:id/pay': { params: ['payment_method'], run: pay },
  'POST /v1/invoices/:id/void': {
    params: [],
    run(world, _params, id) {
      const invoice = invoiceOf(world, id);
      if (invoice.status !== 'open') throw invalid(`You can only void open invoices`);
      invoice.status = 'void';
      world.emit('invoice.voided', invoiceObject(world, invoice));
      return invoiceObject(world, invoice);
    },
  },
};
