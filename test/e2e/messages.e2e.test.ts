// Messages on the whole mesh: the registration of a number, what each kind of message sends to the
// upstream, recipients, quotes, and the statuses of a send.
import { parseExact } from '@bmg/common/json';
import { endpoints } from '../../gateway/src/endpoints';
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/shared-mesh';
import { useMesh, usePartner } from './use-mesh';

const ADA = '15550100777';
const BSUID = 'US.4Qm7Zr81Kd02';
const QUOTED = 'wamid.HBgLMTU1NTAxMDA3NzcVAgA';

const mesh = useMesh();
const partner = usePartner(mesh, []);

beforeAll(() => mesh.emulator.limits({ rate_per_sec: 'off' }));

const post = (path: string, body: object) =>
  partner.call('POST', path, body, { 'x-waba-id': ONE.waba_id });
/** The newest message that the upstream has accepted. */
const lastSent = async () => (await mesh.emulator.messages()).at(-1);
/** The body of the newest message, which the upstream accepts. */
async function sent(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await post(path, body);
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  return (await lastSent())?.body as Record<string, unknown>;
}

test('a registration returns the client without its token, subscribes the account and requests the sync, once', async () => {
  const { status, body } = await partner.register(ONE);
  expect(status).toBe(201);
  expect(body).toMatchObject({
    success: true,
    client: {
      waba_id: ONE.waba_id,
      phone_number_id: ONE.phone_number_id,
      phone_number: '15550100001',
      status: 'active',
      tier: 'STANDARD',
      quality_rating: 'GREEN',
      connection_mode: 'coexistence',
    },
    coexistence_sync: { smb_app_state_sync: 'requested', history: 'requested' },
  });
  expect(JSON.stringify(body)).not.toContain(ONE.access_token);
  const again = await post('/clients/register', { ...ONE, display_name: 'Renamed' });
  expect([again.status, again.body.client.display_name]).toEqual([200, 'Renamed']);
  expect((await partner.call('GET', '/clients')).body.total).toBe(1);
  const paths = (await mesh.emulator.requests({ method: 'POST' })).map(({ path }) => path);
  expect(paths.filter((path) => path.endsWith('/smb_app_data'))).toHaveLength(2);
});

test('a send returns the message ID, and its statuses arrive in order', async () => {
  const { body } = await post('/messages/send', { to: '+1 555-010-0777', text: 'Hello' });
  const { message_id } = body;
  expect(body).toEqual({
    success: true,
    message_id: expect.stringMatching(/^wamid\./),
    messages: [{ id: message_id }],
    contacts: [{ input: ADA, wa_id: ADA }],
    timeline_url: `${mesh.base_url}/messages/${encodeURIComponent(message_id)}/timeline`,
  });
  const mine = () =>
    partner.receiver.arrivals.filter((one) => one.body.data['message_id'] === message_id);
  await eventually(() => mine().length === 3);
  expect(mine().map((one) => one.body.event)).toEqual([
    'message.sent',
    'message.delivered',
    'message.read',
  ]);
  expect(mine()[0]?.body).toMatchObject({
    waba_id: ONE.waba_id,
    phone_number_id: ONE.phone_number_id,
    data: { recipient: ADA, pricing: { pricing_model: 'PMP' } },
    meta: {
      api_version: '2.9.2',
      notices: [{ severity: 'action_required' }, { severity: 'info' }],
    },
  });
});

test.each([
  ['a BSUID in to', { to: BSUID }, { recipient: BSUID }],
  ['a prefixed BSUID', { to: `whatsapp:${BSUID}` }, { recipient: BSUID }],
  ['user_id', { user_id: BSUID }, { recipient: BSUID }],
  ['its alias recipient', { recipient: BSUID }, { recipient: BSUID }],
  ['a phone beside a BSUID, where the phone wins', { to: ADA, user_id: BSUID }, { to: ADA }],
])('a send accepts the recipient as %s', async (_name, recipient, address) => {
  const { body } = await post('/messages/send', { ...recipient, text: 'Hello' });
  const to = (await lastSent())?.body as object;
  expect(to).toMatchObject(address);
  expect('to' in to && 'recipient' in to).toBe(false);
  const [contact] = body.contacts;
  if ('to' in address) expect(contact).toHaveProperty('wa_id');
  else expect(contact).toEqual({ input: BSUID, user_id: BSUID });
});

test('a template wraps the language, and an ordinary message_status is dropped', async () => {
  const parameters = ['Ada', 'A-17'].map((text) => ({ type: 'text', text }));
  const components = [{ type: 'body', parameters }];
  const template = { name: 'order_update', language: 'en_US', components };
  const { body } = await post('/messages/template', { to: ADA, template });
  expect(body).toHaveProperty('message_id');
  expect(body).not.toHaveProperty('message_status');
  const language = { code: 'en_US' };
  expect((await lastSent())?.body.template).toEqual({ ...template, language });
});

const LINK = 'https://files.example.org/a';
test.each<[string, object | string]>([
  ['image', 'image/jpeg'],
  ['audio', 'audio/ogg'],
  ['video', { link: `${LINK}.mp4`, caption: 'Look' }],
  ['document', { link: `${LINK}.pdf`, filename: 'Invoice 17.pdf' }],
  ['sticker', { link: `${LINK}.webp` }],
])('media of type %s is sent unchanged', async (type, given) => {
  const { phone_number_id } = ONE;
  const stored = async (mime_type: string) =>
    (await mesh.emulator.media({ phone_number_id, mime_type })).id;
  const media = typeof given === 'string' ? { id: await stored(given) } : given;
  expect(await sent('/messages/media', { to: ADA, type, media })).toMatchObject({
    type,
    [type]: media,
  });
});

test('an unknown key of media is passed on, and the upstream’s refusal is returned', async () => {
  const media = { link: `${LINK}.jpg`, colour: 'red' };
  const { status, body } = await post('/messages/media', { to: ADA, type: 'image', media });
  expect([status, body.error.upstream_code]).toEqual([502, 100]);
  expect(JSON.stringify(body.error.details)).toContain('colour');
  const asked = (await mesh.emulator.requests({ path: '/messages$' })).at(-1);
  expect(asked?.body.image).toEqual(media);
});

test('an interactive message is passed on byte for byte: its order of keys, and each digit', async () => {
  // Keys in an unusual order, and integers beyond 2^53.
  const text =
    '{"footer":{"text":"Green Shop"},"type":"flow","action":{"parameters":' +
    '{"flow_message_version":"3","flow_id":122097329108006499,"flow_cta":"Go","flow_token":"t",' +
    '"flow_action":"navigate","flow_action_payload":' +
    '{"screen":"A","data":{"order_no":9007199254740993}}},"name":"flow"},"body":{"text":"Book"}}';
  await sent('/messages/interactive', { to: ADA, interactive: parseExact(text) });
  expect((await lastSent())?.raw).toContain(text);
});

describe('a quoted reply', () => {
  const rows = endpoints.filter(
    ({ path, body }) => path !== '/messages/check' && body?.properties?.['reply_to'],
  );
  const quotes = [
    { context: { message_id: QUOTED } },
    { context_message_id: QUOTED },
    { reply_to: QUOTED },
  ];

  test.each(rows.map((row) => [row.path, row] as const))(
    'is sent by %s with each of its aliases',
    async (path, { example }) => {
      const message = { ...example, to: ADA };
      for (const quote of quotes) {
        const { context } = await sent(path, { ...message, ...quote });
        expect(context).toEqual({ message_id: QUOTED });
      }
      expect(await sent(path, message)).not.toHaveProperty('context');
    },
  );

  test('is possible on six paths', () => expect(rows).toHaveLength(6));
});

describe('a response to a customer’s message', () => {
  let message_id: string;
  beforeAll(async () => {
    const inbound = { phone_number_id: ONE.phone_number_id, from: ADA, text: 'Hi', force: true };
    message_id = (await mesh.emulator.inbound(inbound)).message_id;
  });

  test.each(['👍', ''])('a reaction has its emoji "%s", and no quote', async (emoji) => {
    const given = { to: ADA, message_id, emoji, reply_to: QUOTED };
    const body = await sent('/messages/reaction', given);
    expect(body).toMatchObject({ type: 'reaction', reaction: { message_id, emoji } });
    expect(body).not.toHaveProperty('context');
  });

  test.each([
    ['names the message and no recipient', {}],
    ['can show that a reply is being written', { typing_indicator: { type: 'text' } }],
  ])('a read receipt %s', async (_what, more) => {
    const { body, headers } = await post('/messages/read', { message_id, ...more });
    expect([body.success, headers.get('x-service-ignored')]).toEqual([true, null]);
    const asked = (await mesh.emulator.requests({ path: '/messages$' })).at(-1);
    const receipt = { messaging_product: 'whatsapp', status: 'read', message_id };
    expect(asked?.body).toEqual({ ...receipt, ...more });
  });
});
