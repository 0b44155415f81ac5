// The payment processor's state and requests, without a socket. Idempotency keys work as the
// processor's do: a repeated request gets the first answer, even a 500; another body under the same
// key is refused; the answer to a request that failed validation is not stored.
import { markPaid, operations } from './operations';
import {
  invalid,
  Refusal,
  type Answer,
  type CardBehaviour,
  type Params,
  type PaymentMethod,
  type Request,
  type World,
} from './types';

/** before: the request is not processed. after: it is processed, but the answer is lost. */
export type Fault = '500_before' | '500_after' | 'lost_before' | 'lost_after';

export class AnswerLost extends Error {}

export type PaymentsCore = ReturnType<typeof createPaymentsCore>;

interface Kept {
  fingerprint: string;
  answer: Answer;
}

function createWorld(now: () => Date, base_url: string): World {
  let ids = 0;
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
      const created = Math.floor(now().getTime() / 1_000);
      world.events.push({ id: world.id('evt'), type, created, object: snapshot });
    },
  };
  return world;
}

function run(world: World, { method, path, params }: Request): Answer {
  for (const [route, operation] of Object.entries(operations)) {
    const found = new RegExp(`^${route.replace(':id', '(\\w+)')}$`).exec(`${method} ${path}`);
    if (!found) continue;
    const unknown = Object.keys(params).find((name) => !operation.params.includes(name));
    if (unknown) throw invalid(`Received unknown parameter: ${unknown}`, 'parameter_unknown');
    const missing = (operation.required ?? []).find((name) => params[name] === undefined);
    if (missing) throw invalid(`Missing required param: ${missing}.`, 'parameter_missing');
    return { status: 200, body: operation.run(world, params, found[1] ?? '') };
  }
  throw new Refusal(404, { type: 'invalid_request_error', message: `no route ${path}` }, false);
}

function answerOf(world: World, request: Request): { answer: Answer; keep: boolean } {
  try {
    return { answer: run(world, request), keep: true };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { answer: { status: error.status, body: { error: error.error } }, keep: error.kept };
  }
}

const BROKEN: Answer = {
  status: 500,
  body: { error: { type: 'api_error', message: 'An unknown error occurred.' } },
};

export function createPaymentsCore(now: () => Date, base_url = 'http://payments.test') {
  const kept = new Map<string, Kept>();
  let faults: Array<{ fault: Fault; match: RegExp }> = [];
  const world = createWorld(now, base_url);
  /** Every request received, as `METHOD path`. */
  const requests: string[] = [];

  /** Throws AnswerLost when a fault loses the answer. */
  function handle(request: Request): Answer {
    const line = `${request.method} ${request.path}`;
    requests.push(line);
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
    const done = fault === '500_before' ? { answer: BROKEN, keep: true } : answerOf(world, request);
    const answer = fault === '500_after' ? BROKEN : done.answer;
    if (key !== undefined && done.keep) kept.set(key, { fingerprint, answer });
    if (fault === 'lost_after') throw new AnswerLost(line);
    return answer;
  }

  return {
    ...world,
    ...peopleOf(world),
    handle,
    requests,
    /** Applies the fault to the next request whose `METHOD path` matches. */
    failNext: (fault: Fault, match = /./) => void faults.push({ fault, match }),
    clearFaults: () => void (faults = []),
  };
}

/** What people do at the processor. */
function peopleOf(world: World) {
  const addCard = (customer: string, behaviour: CardBehaviour): PaymentMethod => {
    const id = world.id('pm');
    const last4 = { fine: '4242', declined: '0341', needs_authentication: '3184' }[behaviour];
    const method: PaymentMethod = { id, customer, behaviour, last4 };
    world.methods.set(id, method);
    return method;
  };
  return {
    addCard,
    /** Acts as a person who fills in the page of a checkout session. */
    completeCheckout(session_id: string, behaviour: CardBehaviour): void {
      const session = world.sessions.get(session_id);
      if (!session || session.done) throw new Error(`no open session ${session_id}`);
      session.done = true;
      world.setups.set(session.setup_intent, addCard(session.customer, behaviour).id);
      world.emit('checkout.session.completed', {
        id: session.id,
        object: 'checkout.session',
        mode: 'setup',
        customer: session.customer,
        setup_intent: session.setup_intent,
        status: 'complete',
      });
    },
    /** Acts as a person who pays on the invoice's hosted page, with the bank's approval. */
    payByPerson(invoice_id: string): void {
      const invoice = world.invoices.get(invoice_id);
      if (invoice?.status !== 'open') throw new Error(`${invoice_id} cannot be paid`);
      markPaid(world, invoice);
    },
  };
}

/** Reads the processor's form encoding: `a[b]=c`, and lists as `a[0]=b`. */
export function parseParams(encoded: string): Params {
  const params: Params = {};
  for (const [name, value] of new URLSearchParams(encoded)) {
    const path = name.split(/[[\]]+/).filter((part) => part !== '');
    let place = params;
    for (const part of path.slice(0, -1)) {
      const inner = place[part];
      place = place[part] = typeof inner === 'object' ? inner : {};
    }
    const last = path.at(-1);
    if (last !== undefined) place[last] = value;
  }
  return params;
}
