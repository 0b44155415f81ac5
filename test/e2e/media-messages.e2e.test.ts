// Message content on the whole mesh: media, interactive messages, quotes on all six paths,
// reactions and read receipts.
import { parseExact } from '@bmg/common/json';
import { endpoints } from '../../gateway/src/endpoints';
import { ONE } from '../harness/shared-mesh';
import { useMesh, usePartner } from './use-mesh';

const ADA = '15550100777';
const QUOTED = 'wamid.HBgLMTU1NTAxMDA3NzcVAgA';

const mesh = useMesh();
const partner = usePartner(mesh);
let image_id: string;
let voice_id: string;

beforeAll(async () => {
  await mesh.emulator.limits({ rate_per_sec: 'off' });
  const { phone_number_id } = ONE;
  image_id = (await mesh.emulator.media({ phone_number_id, mime_type: 'image/jpeg' })).id;
  voice_id = (await mesh.emulator.media({ phone_number_id, mime_type: 'audio/ogg' })).id;
});

const post = (path: string, body: object) =>
  partner.call('POST', path, { to: ADA, ...body }, { 'x-waba-id': ONE.waba_id });
/** The raw request body, with keys in their original order. */
const lastSent = async () =>
  (await mesh.emulator.messages()).at(-1)?.body as Record<string, unknown>;

const LINK = 'https://files.example.org/a';
describe('media', () => {
  test.each<[string, string, () => object]>([
    ['an image by id with a caption', 'image', () => ({ id: image_id, caption: 'Look' })],
    ['a video by link', 'video', () => ({ link: `${LINK}.mp4` })],
    ['a voice note as audio', 'audio', () => ({ id: voice_id })],
    [
      'a document with a file name',
      'document',
      () => ({ link: `${LINK}.pdf`, filename: 'Invoice 17.pdf' }),
    ],
    ['a sticker', 'sticker', () => ({ link: `${LINK}.webp` })],
  ])('%s is sent unchanged', async (_what, type, media) => {
    const answer = await post('/messages/media', { type, media: media() });
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    expect(await lastSent()).toMatchObject({ type, [type]: media() });
  });

  test('an unknown key is passed on, and the upstream’s refusal is returned', async () => {
    const media = { link: `${LINK}.jpg`, colour: 'red' };
    const { status, body } = await post('/messages/media', { type: 'image', media });
    expect([status, body.error.upstream_code]).toEqual([502, 100]);
    expect(JSON.stringify(body.error.details)).toContain('colour');
    const asked = (await mesh.emulator.requests({ path: '/messages$' })).at(-1);
    expect(asked?.body.image).toEqual(media);
  });
});

describe('an interactive message', () => {
  test('is passed on unchanged, in the same key order', async () => {
    // Keys in an unusual order, which must survive.
    const interactive = {
      footer: { text: 'Green Shop' },
      type: 'button',
      action: {
        buttons: [
          { reply: { title: 'Yes', id: 'y' }, type: 'reply' },
          { type: 'reply', reply: { id: 'n', title: 'No' } },
        ],
      },
      body: { text: 'Shall we?' },
    };
    const answer = await post('/messages/interactive', { interactive });
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    expect(JSON.stringify((await lastSent())['interactive'])).toBe(JSON.stringify(interactive));
  });

  test('is passed on with every digit of integers beyond 2^53', async () => {
    const text =
      '{"type":"flow","body":{"text":"Book"},"action":{"name":"flow","parameters":' +
      '{"flow_message_version":"3","flow_id":122097329108006499,"flow_cta":"Go","flow_token":"t",' +
      '"flow_action":"navigate","flow_action_payload":' +
      '{"screen":"A","data":{"order_no":9007199254740993}}}}}';
    const answer = await post('/messages/interactive', { interactive: parseExact(text) });
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    expect((await mesh.emulator.messages()).at(-1)?.raw).toContain(text);
  });
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
      for (const quote of quotes) {
        const answer = await post(path, { ...example, ...quote });
        expect([answer.status, answer.body.error]).toEqual([200, undefined]);
        expect((await lastSent())['context']).toEqual({ message_id: QUOTED });
      }
      expect((await post(path, { ...example })).status).toBe(200);
      expect(await lastSent()).not.toHaveProperty('context');
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

  test.each([
    ['sets', '👍'],
    ['removes, when it is empty,', ''],
  ])('a reaction %s its emoji', async (_what, emoji) => {
    const { status } = await post('/messages/reaction', { message_id, emoji });
    expect(status).toBe(200);
    expect(await lastSent()).toMatchObject({ type: 'reaction', reaction: { message_id, emoji } });
  });

  test('a reaction with a quote goes out without it', async () => {
    const reaction = { message_id, emoji: '👍', reply_to: QUOTED };
    expect((await post('/messages/reaction', reaction)).status).toBe(200);
    expect(await lastSent()).not.toHaveProperty('context');
  });

  test.each([
    ['names the message and no recipient', {}],
    ['can show that a reply is being written', { typing_indicator: { type: 'text' } }],
  ])('a read receipt %s', async (_what, more) => {
    const { body, headers } = await partner.call(
      'POST',
      '/messages/read',
      { message_id, ...more },
      { 'x-waba-id': ONE.waba_id },
    );
    expect([body.success, headers.get('x-service-ignored')]).toEqual([true, null]);
    const asked = (await mesh.emulator.requests({ path: '/messages$' })).at(-1);
    const receipt = { messaging_product: 'whatsapp', status: 'read', message_id };
    expect(asked?.body).toEqual({ ...receipt, ...more });
  });
});
