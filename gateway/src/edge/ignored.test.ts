// What X-Service-Ignored names, through the chains of the real rows; the services answer nothing.
import { ApiError } from '@bmg/common/errors';
import type { LoggedRequest } from '@bmg/proto/onboarding';
import { useApp } from '../../test/app';
import { endpoints } from '../endpoints';
import { createLoad } from '../limits/load';
import { IgnoredKeys } from './ignored';

const { start, log } = useApp();
let port: number;
let logged: LoggedRequest[];
let failure: ApiError | undefined;
let received: unknown[];
let is_allowed: boolean;

const rpc = async (message: unknown): Promise<object> => {
  received.push(message);
  if (failure) throw failure;
  return { groups: [], templates: [], rows: [], events: [], fields: {}, items: [], contacts: [] };
};

beforeAll(async () => {
  port = await start({
    endpoints,
    requests: {
      takes: () => true,
      record: (_id: string, request: LoggedRequest) => void logged.push(request),
    },
    load: createLoad(10, log),
    authenticator: {
      async identify(key: string) {
        if (key !== 'a') throw new ApiError('INVALID_PARTNER_KEY', 'the partner key is not valid');
        return { key_hashes: [key], caller: { partner_id: 'prt_1', status: 'active' } };
      },
      confirm: async ({ caller }: { caller: object }) => caller,
    },
    bucket: {
      take: async () => ({ allowed: is_allowed, asked: true, remaining: 1, retry_after_s: 1 }),
    },
    client: () => new Proxy({}, { get: () => rpc }),
    /** The second request of a key gets the first answer. */
    guards: () => async () => ({ status: 200, body: '{"success":true}', replayed: true }),
  });
});
beforeEach(() => {
  [logged, received, failure, is_allowed] = [[], [], undefined, true];
});

async function call(
  line: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; ignored: string | null; answer: Response }> {
  const [method = '', path = ''] = line.split(' ');
  const answer = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
    method,
    headers: {
      ...{ 'x-partner-key': 'a', 'x-waba-id': '1', 'content-type': 'application/json' },
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, ignored: answer.headers.get('x-service-ignored'), answer };
}

const READ = 'POST /messages/read';
const TEMPLATE = { name: 'a', language: 'en', components: [{ type: 'body', extra: 1 }] };

test.each<[string, string, object | undefined, string | null]>([
  ['a key of the body', READ, { message_id: 'w', read_receipt: { type: 'text' } }, 'read_receipt'],
  ['a key of the query', 'GET /usage/ledger?message_id=w', undefined, 'message_id'],
  ['a key of the query where none is known', 'GET /waba?fields=id', undefined, 'fields'],
  ['a key of a body where none is taken', 'DELETE /webhook-endpoints/whe_1', { x: 1 }, 'x'],
  [
    'a key of a body of a request without one',
    'POST /webhook-endpoints/whe_1/test',
    { event: 'a' },
    'event',
  ],
  ['keys of query and body', `${READ}?dry_run=1`, { message_id: 'w', b: 1, a: 1 }, 'dry_run, b, a'],
  [
    'one path for a key of several items',
    'POST /broadcasts',
    {
      ...{ name: 'a', template_name: 'b', template_language: 'c' },
      contacts: ['15550100777', { recipient: '15550100778', x: 1 }, { x: 2, y: 3 }],
    },
    'contacts[].x, contacts[].y',
  ],
  [
    'a key of an inner object',
    'POST /messages/template',
    { to: '15550100777', template: { ...TEMPLATE, namespace: 'n' } },
    'template.namespace',
  ],
  [
    'a key of a quote',
    'POST /messages/send',
    { to: '15550100777', text: 'a', context: { message_id: 'w', from: 'b' } },
    'context.from',
  ],
  [
    'a quote where none is possible',
    'POST /messages/reaction',
    { to: '15550100777', message_id: 'w', emoji: 'a', reply_to: 'w' },
    'reply_to',
  ],
  [
    'no key of an object that is passed on',
    'POST /messages/interactive',
    { to: '15550100777', interactive: { type: 'button', action: { x: 1 } } },
    null,
  ],
  [
    'no key of a contact card',
    'POST /messages/contacts',
    { to: '15550100777', contacts: [{ name: { formatted_name: 'a', x: 1 }, phones: [{ y: 1 }] }] },
    null,
  ],
  [
    'no key of a body that is passed on',
    'POST /calls',
    { action: 'accept', call_id: 'c', x: 1 },
    null,
  ],
  ['no key of the settings', 'POST /settings', { calling: { x: 1 }, y: { z: 1 } }, null],
  [
    'no key at the top of a template',
    'POST /templates',
    { ...{ name: 'a', language: 'en', category: 'UTILITY' }, components: [{ x: 1 }], y: 1 },
    null,
  ],
  [
    'no value of a broadcast’s contact',
    'POST /broadcasts',
    {
      ...{ name: 'a', template_name: 'b', template_language: 'c' },
      contacts: [{ recipient: '15550100777', params: { first: { type: 'text', text: 'a' } } }],
    },
    null,
  ],
  ['nothing where every key is known', READ, { message_id: 'w' }, null],
])('names %s', async (_name, line, body, ignored) => {
  expect(await call(line, body)).toMatchObject({ ignored });
});

test('the work is done all the same, with a body of DELETE and a path that is decoded once', async () => {
  const participants = ['+1555', { wa_id: '1666', user_id: 'US.1' }, { user_id: 'US.2' }, {}];
  const line = 'DELETE /groups/Y2Fw%2B%3D%3D/participants';
  expect(await call(line, { participants, x: 1 })).toMatchObject({ status: 200, ignored: 'x' });
  expect(received).toMatchObject([
    { group_id: 'Y2Fw+==', participants: ['+1555', '1666', 'US.2', ''] },
  ]);
});

test('does the work when a body that nothing takes is large or no JSON', async () => {
  const line = 'DELETE /webhook-endpoints/whe_1';
  expect(await call(line, { x: 'y'.repeat(20_000) })).toMatchObject({ status: 200, ignored: null });
  const type = { 'content-type': 'text/plain' };
  expect(await call(line, { x: 1 }, type)).toMatchObject({ status: 200, ignored: null });
  expect(received).toHaveLength(2);
});

test('names them on a refused request, and on one whose work failed', async () => {
  const refused = await call(READ, { message: 'w' });
  expect(refused).toMatchObject({ status: 400, ignored: 'message' });
  expect(received).toEqual([]);
  failure = new ApiError('UPSTREAM_ERROR', 'no');
  const failed = await call(READ, { message_id: 'w', x: 1 });
  expect(failed).toMatchObject({ status: 502, ignored: 'x' });
});

test('names those of the query when the rate limit refuses', async () => {
  is_allowed = false;
  expect(await call('GET /clients?page=2')).toMatchObject({ status: 429, ignored: 'page' });
});

test('is absent from a 401 of the gateway and of a service', async () => {
  const headers = { 'x-partner-key': 'b' };
  expect(await call('GET /clients?page=2', undefined, headers)).toMatchObject({
    ...{ status: 401, ignored: null },
  });
  failure = new ApiError('UNAUTHORIZED', 'too late');
  expect(await call('POST /clients/register-from-code', { code: 'c', x: 1 })).toMatchObject({
    ...{ status: 401, ignored: null },
  });
  expect(logged).toEqual([expect.objectContaining({ status: 401, ignored: undefined })]);
});

test('is the same on the replayed answer of an Idempotency-Key', async () => {
  const body = { message_id: 'w', read_receipt: {} };
  const { ignored, answer } = await call(READ, body, { 'idempotency-key': 'k' });
  expect(answer.headers.get('idempotency-replayed')).toBe('true');
  expect(ignored).toBe('read_receipt');
});

test('stands in the request log', async () => {
  await call(READ, { message_id: 'w', x: 'a secret' });
  await call(READ, { message_id: 'w' });
  expect(logged.map(({ ignored }) => ignored)).toEqual(['x', undefined]);
});

test('encodes other bytes than letters, digits and _.[]-, and cuts no escape', async () => {
  const body = {
    message_id: 'w',
    'a b': 1,
    'é, \r\nx: y': 1,
    ['x'.repeat(62) + 'é']: 1,
  };
  const { ignored } = await call(READ, body);
  expect(ignored).toBe(`a%20b, %C3%A9%2C%20%0D%0Ax%3A%20y, ${'x'.repeat(62)}`);
});

describe('is bounded', () => {
  const header = (keys: string[], path = ''): string => {
    const ignored = new IgnoredKeys();
    for (const key of keys) if (!ignored.isFull()) ignored.add(path, key);
    return ignored.header() ?? '';
  };
  const keysOf = (count: number, length: number): string[] =>
    Array.from({ length: count }, (_none, index) => `${index}`.padEnd(length, '-'));

  test('to 20 paths', () => {
    expect(header(keysOf(25, 3)).split(', ')).toEqual(keysOf(20, 3));
  });
  test('to 64 characters a path', () => {
    expect(header([`${'k'.repeat(100)}`])).toBe('k'.repeat(64));
    expect(header(['k'.repeat(64)], 'contacts[].')).toBe(`contacts[].${'k'.repeat(53)}`);
  });
  test('to 1 KiB', () => {
    const named = header(keysOf(20, 64));
    expect(named.split(', ')).toEqual(keysOf(15, 64));
    expect(named.length).toBeLessThanOrEqual(1_024);
  });
});
