// A stateful HTTP server for the part of the payment processor's API that this product uses. It
// posts signed webhooks: once, repeated, in another order, or with a wrong signature.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { postRaw } from '../testkit/upstream-webhooks';
import { AnswerLost, createPaymentsCore, parseParams, type PaymentsCore } from './core';
import type { CardBehaviour, Event } from './types';

export { AnswerLost, createPaymentsCore, parseParams, type Fault, type PaymentsCore } from './core';
export { inProcess } from './in-process';
export type { CardBehaviour, Event } from './types';

export const API_KEY = 'sk_test_double';
export const WEBHOOK_SECRET = 'whsec_double';

export type PaymentsDouble = Awaited<ReturnType<typeof startPayments>>;

export const eventBody = ({ id, type, created, object }: Event): string =>
  JSON.stringify({
    id,
    object: 'event',
    type,
    created,
    api_version: '2026-10-28.endive',
    livemode: false,
    data: { object },
  });

export function signature(body: string, at: Date, secret = WEBHOOK_SECRET): string {
  const t = Math.floor(at.getTime() / 1_000);
  const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
  return `t=${t},v1=${v1}`;
}

async function answer(
  core: PaymentsCore,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
  let body = '';
  for await (const chunk of request) body += String(chunk);
  if (!path.startsWith('/v1/')) return actAsPerson(core, path, body, response);
  const say = (status: number, answered: object, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(answered));
  };
  if (request.headers.authorization !== `Bearer ${API_KEY}`) {
    const error = { type: 'invalid_request_error', message: 'Invalid API Key provided' };
    return say(401, { error });
  }
  const key = request.headers['idempotency-key'];
  try {
    const answered = core.handle({
      method: request.method ?? 'GET',
      path,
      params: parseParams(request.method === 'POST' ? body : query),
      idempotency_key: typeof key === 'string' ? key : undefined,
    });
    const headers = answered.replayed ? { 'idempotent-replayed': 'true' } : undefined;
    say(answered.status, answered.body, headers);
  } catch (error) {
    if (error instanceof AnswerLost) request.socket.destroy();
    else throw error;
  }
}

/** The pages for people: a POST to one stands for a person who fills it in. */
function actAsPerson(
  core: PaymentsCore,
  path: string,
  body: string,
  response: ServerResponse,
): void {
  const [, page, id = ''] = path.split('/');
  if (page === 'pay') core.payByPerson(id);
  else if (page === 'setup') core.completeCheckout(id, (body || 'fine') as CardBehaviour);
  response.end('done');
}

export async function startPayments(webhook_url: () => string, now: () => Date) {
  const posted = new Set<string>();
  const server = createServer((request, response) => {
    answer(core, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const core = createPaymentsCore(now, url);

  /** Posts an event as the processor would; returns the HTTP status. */
  const post = (event: Event, { secret }: { secret?: string } = {}): Promise<number> => {
    const body = eventBody(event);
    posted.add(event.id);
    return postRaw(webhook_url(), body, {
      'content-type': 'application/json',
      'stripe-signature': signature(body, now(), secret),
    });
  };
  return {
    url,
    core,
    post,
    /** Posts the events not posted yet, in the order of `arrange`; returns the HTTP statuses. */
    async postNew(arrange = (events: Event[]): Event[] => events): Promise<number[]> {
      const statuses: number[] = [];
      for (const event of arrange(core.events.filter(({ id }) => !posted.has(id)))) {
        statuses.push(await post(event));
      }
      return statuses;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
