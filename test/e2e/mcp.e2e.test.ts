// The MCP server, as a client of the official SDK sees it: of the revision without sessions, and of
// the earlier ones, which most agents speak.
import type { Client } from '@modelcontextprotocol/client';
import { callRest, ONE } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { callTool as call, closeAgents, connectAgent, type Mode } from './mcp-support';
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh, [ONE], { rate_limit_per_sec: 1_000 });
let origin: string;
const TO = '15550100777';
const { waba_id } = ONE;

beforeAll(async () => {
  origin = new URL(mesh.base_url).origin;
});
afterAll(() => closeAgents());

const connect = (key: string, mode?: Mode): Promise<Client> => connectAgent(origin, key, mode);

const sends = async (): Promise<number> => {
  const { body } = await partner.call('GET', '/messages?limit=200');
  return body.messages.length as number;
};

describe.each<Mode>(['auto', 'legacy'])('a client that negotiates %s', (mode) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(partner.partner_key, mode);
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

describe('access', () => {
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
    const listing = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const key = { 'x-partner-key': body.secret as string };
    expect((await callRest(origin, 'POST', '/mcp', listing, key)).status).toBe(401);
  });
});
