// The HTTP server for webhooks from outside: bounds and reads each body and routes it, the
// upstream's to Kafka and the payment processor's to onboarding.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bus } from '@bmg/common/bus';
import {
  BodyRefused,
  createBound,
  createBoundedServer,
  createRefusals,
  networkOf,
  readBody,
  senderOf,
  type BodyProblem,
  type Bound,
} from '@bmg/common/overload';
import type { Component } from '@bmg/common/lifecycle';
import { metrics, type Logger } from '@bmg/common/telemetry';
import type { CanaryReceiver } from '../canary';
import type { Config } from '../config';
import type { OutageWatch } from './outages';
import { mayBePaymentSignature, type PaymentEvents } from './payment-events';
import { replyOf, send, TRY_AGAIN, type Reply } from './reply';
import { isSignature } from '../ground/upstream-signature';
import {
  acceptUpstreamWebhook,
  isGenuineUpstreamWebhook,
  UPSTREAM_PATH,
  verifyAddress,
} from './upstream-webhook';

export type IngressSettings = Pick<
  Config,
  'INGRESS_HOST' | 'INGRESS_PORT' | 'PROXY_HOPS' | 'UPSTREAM_APP_SECRET' | 'UPSTREAM_VERIFY_TOKEN'
>;

export interface Ingress extends Component {
  port(): number;
}

const PAYMENTS_PATH = '/webhooks/payments';
const CANARY_PATH = '/webhooks/canary';

/** The upstream's bodies may have 3 MB. */
const UPSTREAM_BODY_MAX_BYTES = 4 * 1024 * 1024;
/** The processor's objects have lists of ten items at most: some tens of KiB. */
const PAYMENT_BODY_MAX_BYTES = 256 * 1024;
const CANARY_BODY_MAX_BYTES = 64 * 1024;
/** Verified bodies in memory, all requests together; above it webhooks are answered 503. */
const VERIFIED_MAX_BYTES = 128 * 1024 * 1024;
/** Bodies that anyone may have sent: being read, or not verified yet. */
const UNVERIFIED_MAX_BYTES = 64 * 1024 * 1024;
/** Payment webhooks have a bound of their own: they must not use up the upstream's room. */
const UNVERIFIED_PAYMENTS_MAX_BYTES = 8 * 1024 * 1024;
const STOP_TIMEOUT_MS = 5_000;
const UNAUTHORIZED = 401;
/** Unsigned senders share one allowance of immediate answers. */
const STRANGERS = 'strangers';
/** A body with a wrong signature takes some 10 ms of CPU. */
export const REFUSALS_AT_ONCE = { burst: 10, per_s: 1 };
/** Cannot be from the upstream, which signs every webhook. */
const UNSIGNED: Reply = { status: UNAUTHORIZED, text: 'no signature' };
const WRONG_SIGNATURE: Reply = { status: UNAUTHORIZED, text: 'wrong signature' };
/** The sender has closed the connection, so this is never sent. */
const INCOMPLETE: Reply = { status: 400, text: '' };
const REFUSED: Record<BodyProblem, Reply> = {
  incomplete: INCOMPLETE,
  no_room: TRY_AGAIN,
  too_large: { status: 413, text: 'too large' },
};
/** The sender's network has failed too often. */
const TOO_MANY: Reply = { status: 429, text: 'too many wrong signatures' };
const NOT_FOUND: Reply = { status: 404, text: 'not found' };

interface Route {
  body_max_bytes: number;
  /** Its bodies that are not verified yet count here instead of in the bound of the others. */
  unverified?: Bound;
  /** False while the route does not exist. */
  exists?(): boolean;
  /** False while the sender's network is refused, before its body is read. */
  admits?(network: string): boolean;
  /** True if the body is worth reading: its headers may carry a valid signature. */
  isSigned(headers: IncomingHttpHeaders): boolean;
  /**
   * Verifies the signature of the body, which counts as verified from then on. Absent: `accept`
   * passes the body to the part that verifies it, and it counts as unverified until it is answered.
   */
  isGenuine?(body: Buffer, headers: IncomingHttpHeaders): boolean;
  /** Accepts the webhook and returns the answer. */
  accept(body: Buffer, headers: IncomingHttpHeaders, network: string): Promise<Reply>;
}

export interface IngressDependencies {
  bus: Bus;
  payments: PaymentEvents;
  outages: Pick<OutageWatch, 'answered'>;
  /** Absent: there is no canary, and its path does not exist. */
  canary?: CanaryReceiver | undefined;
  log: Logger;
}

export function createIngress(settings: IngressSettings, deps: IngressDependencies): Ingress {
  const { outages, log } = deps;
  const routes = routesOf(settings, deps);
  const receive = createReceive(log);
  const refusals = createRefusals(REFUSALS_AT_ONCE);
  const limits = { server: 'ingress', proxy_hops: settings.PROXY_HOPS };
  const server = createBoundedServer(limits, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'failed to answer webhook');
      response.destroy();
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    const [path = '', query = ''] = (request.url ?? '/').split('?', 2);
    const route = routes.get(path);
    if (!route || route.exists?.() === false) return send(response, NOT_FOUND);
    if (request.method === 'GET' && path === UPSTREAM_PATH) {
      return verifyAddress(query, settings.UPSTREAM_VERIFY_TOKEN, response);
    }
    if (request.method !== 'POST') {
      return send(response, { status: 405, text: 'method not allowed' });
    }
    const network = networkOf(senderOf(request, settings.PROXY_HOPS));
    const reply = await receive(request, route, network);
    const { status } = reply;
    if (path === UPSTREAM_PATH && reply !== UNSIGNED) outages.answered(status);
    metrics.ingress_duration.observe(
      { http_response_status_code: String(status) },
      (performance.now() - started) / 1_000,
    );
    if (status === UNAUTHORIZED || reply === TOO_MANY) await refusals.turn(STRANGERS);
    if (reply === INCOMPLETE) request.destroy();
    else send(response, reply);
  }

  return {
    name: 'ingress',
    port: () => (server.address() as AddressInfo).port,
    start: () => server.open(settings.INGRESS_PORT, settings.INGRESS_HOST),
    drain: () => server.drain(),
    stop: () =>
      new Promise((resolve) => {
        const late = setTimeout(() => server.closeAllConnections(), STOP_TIMEOUT_MS);
        server.close(() => {
          clearTimeout(late);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

function routesOf(
  settings: IngressSettings,
  { bus, payments, canary, log }: IngressDependencies,
): ReadonlyMap<string, Route> {
  return new Map<string, Route>([
    [
      UPSTREAM_PATH,
      {
        body_max_bytes: UPSTREAM_BODY_MAX_BYTES,
        isSigned: (headers) => isSignature(headers['x-hub-signature-256']),
        isGenuine: (body, headers) => isGenuineUpstreamWebhook({ settings, log }, body, headers),
        accept: (body, headers) => acceptUpstreamWebhook({ bus, log }, body, headers),
      },
    ],
    [
      PAYMENTS_PATH,
      {
        body_max_bytes: PAYMENT_BODY_MAX_BYTES,
        unverified: createBound(
          {
            server: 'ingress',
            reason: 'unverified_payment_bytes',
            max: UNVERIFIED_PAYMENTS_MAX_BYTES,
          },
          log,
        ),
        exists: payments.exist,
        isSigned: (headers) =>
          mayBePaymentSignature(headers['stripe-signature'], Math.floor(Date.now() / 1_000)),
        admits: payments.mayPost,
        accept: (body, headers, network) => acceptPayment(payments, { body, headers, network }),
      },
    ],
    ...(canary ? [[CANARY_PATH, canaryRoute(canary)] as const] : []),
  ]);
}

type Receive = (request: IncomingMessage, route: Route, network: string) => Promise<Reply>;

/** Reads a body within the bounds of its route and of memory, and returns the route's answer. */
function createReceive(log: Logger): Receive {
  const boundOf = (reason: string, max: number): Bound =>
    createBound({ server: 'ingress', reason, max }, log);
  const shared = boundOf('unverified_body_bytes', UNVERIFIED_MAX_BYTES);
  const bodies = boundOf('body_bytes', VERIFIED_MAX_BYTES);
  return async function receive(request, route, network) {
    const { body_max_bytes, unverified = shared } = route;
    if (!route.isSigned(request.headers)) return UNSIGNED;
    if (route.admits?.(network) === false) return TOO_MANY;
    let bound = unverified;
    let held = 0;
    const reserve = (bytes: number): boolean => {
      const taken = bound.take(bytes);
      if (taken) held += bytes;
      return taken;
    };
    const countAsVerified = (): boolean => {
      if (!bodies.take(held)) return false;
      unverified.give(held);
      bound = bodies;
      return true;
    };
    try {
      const body = await readBody(request, body_max_bytes, reserve);
      if (route.isGenuine) {
        if (!route.isGenuine(body, request.headers)) return WRONG_SIGNATURE;
        if (!countAsVerified()) return TRY_AGAIN;
      }
      return await route.accept(body, request.headers, network);
    } catch (error) {
      if (error instanceof BodyRefused) return REFUSED[error.problem];
      throw error;
    } finally {
      bound.give(held);
    }
  };
}

async function acceptPayment(
  payments: PaymentEvents,
  { body, headers, network }: { body: Buffer; headers: IncomingHttpHeaders; network: string },
): Promise<Reply> {
  const signature = headers['stripe-signature'];
  const status = await payments.forward({
    body,
    signature: typeof signature === 'string' ? signature : '',
    traceparent: headers['traceparent'] as string | undefined,
    network,
  });
  return status === TOO_MANY.status ? TOO_MANY : replyOf(status);
}

const canaryRoute = (canary: CanaryReceiver): Route => ({
  body_max_bytes: CANARY_BODY_MAX_BYTES,
  isSigned: (headers) => isSignature(headers['x-service-signature']),
  accept: async (body, headers) =>
    replyOf(await canary(body, String(headers['x-service-signature']))),
});
