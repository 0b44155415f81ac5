// The MCP server, as a client of the official SDK sees it: of the revision without sessions, and of
// the earlier ones, which most agents speak.
import type { Client } from '@modelcontextprotocol/client';
import { joinMesh, ONE, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { callTool as call, closeAgents, connectAgent, type Mode } from './mcp-support';

let mesh: Mesh;
let partner: TestPartner;
let other: TestPartner;
let origin: string;
const TO = '15550100777';
const { waba_id } = ONE;

beforeAll(async () => {
  mesh = await joinMesh();
  origin = new URL(mesh.base_url).origin;
  partner = await mesh.createPartner({ rate_limit_per_sec: 1_000 });
  other = await mesh.createPartner();
  await partner.register(ONE);
});
afterAll(async () => {
  await closeAgents();
  await mesh.stop();
});

const connect = (key: string, mode?: Mode): Promise<Client> => connectAgent(origin, key, mode);

/** A request of its own making. */
const post = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-partner-key': partner.partner_key,
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });

const sends = async (): Promise<number> => {
  const { body } = await partner.call('GET', '/messages?limit=200');
  return body.messages.length as number;
};

describe.each<Mode>(['auto', 'legacy'])('a client that negotiates %s', (mode) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(partner.partner_key, mode);
  });

  test('finds the tools, with what they may do', async () => {
    const { tools } = await client.listTools();
    const of = (name: string) => tools.find((one) => one.name === name);
    expect(tools.length).toBeGreaterThan(12);
    expect(of('send_text')?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
    });
    expect(of('find_messages')?.annotations).toMatchObject({ readOnlyHint: true });
    expect(of('send_text')?.inputSchema.required).toEqual(['waba_id', 'text']);
  });

  test('reads the guides', async () => {
    const { resources } = await client.listResources();
    const costs = resources.find(({ name }) => name === 'costs');
    expect(costs?.mimeType).toBe('text/markdown');
    const { contents } = await client.readResource({ uri: costs?.uri ?? '' });
    const [content] = contents as Array<{ text: string }>;
    expect(content?.text).toMatch(/^# .*cost/i);
    expect((await client.readResource({ uri: `${origin}/llms.txt` })).contents).toHaveLength(1);
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow(
      /no such resource/,
    );
  });

  test('sends once, after a confirmation that shows recipients and costs', async () => {
    const before = await sends();
    const given = { waba_id, to: TO, text: `Hello from ${mode}` };
    const asked = await call(client, 'send_text', given);
    expect(asked).toMatchObject({
      is_error: false,
      body: {
        sent: false,
        would_send: { request: 'POST /v1/messages/send', waba_id, recipients: 1 },
        cost: { category: expect.any(String) },
        confirmation: expect.any(String),
      },
    });
    expect(await sends()).toBe(before);
    const { confirmation } = asked.body;
    const sent = await call(client, 'send_text', { ...given, confirmation });
    expect(sent).toMatchObject({ is_error: false, body: { success: true }, notes: [] });
    const again = await call(client, 'send_text', { confirmation, ...given });
    expect(again.body).toEqual(sent.body);
    expect(again.notes).toEqual([expect.stringContaining('nothing was sent again')]);
    await eventually(async () => (await sends()) === before + 1);
    const { message_id } = sent.body;
    const timeline = await call(client, 'get_timeline', { message_id });
    expect(timeline.body.message).toMatchObject({ message_id });
    expect((await call(client, 'find_messages', { message_id })).body.messages).toHaveLength(1);
  });
});

describe('a confirmation', () => {
  let client: Client;
  let confirmation: string;
  const given = { waba_id, to: TO, text: 'Hi' };
  beforeAll(async () => {
    client = await connect(partner.partner_key);
    ({ confirmation } = (await call(client, 'send_text', given)).body);
  });

  test.each<[string, string, object]>([
    ['other arguments', 'send_text', { text: 'Hi there' }],
    ['another recipient', 'send_text', { to: '15550100778' }],
    ['another account', 'send_text', { waba_id: '1' }],
    ['another tool', 'send_media', { text: undefined, type: 'image', media: { id: '1' } }],
  ])('for %s is refused, and nothing is sent', async (_name, tool, changed) => {
    const before = await sends();
    const answer = await call(client, tool, { ...given, ...changed, confirmation });
    expect(answer).toMatchObject({
      is_error: true,
      body: { error: { code: 'INVALID_FIELD', details: { field: 'confirmation' } } },
    });
    expect(await sends()).toBe(before);
  });

  test('of another partner, made up, with another expiry or empty is refused', async () => {
    const foreign = await connect(other.partner_key);
    const made_up = `1${'0'.repeat(9)}.${'a'.repeat(22)}.${'b'.repeat(43)}`;
    for (const [by, text] of [
      [foreign, confirmation],
      [client, made_up],
      [client, confirmation.replace(/^\d+/, '1700000000')],
      [client, ''],
    ] as const) {
      const answer = await call(by, 'send_text', { ...given, confirmation: text });
      expect(answer.body.error).toMatchObject({ details: { field: 'confirmation' } });
    }
  });

  test('is not given for a send that would fail', async () => {
    const template = { name: 'none', language: 'en_US' };
    const { body } = await call(client, 'send_template', { waba_id, to: TO, template });
    expect(body).toMatchObject({ sent: false, deliverable: 'no', confirmation: null });
    expect(body.reasons.length).toBeGreaterThan(0);
  });

  test('shows how many contacts a broadcast has', async () => {
    const contacts = [TO, '15550100778', '15550100778'];
    const broadcast = {
      waba_id,
      name: 'Autumn',
      template_name: 'hello_world',
      template_language: 'en_US',
      contacts,
    };
    const asked = await call(client, 'send_broadcast', broadcast);
    expect(asked.body).toMatchObject({
      would_send: { recipients: 2 },
      cost: { category: 'utility' },
    });
    const { confirmation } = asked.body;
    const created = await call(client, 'send_broadcast', { ...broadcast, confirmation });
    expect(created.body).toMatchObject({ success: true, total: 2 });
    const { broadcast_id } = created.body;
    expect((await call(client, 'get_broadcast', { broadcast_id })).body).toMatchObject({
      broadcast: { id: broadcast_id },
    });
  });

  test('stops a broadcast, without a confirmation', async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const created = await partner.call(
      'POST',
      '/broadcasts',
      {
        ...{ name: 'Later', template_name: 'hello_world', template_language: 'en_US' },
        ...{ contacts: [TO], scheduled_at: later },
      },
      { 'x-waba-id': waba_id },
    );
    const { broadcast_id } = created.body;
    const paused = await call(client, 'pause_broadcast', { broadcast_id });
    expect([paused.is_error, paused.body.error?.code]).toEqual([true, expect.any(String)]);
    await call(client, 'cancel_broadcast', { broadcast_id });
    const { body } = await call(client, 'get_broadcast', { broadcast_id });
    expect(body.broadcast.status).toBe('cancelled');
  });
});

describe('tools that read', () => {
  test.each<[string, object, object]>([
    ['list_numbers', {}, { clients: [expect.objectContaining({ waba_id })] }],
    [
      'check_message',
      { waba_id, kind: 'text', to: TO, text: 'Hi' },
      { deliverable: expect.stringMatching(/yes|unknown/) },
    ],
    ['list_templates', { waba_id }, { templates: expect.any(Array) }],
    ['list_events', { limit: 1 }, { events: [expect.anything()] }],
    ['get_costs', {}, { entries: expect.any(Array) }],
    ['get_usage', {}, { endpoints: expect.any(Array) }],
    ['diagnose_number', { waba_id }, { phone: expect.anything() }],
    ['diagnose_account', { waba_id }, { waba: expect.anything() }],
  ])('%s answers as its endpoint', async (name, given, expected) => {
    const client = await connect(partner.partner_key);
    await eventually(async () => (await partner.call('GET', '/events?limit=1')).body.next > 0);
    expect(await call(client, name, given)).toMatchObject({
      is_error: false,
      body: { success: true, ...expected },
    });
  });
});

describe('bad input', () => {
  test.each<[string, object, object]>([
    ['send_text', { waba_id, to: TO }, { code: 'MISSING_FIELDS', details: { fields: ['text'] } }],
    ['send_text', { to: TO, text: 'Hi' }, { code: 'MISSING_WABA' }],
    ['send_text', { waba_id, to: TO, txt: 'Hi' }, { details: { field: 'txt' } }],
    ['find_messages', { limit: 'x' }, { details: { field: 'limit' } }],
    ['get_timeline', {}, { code: 'MISSING_FIELDS', details: { fields: ['message_id'] } }],
    ['diagnose_account', { waba_id: '1' }, { code: 'WABA_NOT_REGISTERED' }],
  ])('of %s is the standard error', async (name, given, expected) => {
    const client = await connect(partner.partner_key);
    const { is_error, body } = await call(client, name, given);
    expect(is_error).toBe(true);
    expect(body).toMatchObject({
      success: false,
      error: { request_id: expect.any(String), doc_url: expect.any(String), ...expected },
    });
  });

  test('an unknown tool is an error of the protocol', async () => {
    const client = await connect(partner.partner_key);
    await expect(client.callTool({ name: 'delete_all', arguments: {} })).rejects.toThrow(
      /no such tool/,
    );
  });

  test.each<[string, unknown, object]>([
    ['no JSON', '{', { code: 'INVALID_PAYLOAD' }],
    ['a batch', [rpc('tools/list'), rpc('tools/list')], { code: 'INVALID_PAYLOAD' }],
    ['a large body', rpc('ping', { text: 'x'.repeat(1024 * 1024) }), { code: 'INVALID_PAYLOAD' }],
  ])('%s is refused', async (_name, body, error) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ success: false, error });
  });

  test.each([
    ['no method', {}],
    ['an unknown method', rpc('tools/delete')],
    ['no params of a call', rpc('tools/call')],
  ])('%s is an error of JSON-RPC', async (_name, body) => {
    const answer = await post(body);
    expect(await answer.json()).toMatchObject({ error: { code: expect.any(Number) } });
  });
});

describe('access', () => {
  test('needs a key, in either header', async () => {
    for (const headers of [
      { 'x-partner-key': '' },
      { 'x-partner-key': 'bmgk_wrong' },
      { 'x-partner-key': '', authorization: 'Bearer bmgk_wrong' },
      { 'x-partner-key': '', authorization: 'Basic YTpi' },
    ]) {
      const answer = await post(rpc('tools/list'), headers);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    await expect(connect('bmgk_wrong')).rejects.toThrow(/401/);
    const bearer = { 'x-partner-key': '', authorization: `Bearer ${partner.partner_key}` };
    expect((await post(rpc('tools/list'), bearer)).status).toBe(200);
  });

  test('checks the scope and the accounts of an API key for each tool', async () => {
    const { body } = await partner.call('POST', '/keys', {
      name: 'Reader',
      scopes: ['read'],
      waba_ids: [waba_id],
    });
    const client = await connect(body.secret as string);
    expect((await client.listTools()).tools.length).toBeGreaterThan(12);
    expect((await call(client, 'list_templates', { waba_id })).is_error).toBe(false);
    const before = await sends();
    for (const [tool, given, error] of [
      ['send_text', { waba_id, to: TO, text: 'Hi' }, { code: 'SCOPE_MISSING' }],
      ['get_costs', {}, { code: 'SCOPE_MISSING', details: { scope: 'billing' } }],
      ['list_numbers', {}, { code: 'KEY_RESTRICTED' }],
      ['list_templates', { waba_id: '1' }, { code: 'WABA_NOT_REGISTERED' }],
    ] as const) {
      expect(await call(client, tool, given)).toMatchObject({ is_error: true, body: { error } });
    }
    expect(await sends()).toBe(before);
    await partner.call('DELETE', `/keys/${body.key.key_id}`);
    expect((await post(rpc('tools/list'), { 'x-partner-key': body.secret })).status).toBe(401);
  });

  test('is not for pages of other sites, and has no streams', async () => {
    const foreign = await post(rpc('tools/list'), { origin: 'https://evil.example' });
    expect([foreign.status, await foreign.json()]).toMatchObject([403, { error: {} }]);
    for (const method of ['GET', 'DELETE']) {
      const answer = await fetch(`${origin}/mcp`, { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  test('counts towards the rate limit, and calls as those of their endpoints', async () => {
    const slow = await mesh.createPartner({ rate_limit_per_sec: 2 });
    const headers = { 'x-partner-key': slow.partner_key };
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const body = rpc('tools/call', { name: 'list_numbers', arguments: {} });
        const answer = await post(body, headers);
        return { status: answer.status, text: await answer.text() };
      }),
    );
    const refused = statuses.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(2);
    expect(refused[0]?.text).toContain('RATE_LIMIT_EXCEEDED');
    const served = statuses.filter(({ status }) => status === 200);
    expect(served.length).toBeGreaterThan(0);
    await eventually(async () => {
      const { body } = await slow.call('GET', '/usage');
      const rows = body.endpoints as Array<{ endpoint: string; calls: number; errors: number }>;
      const of = (name: string) => rows.find(({ endpoint }) => endpoint === name);
      return of('/clients')?.calls === served.length && of('/mcp')?.errors === refused.length;
    });
  });

  test('answers hold no key', async () => {
    const answer = await post(rpc('tools/call', { name: 'list_numbers', arguments: {} }));
    const text = (await answer.text()) + JSON.stringify([...answer.headers]);
    expect(text).not.toContain(partner.partner_key);
    expect(text).not.toContain(ONE.access_token);
  });
});
