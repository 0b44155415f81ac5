// The payment processor's state and requests, without a socket. Idempotency keys work as the
// processor's do: a repeated request gets the first answer, even a 500; another body under the same
// key is refused; the answer to a request that failed validation is not stored.
import { markPaid, operations } from './operations';
import {
  invalid,
  Refusal,
  type Answer,
  type CardBehaviour,
  type PaymentMethod,
  type Request,
  type World,
} from './types';

/** before: the request is not processed. after: it is processed, but the answer is lost. */
export type Fault = '500_before' | '500_after' | 'lost_before' | 'lost_after';

export class AnswerLost extends Error {}

export interface PaymentsCore extends World {
  /** Throws AnswerLost when a fault loses the answer. */
  handle(request: Request): Answer;
  /** Applies the fault to the next request whose `METHOD path` matches. */
  failNext(fault: Fault, match?: RegExp): void;
  clearFaults(): void;
  addCard(customer: string, behaviour: CardBehaviour): PaymentMethod;
  /** Acts as a person who fills in the page of a checkout session. */
  completeCheckout(session_id: string, behaviour: CardBehaviour): void;
  /** Acts as a person who pays on the invoice's hosted page, with the bank's approval. */
  payByPerson(invoice_id: string): void;
  /** Every request received, as `METHOD path`. */
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
      markPaid(world, invoice);
    },
  };
  return core;
}
