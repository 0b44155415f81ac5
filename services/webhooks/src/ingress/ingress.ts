// The HTTP server for webhooks from outside: bounds and reads each body and routes it, the
// upstream's to Kafka and the payment processor's to onboarding.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bus } from '@bmg/common/bus';
import { BodyRefused, createBound, createBoundedServer, readBody } from '@bmg/common/overload';
import type { Component } from '@bmg/common/lifecycle';
import { metrics, type Logger } from '@bmg/common/telemetry';
import type { OutageWatch } from './outages';
import type { PaymentEvents } from './payment-events';
import { end, endUnavailable } from './responses';
import { acceptUpstreamWebhook, UPSTREAM_PATH, verifyAddress } from './upstream-webhook';

export interface IngressSettings {
  INGRESS_HOST: string;
  INGRESS_PORT: number;
  UPSTREAM_APP_SECRET: string;
  UPSTREAM_VERIFY_TOKEN: string;
}

export interface Ingress extends Component {
  port(): number;
}

const PAYMENTS_PATH = '/webhooks/payments';
/** The upstream's bodies may have 3 MB. */
const UPSTREAM_BODY_MAX_BYTES = 4 * 1024 * 1024;
const PAYMENT_BODY_MAX_BYTES = 1024 * 1024;
/** Bodies in memory, all requests together; above it webhooks are answered 503. */
const BODIES_MAX_BYTES = 128 * 1024 * 1024;
const STOP_TIMEOUT_MS = 5_000;

interface Route {
  body_max_bytes: number;
  /** Answers, and returns the status. */
  accept(body: Buffer, request: IncomingMessage, response: ServerResponse): Promise<number>;
}

export function createIngress(
  settings: IngressSettings,
  bus: Bus,
  payments: PaymentEvents,
  outages: Pick<OutageWatch, 'answered'>,
  log: Logger,
): Ingress {
  const routes = new Map<string, Route>([
    [
      UPSTREAM_PATH,
      {
        body_max_bytes: UPSTREAM_BODY_MAX_BYTES,
        accept: (body, request, response) =>
          acceptUpstreamWebhook({ settings, bus, log }, body, request, response),
      },
    ],
    [
      PAYMENTS_PATH,
      {
        body_max_bytes: PAYMENT_BODY_MAX_BYTES,
        accept: (body, request, response) => acceptPayment(payments, body, request, response),
      },
    ],
  ]);
  const bodies = createBound(
    { server: 'ingress', reason: 'body_bytes', max: BODIES_MAX_BYTES },
    log,
  );
  const server = createBoundedServer({ server: 'ingress' }, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'failed to answer webhook');
      response.destroy();
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    const [path = '', query = ''] = (request.url ?? '/').split('?', 2);
    const route = routes.get(path);
    if (!route) return end(response, 404, 'not found');
    if (request.method === 'GET' && path === UPSTREAM_PATH) {
      return verifyAddress(query, settings.UPSTREAM_VERIFY_TOKEN, response);
    }
    if (request.method !== 'POST') return end(response, 405, 'method not allowed');
    const status = await receive(request, response, route);
    if (path === UPSTREAM_PATH) outages.answered(status);
    metrics.ingress_duration.observe(
      { http_response_status_code: String(status) },
      (performance.now() - started) / 1_000,
    );
  }

  /** Reads the body, within the bounds of the route and of memory, and passes it on. */
  async function receive(
    request: IncomingMessage,
    response: ServerResponse,
    { body_max_bytes, accept }: Route,
  ): Promise<number> {
    let held = 0;
    const reserve = (bytes: number): boolean => {
      const taken = bodies.take(bytes);
      if (taken) held += bytes;
      return taken;
    };
    try {
      const body = await readBody(request, body_max_bytes, reserve);
      return await accept(body, request, response);
    } catch (error) {
      if (error instanceof BodyRefused) return refuseBody(error, request, response);
      throw error;
    } finally {
      bodies.give(held);
    }
  }

  return {
    name: 'ingress',
    port: () => (server.address() as AddressInfo).port,
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(settings.INGRESS_PORT, settings.INGRESS_HOST, resolve);
      }),
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

function refuseBody(
  { problem }: BodyRefused,
  request: IncomingMessage,
  response: ServerResponse,
): number {
  if (problem === 'incomplete') {
    request.destroy();
    return 400;
  }
  response.setHeader('Connection', 'close');
  if (problem === 'no_room') {
    endUnavailable(response);
    return 503;
  }
  end(response, 413, 'too large');
  return 413;
}

async function acceptPayment(
  payments: PaymentEvents,
  body: Buffer,
  { headers }: IncomingMessage,
  response: ServerResponse,
): Promise<number> {
  const signature = headers['stripe-signature'];
  const status = await payments({
    body,
    signature: typeof signature === 'string' ? signature : '',
    traceparent: headers['traceparent'] as string | undefined,
  });
  if (status === 503) endUnavailable(response);
  else end(response, status, status === 200 ? '' : 'not taken');
  return status;
}
