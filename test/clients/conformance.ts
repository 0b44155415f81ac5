// The rules that every client keeps, as cases: a command for its driver (programs/driver.*), the
// answers of a scripted gateway, and what has to come back from the one and to reach the other.
import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { chapters } from '../../gateway/src/endpoints';
import { buildOpenApi, type AnswerObject, type Verb } from '../../gateway/src/openapi';

export type Command = Record<string, unknown> & { call: string };
export interface Result {
  value?: unknown;
  /** An error of the gateway has all fields, any other error only `message`. */
  failure?: { code?: string; status?: number; message: string };
}

/** A request that reached the scripted gateway. */
interface Seen {
  query: Record<string, string>;
  key: string | undefined;
  partner_key: string | undefined;
  body: string;
}
type Answer = 'broken' | { status: number; type?: string; body?: string; retry_after?: string };
type Script = (request: Seen, number: number) => Answer;

interface Case {
  title: string;
  /** The clients that have what it is about; all of them unless given. */
  only?: readonly string[];
  command: Command | (() => Command);
  script?: Script;
  /** The gateway is stopped after this many answers for some time, or before the first one. */
  outage?: { after: number; ms: number } | 'whole';
  result: Result;
  check?(requests: Seen[], elapsed_ms: number): void;
}

const ANY_TEXT: string = expect.any(String);
const BROKEN: Result = { failure: { message: ANY_TEXT } };

const document = buildOpenApi(chapters, { public_url: 'https://gateway.example.com' });
/** The answer that the document shows for an endpoint, with these fields. */
function exampleOf(verb: Verb, path: string, fields: object): Answer {
  const answer = document.paths[path]?.[verb]?.responses['200'] as AnswerObject | undefined;
  const example = answer?.content?.['application/json']?.example as object | undefined;
  if (!example) throw new Error(`${verb} ${path} has no example`);
  return json(200, { ...example, ...fields });
}

const json = (status: number, body: unknown): Exclude<Answer, 'broken'> => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});
const refusal = (status: number, code: string, retryable: boolean): Exclude<Answer, 'broken'> => ({
  ...json(status, {
    success: false,
    error: {
      ...{ code, message: 'm', retryable, details: { field: 'to' } },
      ...{ upstream_subcode: null, doc_url: '', request_id: 'r' },
    },
  }),
  retry_after: '0',
});
const page = (status: number): Answer => ({
  ...{ status, type: 'text/html', body: '<html><h1>Bad Gateway</h1></html>', retry_after: '0' },
});

const inTurn =
  (...answers: Answer[]): Script =>
  (_request, number) =>
    answers[Math.min(number, answers.length) - 1] ?? 'broken';

const SENT = exampleOf('post', '/messages/send', { message_id: 'wamid.1', of_tomorrow: 1 });
const SEND: Command = { call: 'send', attempts: 3 };
const RETRY_ALL: Command = { call: 'retry_all', attempts: 3 };

const RETRIES: readonly Case[] = [
  {
    title: 'repeats a send with the same key and body',
    command: { ...SEND, attempts: 4 },
    script: inTurn(refusal(503, 'SERVICE_UNAVAILABLE', true), 'broken', page(502), SENT),
    result: { value: 'wamid.1' },
    check(requests) {
      expect(requests[0]).toMatchObject({
        key: expect.stringMatching(/^[0-9a-f-]{36}$/),
        partner_key: 'k',
        body: expect.stringContaining('15550100777'),
      });
      expect(requests).toEqual(Array.from({ length: 4 }, () => requests[0]));
    },
  },
  {
    title: 'returns an error that is not retryable at once, with its fields',
    command: SEND,
    script: inTurn(refusal(400, 'INVALID_FIELD', false)),
    result: failure(400, 'INVALID_FIELD', { retryable: false, details: { field: 'to' } }),
    check: (requests) => expect(requests).toHaveLength(1),
  },
  {
    title: 'returns the last error in the end',
    command: SEND,
    script: inTurn(refusal(429, 'RATE_LIMIT_EXCEEDED', true)),
    result: failure(429, 'RATE_LIMIT_EXCEEDED', { retryable: true }),
    check: (requests) => expect(requests).toHaveLength(3),
  },
  {
    title: 'waits as long as Retry-After states',
    command: SEND,
    script: inTurn({ ...refusal(429, 'RATE_LIMIT_EXCEEDED', true), retry_after: '1' }, SENT),
    result: { value: 'wamid.1' },
    check: (_requests, elapsed_ms) => expect(elapsed_ms).toBeGreaterThan(990),
  },
  {
    title: 'keeps the key of the caller',
    command: { ...SEND, key: 'mine' },
    script: inTurn(SENT),
    result: { value: 'wamid.1' },
    check: (requests) => expect(requests.map(({ key }) => key)).toEqual(['mine']),
  },
  {
    title: 'repeats no change without a key after a broken connection',
    command: RETRY_ALL,
    script: inTurn('broken'),
    result: BROKEN,
    check: (requests) => expect(requests.map(({ key }) => key)).toEqual([undefined]),
  },
  {
    title: 'repeats a read after a broken connection',
    command: { call: 'list', list: 'clients', attempts: 2 },
    script: inTurn('broken', exampleOf('get', '/clients', { clients: [] })),
    result: { value: [] },
  },
  {
    title: 'leaves the outcome of a change behind a proxy unknown',
    command: RETRY_ALL,
    script: inTurn(page(504)),
    result: failure(504, 'UNEXPECTED_ANSWER', {
      retryable: false,
      details: { outcome: 'unknown' },
      message: 'HTTP 504 with text/html: not an answer of the gateway',
    }),
    check: (requests) => expect(requests).toHaveLength(1),
  },
  {
    title: 'does not repeat what a proxy refuses',
    command: SEND,
    script: inTurn(page(403)),
    result: failure(403, 'UNEXPECTED_ANSWER', { retryable: false }),
    check: (requests) => expect(requests).toHaveLength(1),
  },
  ...(
    [
      ['a page with status 200', page(200), 502],
      ['JSON of another server', json(404, { message: 'no route' }), 404],
      ['broken JSON', { status: 500, type: 'application/json', body: '{' }, 500],
      ['no body', { status: 503 }, 503],
    ] as const
  ).map(([what, answer, status]): Case => ({
    title: `takes ${what} for an answer of another server`,
    command: { call: 'list', list: 'clients' },
    script: inTurn(answer),
    result: failure(status, 'UNEXPECTED_ANSWER', {}),
  })),
  {
    title: 'passes downloads on',
    command: { call: 'download' },
    script: inTurn({ status: 200, type: 'image/png', body: 'bytes' }),
    result: { value: 'bytes' },
  },
  {
    title: 'ends a wait when its caller gives up',
    only: ['TypeScript', 'Go'],
    command: { call: 'list', list: 'clients', attempts: 100, limit_s: 0.05 },
    script: inTurn('broken'),
    result: BROKEN,
  },
  {
    title: 'passes an error to a callback as the cause',
    only: ['Java'],
    command: { ...SEND, call: 'send_later' },
    script: inTurn(refusal(503, 'SERVICE_UNAVAILABLE', true), refusal(400, 'INVALID_FIELD', false)),
    result: failure(400, 'INVALID_FIELD', {}),
    check: (requests) => expect(requests).toHaveLength(2),
  },
];

const byCursor = (after: string | null) => ({ limit: 1, paging: { cursors: { after } } });
/** The first item of the endpoint's example, with other values of one field. */
function items(path: string, list: string, field: string, values: readonly unknown[]): unknown[] {
  const example = exampleOf('get', path, {}) as { body: string };
  const [first] = (JSON.parse(example.body) as Record<string, object[]>)[list] as [object];
  return values.map((value) => ({ ...first, [field]: value }));
}

const PAGES: readonly Case[] = [
  {
    // A sequence may be read again: it begins with its first page.
    title: 'ends pages by offset with the first that is not full, each time',
    command: { call: 'list', list: 'broadcasts', limit: 2, times: 2 },
    script: ({ query }) => {
      const offset = Number(query['offset'] ?? 0);
      const broadcasts = items('/broadcasts', 'broadcasts', 'id', offset === 0 ? [1, 2] : [3]);
      return exampleOf('get', '/broadcasts', { broadcasts, total: 3, limit: 2, offset });
    },
    result: { value: [1, 2, 3, 1, 2, 3] },
    check: (requests) =>
      expect(requests.map(({ query }) => query['limit'])).toEqual(['2', '2', '2', '2']),
  },
  ...(
    [
      ['messages', '/messages', 'messages', 'message_id', 'cursor', byCursor],
      ['audit', '/audit', 'records', 'id', 'cursor', byCursor],
      ['ledger', '/usage/ledger', 'entries', 'message_id', 'after', nextOf],
    ] as const
  ).map(([list, path, name, field, parameter, position]): Case => {
    const answer = (values: string[], after: string | null): Answer =>
      exampleOf('get', path, { [name]: items(path, name, field, values), ...position(after) });
    return {
      title: `ends pages of GET ${path} with the one that names no next`,
      command: { call: 'list', list },
      script: inTurn(answer(['a'], 'x'), answer([], 'y'), answer(['b'], null)),
      result: { value: ['a', 'b'] },
      check: (requests) =>
        expect(requests.map(({ query }) => query[parameter])).toEqual([undefined, 'x', 'y']),
    };
  }),
  {
    title: 'ends pages with the error of the gateway',
    command: { call: 'list', list: 'clients' },
    script: inTurn(refusal(400, 'INVALID_FIELD', false)),
    result: failure(400, 'INVALID_FIELD', {}),
  },
  {
    title: 'refuses to read what has no pages',
    only: ['Python'],
    command: { call: 'list', list: 'sends' },
    result: { failure: { message: expect.stringContaining('send_text has no pages') } },
  },
];

const ENVELOPE = {
  ...{ event: 'message.received', waba_id: '1', phone_number_id: null, timestamp: 1 },
  data: { text: '谢谢' },
  meta: { event_id: 'evt_1', api_version: '2', changelog: '', notices: [] },
};
const COUNT = 10;
const ALL = Array.from({ length: COUNT }, (_, index) => index + 1);

/** A log of events numbered from 1, two a page; these failures come first. */
const eventLog =
  (...failures: Answer[]): Script =>
  ({ query }, number) => {
    const failure = failures[number - 1];
    if (failure) return failure;
    const after = Number(query['after'] ?? 0);
    const events = items('/events', 'events', 'envelope', [ENVELOPE, ENVELOPE]);
    return exampleOf('get', '/events', {
      events: events.map((event, index) => ({ ...(event as object), seq: after + 1 + index })),
      next: after + 2,
    });
  };
const read = (sequence: number[], interruptions = 0): Result => ({
  value: { sequence, message_ids: [], interruptions },
});
const EVENTS: Command = { call: 'events', count: COUNT };

const LOG: readonly Case[] = [
  {
    title: 'reads events on after broken connections, pages of proxies and 5xx',
    command: EVENTS,
    script: eventLog(
      'broken',
      page(502),
      refusal(500, 'INTERNAL_ERROR', false),
      refusal(429, 'RATE_LIMIT_EXCEEDED', true),
    ),
    result: read(ALL, 4),
  },
  {
    title: 'reads events on after a gateway that was away for seconds',
    command: EVENTS,
    script: eventLog(),
    outage: { after: 2, ms: 2_000 },
    result: read(ALL, expect.any(Number)),
    check: (_requests, elapsed_ms) => expect(elapsed_ms).toBeGreaterThan(1_900),
  },
  {
    title: 'ends events with a permanent error',
    command: EVENTS,
    script: eventLog(refusal(401, 'INVALID_PARTNER_KEY', false)),
    result: failure(401, 'INVALID_PARTNER_KEY', {}),
  },
  {
    title: 'ends events when it is stopped, also without a gateway',
    command: { call: 'events', limit_s: 0.3 },
    outage: 'whole',
    result: read([], expect.any(Number)),
  },
  {
    title: 'hands out no further event of a page once it is stopped',
    command: { call: 'events', count: 1 },
    script: eventLog(),
    result: read([1]),
  },
];

const [mine, old, stranger] = [1, 2, 3].map(
  () => `whsec_${randomBytes(32).toString('base64')}`,
) as [string, string, string];
const BODY = JSON.stringify(ENVELOPE);
const MINUTES_10 = 600;

/** The headers of a delivery, as the service signs it. */
function headers(secret: string, age_s = 0): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000) - age_s);
  const signature = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(`evt_1.${timestamp}.${BODY}`)
    .digest('base64');
  return {
    'webhook-id': 'evt_1',
    'Webhook-Timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
    'X-Service-Signature': `sha256=${createHmac('sha256', secret).update(BODY).digest('hex')}`,
  };
}

const WEBHOOKS = ['verify_webhook', 'verify_service_signature'].flatMap((call): Case[] => {
  const verify = (
    what: string,
    signer: string | undefined,
    secrets: string[],
    result: Result = BROKEN,
    { body = BODY, age_s = 0 } = {},
  ): Case => ({
    title: `${call} ${result === BROKEN ? 'refuses' : 'returns'} ${what}`,
    command: () => ({
      call,
      headers: signer === undefined ? {} : headers(signer, age_s),
      body,
      secrets,
    }),
    result,
  });
  const EMPTY: Result = { failure: { message: 'a webhook secret is empty' } };
  return [
    verify('an event that its secret has signed', mine, [mine, old], { value: ENVELOPE }),
    verify('an event that the secret before has signed', old, [mine, old], { value: ENVELOPE }),
    verify('an event that a stranger has signed', stranger, [mine]),
    verify('changed bytes', mine, [mine], BROKEN, { body: `${BODY} ` }),
    verify('an event without a secret', mine, []),
    verify('an event without headers', undefined, [mine]),
    { ...verify('an empty secret', '', ['']), result: EMPTY },
    { ...verify('a secret that is a prefix', 'whsec_', ['whsec_']), result: EMPTY },
    ...(call === 'verify_webhook'
      ? [verify('an old event', mine, [mine], BROKEN, { age_s: MINUTES_10 })]
      : []),
  ];
});

const CASES = [...RETRIES, ...PAGES, ...LOG, ...WEBHOOKS];

export const casesOf = (client: string): Case[] =>
  CASES.filter(({ only }) => only?.includes(client) ?? true);

/** Runs one case with a client's driver. */
export async function expectConforms(
  { command, script = inTurn(), outage, result, check }: Case,
  perform: (command: Command) => Promise<Result>,
): Promise<void> {
  const gateway = await startScripted(script, outage);
  try {
    const started = performance.now();
    const given = typeof command === 'function' ? command() : command;
    const found = await perform({ ...given, base_url: gateway.url });
    // A client may add what an error means for it; of any other error only the message counts.
    if (result.failure?.code) expect(found).toMatchObject(result);
    else expect(found).toEqual(result);
    check?.(gateway.requests, performance.now() - started);
  } finally {
    await gateway.stop();
  }
}

async function startScripted(script: Script, outage: Case['outage']) {
  const requests: Seen[] = [];
  const seenOf = async (request: IncomingMessage): Promise<Seen> => ({
    query: Object.fromEntries(new URL(request.url ?? '', 'http://gateway').searchParams),
    key: request.headers['idempotency-key']?.toString(),
    partner_key: request.headers['x-partner-key']?.toString(),
    body: await text(request),
  });
  const serve = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    requests.push(await seenOf(request));
    const answer = script(requests.at(-1) as Seen, requests.length);
    if (answer === 'broken') {
      reply.destroy();
      return;
    }
    const { status, type, body = '', retry_after } = answer;
    if (type !== undefined) reply.setHeader('Content-Type', type);
    if (retry_after !== undefined) reply.setHeader('Retry-After', retry_after);
    if (typeof outage !== 'object' || requests.length !== outage.after) {
      reply.writeHead(status).end(body);
      return;
    }
    // The next request needs a new connection, which finds no server.
    reply.writeHead(status, { Connection: 'close' });
    await new Promise<void>((resolve) => reply.end(body, resolve));
    await stop(server);
    await sleep(outage.ms);
    server = await listen(port);
  };
  const listen = async (at: number): Promise<Server> => {
    const made = createServer((request, reply) => void serve(request, reply));
    await new Promise<void>((resolve) => made.listen(at, '127.0.0.1', resolve));
    return made;
  };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  if (outage === 'whole') await stop(server);
  return { url: `http://127.0.0.1:${port}/v1`, requests, stop: () => stop(server) };
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  if (server.listening) await new Promise((resolve) => server.close(resolve));
}

function failure(status: number, code: string, fields: object): Result {
  return { failure: { status, code, message: ANY_TEXT, ...fields } };
}

function nextOf(next: string | null) {
  return { limit: 1, next };
}
