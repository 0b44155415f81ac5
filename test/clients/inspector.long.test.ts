// The official inspector of MCP servers, as a program on a command line. It comes from its
// registry, once for this machine (gateway/clients/tools.mjs).
import { joinMesh, ONE, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { lacks, run, tool } from './commands';

const { waba_id } = ONE;

let mesh: Mesh;
let partner: TestPartner;
beforeAll(async () => {
  mesh = await joinMesh();
  partner = await mesh.createPartner();
  await partner.register(ONE);
});
afterAll(() => mesh.stop());

/** Runs one method of the protocol and returns its result. */
async function inspect(method: string, ...args: string[]) {
  const url = `${new URL(mesh.base_url).origin}/mcp`;
  const key = ['--header', `Authorization: Bearer ${partner.partner_key}`];
  const inspector = await tool('inspector');
  const command = ['--cli', url, '--transport', 'http', ...key, '--method', method, ...args];
  return JSON.parse(await run([...inspector, ...command], __dirname));
}

const call = async (name: string, given: Record<string, string>) => {
  const args = Object.entries(given).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`]);
  const { content } = await inspect('tools/call', '--tool-name', name, ...args);
  return JSON.parse(content[0].text);
};

(lacks('The inspector', ['npm']) ? describe.skip : describe)('the inspector', () => {
  test('finds every tool, with schemas that other programs can read, and every guide', async () => {
    const { tools } = await inspect('tools/list', '--strict');
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['list_numbers', 'check_message', 'send_text', 'get_timeline']),
    );
    const { resources } = await inspect('resources/list');
    const guide = resources.find(({ name }: { name: string }) => name === 'agents');
    const { contents } = await inspect('resources/read', '--uri', guide.uri);
    expect(contents[0].text).toContain('# Agents and tools');
  });

  test('reads and sends with a confirmation', async () => {
    expect((await call('list_numbers', {})).clients).toMatchObject([{ waba_id }]);
    const message = { waba_id, to: '15550100781', text: 'Hello' };
    const { sent, confirmation } = await call('send_text', message);
    expect([sent, confirmation]).toEqual([false, expect.any(String)]);
    const { message_id } = await call('send_text', { ...message, confirmation });
    expect(message_id).toMatch(/^wamid\./);
    const messages = await mesh.emulator.messages({ to: message.to });
    expect(messages.map(({ id }: { id: string }) => id)).toEqual([message_id]);
  });
});
