// Message content on the whole mesh: media, interactive messages, quotes on all five paths,
// reactions and read receipts.
import { parseExact } from '@bmg/common/json';
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
const CARD = {
  phones: [{ phone: '+1 555-010-0999', type: 'WORK', wa_id: '15550100999' }],
  name: { formatted_name: 'Bo Berg', first_name: 'Bo' },
  emails: [{ email: 'bo@example.org' }],
  urls: [{ url: 'https://example.org' }],
  addresses: [{ street: '1 Example Street', city: 'Berlin' }],
  org: { company: 'Green Shop', title: 'Florist' },
  birthday: '1990-02-28',
};

describe('media', () => {
  test.each<[string, string, () => object]>([
    ['an image by id with a caption', 'image', () => ({ id: image_id, caption: 'Look' })],
    ['an image by link', 'image', () => ({ link: `${LINK}.jpg` })],
    ['a video by link with a caption', 'video', () => ({ link: `${LINK}.mp4`, caption: 'Look' })],
    ['a voice note as audio', 'audio', () => ({ id: voice_id })],
    [
      'a document with a file name',
      'document',
      () => ({ link: `${LINK}.pdf`, filename: 'Invoice 17.pdf', caption: 'Yours' }),
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
  // Keys in an unusual order, which must survive.
  const button = {
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
  const list = {
    type: 'list',
    body: { text: 'Which?' },
    action: {
      sections: [{ rows: [{ title: 'Red', id: 'r', description: 'a red one' }], title: 'Colours' }],
      button: 'Choose',
    },
  };
  const product = {
    action: { product_retailer_id: 'sku-1', catalog_id: '1234' },
    type: 'product',
    body: { text: 'This one' },
  };

  test.each([
    ['button', button],
    ['list', list],
    ['product', product],
  ])('of type %s is passed on unchanged, in the same key order', async (_type, interactive) => {
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
  const paths: Array<[string, object]> = [
    ['/messages/send', { text: 'Hello' }],
    ['/messages/template', { template: { name: 'hello_world', language: 'en_US' } }],
    ['/messages/media', { type: 'image', media: { link: `${LINK}.jpg` } }],
    [
      '/messages/interactive',
      {
        interactive: {
          type: 'button',
          body: { text: 'Shall we?' },
          action: { buttons: [{ type: 'reply', reply: { id: 'y', title: 'Yes' } }] },
        },
      },
    ],
    ['/messages/location', { latitude: 1.5, longitude: -2.25, name: 'Here', address: 'There' }],
    ['/messages/contacts', { contacts: [CARD] }],
  ];
  const quotes = [
    { context: { message_id: QUOTED } },
    { context_message_id: QUOTED },
    { reply_to: QUOTED },
  ];

  test.each(paths)('is sent by %s with each of its aliases', async (path, body) => {
    for (const quote of quotes) {
      const answer = await post(path, { ...body, ...quote });
      expect([answer.status, answer.body.error]).toEqual([200, undefined]);
      expect((await lastSent())['context']).toEqual({ message_id: QUOTED });
    }
    expect((await post(path, body)).status).toBe(200);
    expect(await lastSent()).not.toHaveProperty('context');
  });
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

  test('a reaction with a quote is refused', async () => {
    const { status } = await post('/messages/reaction', {
      message_id,
      emoji: '👍',
      reply_to: QUOTED,
    });
    expect(status).toBe(200);
    expect(await lastSent()).not.toHaveProperty('context');
  });

  test('a read receipt names the message and no recipient', async () => {
    const { status, body } = await partner.call(
      'POST',
      '/messages/read',
      { message_id },
      { 'x-waba-id': ONE.waba_id },
    );
    expect([status, body.success]).toEqual([200, true]);
    const asked = (await mesh.emulator.requests({ path: '/messages$' })).at(-1);
    expect(asked?.body).toEqual({ messaging_product: 'whatsapp', status: 'read', message_id });
  });

  test('a read receipt can show that a reply is being written', async () => {
    const { status, headers } = await partner.call(
      'POST',
      '/messages/read',
      { message_id, typing_indicator: { type: 'text' } },
      { 'x-waba-id': ONE.waba_id },
    );
    expect([status, headers.get('x-service-ignored')]).toEqual([200, null]);
    const asked = await mesh.emulator.requests({ path: '/messages$' });
    expect(asked.at(-1)?.body).toMatchObject({
      status: 'read',
      typing_indicator: { type: 'text' },
    });
  });
});
