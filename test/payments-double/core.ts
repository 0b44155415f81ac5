// The double's heart: the state and the requests of the payment processor, without a socket. It honours
// idempotency keys as the processor does: the first answer again, a 500 too; another body under a key is
// refused; what failed validation is not kept.
import { operations } from './operations';
import {
  invalid,
  Refusal,
  type Answer,
  type CardBehaviour,
  type CheckoutSession,
  type Customer,
  type Event,
  type Invoice,
  type Payment,
  type PaymentMethod,
  type Request,
} from './types';
import { invoiceObject } from './objects';

/** before: nothing was done. after: the work is done, and only the answer is lost. */
export type Fault = '500_before' | '500_after' | 'lost_before' | 'lost_after';

export class AnswerLost extends Error {}

export interface World {
  now: () => Date;
  base_url: string;
  customers: Map<string, Customer>;
  methods: Map<string, PaymentMethod>;
  invoices: Map<string, Invoice>;
  sessions: Map<string, CheckoutSession>;
  /** By setup intent. */
  setups: Map<string, string>;
  events: Event[];
  payments: Payment[];
  id(prefix: string): string;
  emit(type: string, object: object): void;
}

export interface PaymentsCore extends World {
  /** Throws AnswerLost where a fault loses the answer. */
  handle(request: Request): Answer;
  /** The next request whose `METHOD path` matches meets the fault. */
  failNext(fault: Fault, match?: RegExp): void;
  clearFaults(): void;
  addCard(customer: string, behaviour: CardBehaviour): PaymentMethod;
  /** A person fills in the page of a checkout session. */
  completeCheckout(session_id: string, behaviour: CardBehaviour): void;
  /** A person pays on the hosted page of the invoice: the bank is asked, and says yes. */
  payByPerson(invoice_id: string): void;
  /** Every request that came, `METHOD path`. */
  requests: string[];
}

interface Kept {
  fingerprint: string;
  answer: Answer;
}

export function createPaymentsCore(
  now: () => Date = () => new Date(),
  base_url = 'http://payments.test',
): PaymentsCore {
  const kept = new Map<string, Kept>();
  let faults: Array<{ fault: Fault; match: RegExp }> = [];
  let ids = 0;
  const seconds = (): number => Math.floor(now().getTime() / 1_000);
  const world: World = {
    now,
    base_url,
    customers: new Map(),
    methods: new Map(),
    invoices: new Map(),
    sessions: new Map(),
    setups: new Map(),
    events: [],
    payments: [],
    id: (prefix) => `${prefix}_${String((ids += 1)).padStart(10, '0')}`,
    emit(type, object) {
      const snapshot = JSON.parse(JSON.stringify(object)) as object;
      world.events.push({ id: world.id('evt'), type, created: seconds(), object: snapshot });
    },
  };

  function run({ method, path, params }: Request): Answer {
    for (const operation of operations) {
      const found = operation.method === method ? operation.path.exec(path) : null;
      if (!found) continue;
      const unknown = Object.keys(params).find((name) => !operation.params.includes(name));
      if (unknown) throw invalid(`Received unknown parameter: ${unknown}`, 'parameter_unknown');
      const missing = (operation.required ?? []).find((name) => params[name] === undefined);
      if (missing) throw invalid(`Missing required param: ${missing}.`, 'parameter_missing');
      return { status: 200, body: operation.run(world, params, found[1] ?? '') };
    }
    throw new Refusal(404, { type: 'invalid_request_error', message: `no route ${path}` }, false);
  }

  function answerOf(request: Request): { answer: Answer; keep: boolean } {
    try {
      return { answer: run(request), keep: true };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { answer: { status: error.status, body: { error: error.error } }, keep: error.kept };
    }
  }

  function handle(request: Request): Answer {
    const line = `${request.method} ${request.path}`;
    core.requests.push(line);
    const index = faults.findIndex(({ match }) => match.test(line));
    const fault = index < 0 ? undefined : faults.splice(index, 1)[0]?.fault;
    if (fault === 'lost_before') throw new AnswerLost(line);
    const key = request.method === 'POST' ? request.idempotency_key : undefined;
    const fingerprint = JSON.stringify([request.path, request.params]);
    const before = key === undefined ? undefined : kept.get(key);
    if (before && before.fingerprint !== fingerprint) {
      const message = 'Keys for idempotent requests can only be used with the same parameters.';
      return { status: 400, body: { error: { type: 'idempotency_error', message } } };
    }
    if (before) {
      if (fault === 'lost_after') throw new AnswerLost(line);
      return { ...before.answer, replayed: true };
    }
    const broken: Answer = {
      status: 500,
      body: { error: { type: 'api_error', message: 'An unknown error occurred.' } },
    };
    const done = fault === '500_before' ? { answer: broken, keep: true } : answerOf(request);
    const answer = fault === '500_after' ? broken : done.answer;
    if (key !== undefined && done.keep) kept.set(key, { fingerprint, answer });
    if (fault === 'lost_after') throw new AnswerLost(line);
    return answer;
  }

  const core: PaymentsCore = {
    ...world,
    handle,
    requests: [],
    failNext: (fault, match = /./) => void faults.push({ fault, match }),
    clearFaults: () => void (faults = []),
    addCard(customer, behaviour) {
      const id = world.id('pm');
      const last4 = { fine: '4242', declined: '0341', needs_authentication: '3184' }[behaviour];
      const method: PaymentMethod = { id, customer, behaviour, last4 };
      world.methods.set(id, method);
      return method;
    },
    completeCheckout(session_id, behaviour) {
      const session = world.sessions.get(session_id);
      if (!session || session.done) throw new Error(`no open session ${session_id}`);
      session.done = true;
      world.setups.set(session.setup_intent, core.addCard(session.customer, behaviour).id);
      world.emit('checkout.session.completed', {
        id: session.id,
        object: 'checkout.session',
        mode: 'setup',
        customer: session.customer,
        setup_intent: session.setup_intent,
        status: 'complete',
      });
    },
    payByPerson(invoice_id) {
      const invoice = world.invoices.get(invoice_id);
      if (invoice?.status !== 'open') throw new Error(`${invoice_id} cannot be paid`);
      settle(world, invoice);
    },
  };
  return core;
}

/** The money moves: once, since only an open invoice can be paid. */
export function settle(world: World, invoice: Invoice): void {
  invoice.status = 'paid';
  invoice.paid_at = Math.floor(world.now().getTime() / 1_000);
  if (invoice.intent) Object.assign(invoice.intent, { status: 'succeeded' });
  const { id, customer, total, metadata } = invoice;
  if (total > 0) world.payments.push({ invoice: id, customer, cents: total, metadata });
  world.emit('invoice.paid', invoiceObject(world, invoice));
  world.emit('invoice.payment_succeeded', invoiceObject(world, invoice));
}
