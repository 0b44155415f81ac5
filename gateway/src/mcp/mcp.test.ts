// /mcp with a client of the official SDK; the answers of the services are set here.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { ApiError } from '@bmg/common/errors';
import { createPeppers } from '@bmg/common/keys';
import { eventually } from '../../../test/testkit/eventually';
import { DOUBLES, useApp } from '../../test/app';
import { readDocumentation } from '../docs';
import { createLoad } from '../limits/load';
import { chapters, endpoints } from '../endpoints';
import { wireMcp } from './wire';

const ORIGIN = 'https://gateway.example.net';
const IN_FLIGHT_MAX = 8;
const { start, log } = useApp();
const docs = readDocumentation(chapters, { PUBLIC_URL: ORIGIN });
type Method = (message: object) => Promise<object>;
let methods: Record<string, Method>;
let tokens: number[];
let allowed: boolean;
let counted: Array<[endpoint: string, failed: boolean]>;
let logged: string[];
let url: string;
const clients: Client[] = [];

beforeEach(() => {
  [tokens, counted, logged, allowed] = [[], [], [], true];
  methods = { listClients: async () => ({ clients: [], total: 0 }) };
});
beforeAll(async () => {
  const auth = {
    peppers: createPeppers('a pepper of these tests'),
    authenticator: {
      async identify(key: string) {
        if (key !== 'a') throw new ApiError('INVALID_PARTNER_KEY', 'the partner key is not valid');
        const caller = { partner_id: 'prt_1', rate_limit_per_sec: 100, status: 'active' };
        return { key_hashes: [key], caller, version: '1' };
      },
      confirm: async ({ caller }: { caller: object }) => caller,
    },
    scope: async (partner_id: string, headers: Record<string, string>) => ({
      ...{ partner_id, waba_id: headers['x-waba-id'], phone_number_id: '2' },
      directory_version: '1',
    }),
  };
  const chain = {
    ...DOUBLES,
    ...auth,
    bucket: {
      async take(_name: string, _per_sec: number, count: number) {
        tokens.push(count);
        return { allowed, asked: count, remaining: 1, reset_s: 0, retry_after_s: 1, version: '1' };
      },
    },
    load: createLoad(IN_FLIGHT_MAX, log),
    meter: {
      count: (_id: string, _verb: string, name: string, failed: boolean) =>
        counted.push([name, failed]),
    },
    base_url: `${ORIGIN}/v1`,
    client: () => methods,
  };
  const observe = {
    ...DOUBLES,
    docs_url: `${ORIGIN}/docs`,
    load: chain.load,
    requests: {
      takes: () => true,
      record: (_id: string, { method, path }: { method: string; path: string }) =>
        logged.push(`${method} ${path}`),
    },
  };
  const extend = wireMcp({ auth, chain, observe, docs, log } as never);
  url = `http://127.0.0.1:${await start({ ...chain, ...observe, endpoints, extend })}/mcp`;
});
afterAll(() => Promise.all(clients.map((client) => client.close())));

async function connect(mode: 'auto' | 'legacy'): Promise<Client> {
  const client = new Client(
    { name: 'unit', version: '1.0.0' },
    { versionNegotiation: { mode }, capabilities: {} },
  );
  clients.push(client);
  const requestInit = { headers: { authorization: 'Bearer a' } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

const post = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: 'Bearer a',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const listNumbers = rpc('tools/call', { name: 'list_numbers', arguments: { limit: 3 } });

describe.each(['auto', 'legacy'] as const)('a client that negotiates %s', (mode) => {
  test('lists tools and resources, and calls a tool', async () => {
    const client = await connect(mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('send_text');
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining([`${ORIGIN}/llms.txt`, `${ORIGIN}/docs/agents.md`]),
    );
    const read = await client.readResource({ uri: `${ORIGIN}/docs/agents.md` });
    expect(JSON.stringify(read.contents)).toContain('# Agents and tools');
    let asked: object = {};
    methods['listClients'] = async (message) => {
      asked = message;
      return { clients: [], total: 7 };
    };
    const result = await client.callTool({ name: 'list_numbers', arguments: { limit: 3 } });
    expect(result.isError).toBeFalsy();
    expect(result.content).toHaveLength(1);
    expect(JSON.stringify(result.content)).toContain(String.raw`\"total\":7`);
    expect(asked).toMatchObject({ partner_id: 'prt_1', limit: 3 });
    expect(logged).toEqual(['GET /clients']);
  });

  test('gets errors of tools as results, those of the protocol as errors', async () => {
    const client = await connect(mode);
    methods['listClients'] = async () => {
      throw new ApiError('SERVICE_UNAVAILABLE', 'onboarding cannot be reached');
    };
    const result = await client.callTool({ name: 'list_numbers', arguments: {} });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain('SERVICE_UNAVAILABLE');
    await expect(client.callTool({ name: 'list', arguments: {} })).rejects.toThrow(/no such tool/);
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow(
      /no such resource/,
    );
  });
});

test('a tool call takes one token and is counted as its endpoint, anything else as /mcp', async () => {
  expect((await post(listNumbers)).status).toBe(200);
  expect(tokens).toEqual([1]);
  expect((await post(rpc('tools/list'))).status).toBe(200);
  expect(tokens).toEqual([1, 1]);
  expect(counted).toEqual([
    ['/clients', false],
    ['/mcp', false],
  ]);
});

test('above the rate limit nothing is read or called', async () => {
  allowed = false;
  const answer = await post(listNumbers);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await answer.json()).toMatchObject({ error: { code: 'RATE_LIMIT_EXCEEDED' } });
  expect([counted, logged]).toEqual([[['/mcp', true]], []]);
});

test('a partner has as many calls in flight as it may have requests', async () => {
  let release = (): void => undefined;
  const waiting = new Promise<void>((resolve) => (release = resolve));
  methods['listClients'] = () => waiting.then(() => ({ clients: [], total: 0 }));
  let refused = 0;
  const answers = Array.from({ length: IN_FLIGHT_MAX }, async () => {
    const text = await (await post(listNumbers)).text();
    if (text.includes('SERVICE_UNAVAILABLE')) refused += 1;
    return text;
  });
  // Half of the replica's requests are those of one partner; a call is one of them.
  await eventually(() => refused === IN_FLIGHT_MAX / 2);
  release();
  await Promise.all(answers);
  expect(refused).toBe(IN_FLIGHT_MAX / 2);
  expect(await (await post(listNumbers)).text()).toContain('total');
});

test.each<[string, Record<string, string>]>([
  ['no key', { authorization: '' }],
  ['a wrong key', { authorization: 'Bearer b' }],
  ['another scheme', { authorization: 'Basic a' }],
  ['a wrong key beside a right one', { 'x-partner-key': 'b' }],
])('%s is refused', async (_name, headers) => {
  const answer = await post(listNumbers, headers);
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect([tokens, counted]).toEqual([[], []]);
});

test('the header of the REST API is a key too', async () => {
  for (const authorization of ['', 'Bearer b']) {
    expect((await post(listNumbers, { authorization, 'x-partner-key': 'a' })).status).toBe(200);
  }
});

test('pages of other sites are refused before the key is read', async () => {
  for (const origin of ['https://evil.example', 'null', `${ORIGIN}.evil.example`]) {
    const answer = await post(listNumbers, { origin });
    expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: -32000 } }]);
  }
  expect((await post(listNumbers, { origin: ORIGIN })).status).toBe(200);
});

test('there are no streams, sessions or subscriptions', async () => {
  for (const method of ['GET', 'DELETE']) {
    const answer = await fetch(url, { method, headers: { accept: 'text/event-stream' } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  }
  const client = await connect('auto');
  const listen = { method: 'subscriptions/listen', params: { notifications: {} } };
  await expect(client.request(listen as never)).rejects.toThrow();
  const answer = await post(rpc('tools/list'));
  expect(answer.headers.get('mcp-session-id')).toBeNull();
  expect(answer.headers.get('content-type')).toContain('application/json');
});

test.each<[string, unknown]>([
  ['no JSON', '{'],
  ['a batch', [listNumbers, listNumbers]],
  ['a body above 1 MiB', rpc('tools/list', { text: 'x'.repeat(1024 * 1024) })],
  ['a key of a prototype', '{"__proto__":{"method":"tools/list"}}'],
])('%s is refused as by the REST API', async (_name, body) => {
  const answer = await post(body);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ success: false, error: { code: 'INVALID_PAYLOAD' } });
  expect(counted).toEqual([['/mcp', true]]);
});

test.each<[string, unknown]>([
  ['no message', {}],
  ['an unknown method', rpc('tools/delete')],
  ['a call without a name', rpc('tools/call')],
  ['arguments that are a list', rpc('tools/call', { name: 'list_numbers', arguments: [1] })],
])('%s is an error of JSON-RPC', async (_name, body) => {
  const answer = await post(body);
  expect(await answer.json()).toMatchObject({ error: { code: expect.any(Number) } });
  expect(logged).toEqual([]);
});

test('the key is in no answer', async () => {
  const key = 'a-key-that-is-wrong';
  const answer = await post(listNumbers, { authorization: `Bearer ${key}` });
  expect((await answer.text()) + JSON.stringify([...answer.headers])).not.toContain(key);
});
