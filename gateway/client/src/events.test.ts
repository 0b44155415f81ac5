// The sequence of events against a server that is stopped, started and replaced by a proxy's page.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '.';

const EVENTS = 10;

/** A log of events numbered from 1, two a page; 503 pages and refusals come before it, if given. */
const log =
  (...failures: Array<(reply: Parameters<RequestListener>[1]) => void>): RequestListener =>
  (request, reply) => {
    const fail = failures.shift();
    if (fail) return fail(reply);
    const query = new URL(request.url ?? '', 'http://log').searchParams;
    const after = Number(query.get('after') ?? 0);
    const events = [after + 1, after + 2].map((seq) => ({ seq, envelope: { event: 'test' } }));
    reply.setHeader('Content-Type', 'application/json');
    reply.end(JSON.stringify({ success: true, events, next: after + 2 }));
  };
const page: Parameters<typeof log>[number] = (reply) => {
  reply.writeHead(502, { 'Content-Type': 'text/html' }).end('<html></html>');
};
const refusal =
  (status: number, code: string): Parameters<typeof log>[number] =>
  (reply) => {
    reply.writeHead(status, { 'Content-Type': 'application/json', 'Retry-After': '0' });
    reply.end(JSON.stringify({ success: false, error: { code, message: code, retryable: false } }));
  };
const cut: Parameters<typeof log>[number] = (reply) => void reply.destroy();

let server: Server | undefined;
const start = async (listener: RequestListener, port = 0): Promise<number> => {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};
const stop = async (): Promise<void> => {
  const stopped = server;
  server = undefined;
  stopped?.closeAllConnections();
  await new Promise((resolve) => (stopped ? stopped.close(resolve) : resolve(undefined)));
};
afterEach(stop);

const clientOf = (port: number) =>
  createClient({ base_url: `http://127.0.0.1:${port}/v1`, partner_key: 'k', attempts_max: 1 });

test('reads on from the same position after broken connections, pages of proxies and 5xx', async () => {
  const port = await start(
    log(cut, page, refusal(500, 'INTERNAL_ERROR'), refusal(429, 'RATE_LIMIT_EXCEEDED')),
  );
  const reasons: unknown[] = [];
  const seen: number[] = [];
  const events = clientOf(port).events({ onInterruption: (reason) => reasons.push(reason) });
  for await (const { seq } of events) {
    seen.push(seq);
    if (seq === EVENTS) break;
  }
  expect(seen).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1));
  expect(reasons).toHaveLength(4);
});

test('outlives a gateway that is down for seconds', async () => {
  const port = await start(log());
  const seen: number[] = [];
  for await (const { seq } of clientOf(port).events()) {
    seen.push(seq);
    if (seq === 4) {
      await stop();
      setTimeout(() => void start(log(), port), 2_000);
    }
    if (seq === EVENTS) break;
  }
  expect(seen).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1));
});

test('throws permanent errors', async () => {
  const port = await start(log(refusal(401, 'INVALID_PARTNER_KEY')));
  await expect(clientOf(port).events().next()).rejects.toMatchObject({
    code: 'INVALID_PARTNER_KEY',
  });
});

test('ends when its signal aborts, also while it waits for the gateway', async () => {
  const port = await start(log());
  await stop();
  const control = new AbortController();
  // In the next turn the client waits before it tries again.
  const onInterruption = (): unknown => setImmediate(() => control.abort());
  const events = clientOf(port).events({ signal: control.signal, onInterruption });
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

test('hands out no further event of a page once its signal has aborted', async () => {
  const port = await start(log());
  const control = new AbortController();
  const seen: number[] = [];
  for await (const { seq } of clientOf(port).events({ signal: control.signal })) {
    seen.push(seq);
    control.abort();
  }
  expect(seen).toEqual([1]);
});
