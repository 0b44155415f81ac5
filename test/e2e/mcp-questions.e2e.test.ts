// Elicitation: a client of the MCP server that can ask its user shows what a send would cost, and
// the reply decides.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeBlocks } from '../contract/receiving/page';
import { ONE } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { callTool as call, closeAgents, connectAgent, type Mode, type User } from './mcp-support';
import { loadSampleRates, removeRates } from './rates-support';
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh, [ONE], { rate_limit_per_sec: 1_000 });
const { waba_id, phone_number_id } = ONE;
const GUIDE = resolve(__dirname, '../../gateway/docs/guides/agents.md');
const TO = '15550100779';
const given = { waba_id, to: TO, text: 'Hello from a question' };
const accept: User = () => 'accept';

beforeAll(async () => {
  await loadSampleRates(mesh);
});
afterAll(async () => {
  await closeAgents();
  await removeRates(mesh);
});

const origin = (): string => new URL(mesh.base_url).origin;
const connect = (user: User, mode?: Mode) =>
  connectAgent(origin(), partner.partner_key, mode, user);

const sends = async (): Promise<number> => {
  const { body } = await partner.call('GET', '/messages?limit=200');
  return body.messages.length as number;
};

test('shows recipients and cost, and sends if the user accepts', async () => {
  const before = await sends();
  const questions: string[] = [];
  const client = await connect((question) => {
    questions.push(question);
    return 'accept';
  });
  const sent = await call(client, 'send_text', given);
  expect(sent).toMatchObject({ is_error: false, body: { message_id: expect.any(String) } });
  expect(questions).toEqual([expect.stringMatching(/^Send a text\?\n/)]);
  expect(questions[0]).toMatch(/^Recipients: 1\nCost: .*\(service\)/m);
  expect(questions[0]).toContain(given.text);
  await eventually(async () => (await sends()) === before + 1);
});

test('of an earlier revision confirms by a second call: a question needs a session', async () => {
  const client = await connect(accept, 'legacy');
  const { body } = await call(client, 'send_text', given);
  expect(body).toMatchObject({ sent: false, confirmation: expect.any(String) });
});

test('the guide shows the question and the first answer as they are', async () => {
  const message = { waba_id, to: '15550100777', text: 'Your order is on its way.' };
  await mesh.emulator.inbound({ phone_number_id, from: message.to, text: 'Where is my order?' });
  let question = '';
  const asking = await connect((text) => {
    question = text;
    return 'decline';
  });
  await eventually(async () => {
    await call(asking, 'send_text', message);
    return /Cost: [\d.]+ USD/.test(question) && !question.includes('not known');
  });
  const guide = readFileSync(GUIDE, 'utf8');
  const shown = (text: string): string => text.replaceAll(waba_id, '900000000000001');
  const [sample = ''] = codeBlocks(guide, 'text');
  expect(shown(question)).toBe(sample.trim());

  const plain = await connectAgent(origin(), partner.partner_key);
  const { body } = await call(plain, 'send_text', message);
  const [, answer = ''] = codeBlocks(guide, 'json');
  expect(timeless(shown(JSON.stringify(body)))).toEqual(timeless(answer));
});

/** Removes the values that differ from call to call. */
const timeless = (json: string): unknown =>
  JSON.parse(json, (key, value: unknown) =>
    key === 'confirmation' || /^\d{4}-\d\d-\d\dT/.test(String(value)) ? key : value,
  );
