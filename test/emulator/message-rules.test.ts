import {
  aTemplate,
  apiOf,
  bodyOf,
  ONE,
  startWorld,
  type Any,
  type Api,
  type World,
} from './test-support';

let world: World;
let api: Api;
beforeAll(async () => {
  world = await startWorld();
  api = apiOf(world.emulator, ONE.token);
  await world.emulator.limits({ rate_per_sec: 'off' });
});
afterAll(() => world.close());

const send = (body: Any) => api('POST', `/${ONE.number}/messages`, body);
const code = async (body: Any) => (await send(body)).body.error?.code ?? 200;

describe('a template send', () => {
  it('answers accepted, and held for quality when it is paced', async () => {
    const { body } = await send(aTemplate('hello_world'));
    expect(body.messages[0].message_status).toBe('accepted');
    const paced = await send(aTemplate('offer_paced'));
    expect(paced.body.messages[0].message_status).toBe('held_for_quality_assessment');
  });

  const otp = [
    bodyOf('123456'),
    { type: 'button', sub_type: 'url', index: 0, parameters: [{ type: 'text', text: '123456' }] },
  ];

  it.each<[number, string, Any]>([
    [132001, 'an unknown name', aTemplate('nothing')],
    [
      132001,
      'another language',
      aTemplate('order_update', [], {
        template: { name: 'order_update', language: { code: 'fr' } },
      }),
    ],
    [132001, 'one that is not approved', aTemplate('review_pending')],
    [132015, 'a paused one', aTemplate('sale_paused')],
    [100, 'a line break', aTemplate('order_update', [bodyOf('Hello Ada,\nyour order', 'A-17')])],
    [132000, 'too few parameters', aTemplate('order_update', [bodyOf('Ada')])],
    [132000, 'too many parameters', aTemplate('hello_world', [bodyOf('Ada')])],
    [132012, 'missing names', aTemplate('welcome_named', [bodyOf('a', 'b')])],
    [
      100,
      'a language that is a text',
      { ...aTemplate('hello_world'), template: { name: 'hello_world', language: 'en_US' } },
    ],
    [131008, 'no language', { ...aTemplate('hello_world'), template: { name: 'hello_world' } }],
    [
      132005,
      'a text that gets too long',
      aTemplate('order_update', [bodyOf('x'.repeat(1024), 'y')]),
    ],
    [
      131062,
      'a code to a business-scoped id',
      aTemplate('login_code', otp, { to: undefined, recipient: 'US.4Qm7Zr81Kd02' }),
    ],
    [131008, 'a code without its button', aTemplate('login_code', otp.slice(0, 1))],
  ])('gives %i for %s', async (expected, _why, body) => {
    expect(await code(body)).toBe(expected);
  });

  it('gives 404 for an unknown template and sends a code to a phone', async () => {
    expect((await send(aTemplate('nothing'))).status).toBe(404);
    expect(await code(aTemplate('login_code', otp))).toBe(200);
  });
});

describe('an interactive send', () => {
  const interactive = (content: Any) => ({
    messaging_product: 'whatsapp',
    to: '15550100777',
    type: 'interactive',
    interactive: { body: { text: 'Choose' }, ...content },
  });
  const button = (id: string) => ({ type: 'reply', reply: { id, title: id } });
  const buttons = (count: number) =>
    interactive({
      type: 'button',
      action: { buttons: Array.from({ length: count }, (_, i) => button(`b${i}`)) },
    });
  const list = (...sections: number[]) =>
    interactive({
      type: 'list',
      action: {
        button: 'Open',
        sections: sections.map((rows, s) => ({
          title: `S${s}`,
          rows: Array.from({ length: rows }, (_, r) => ({ id: `r${s}.${r}`, title: 'Row' })),
        })),
      },
    });

  it.each<[number, string, Any]>([
    [200, 'three buttons', buttons(3)],
    [131009, 'four buttons', buttons(4)],
    [
      131009,
      'buttons with the same id',
      interactive({ type: 'button', action: { buttons: [button('a'), button('a')] } }),
    ],
    [200, 'ten rows', list(5, 5)],
    [131009, 'ten rows in each of two sections', list(10, 10)],
    [131009, 'an unknown kind', interactive({ type: 'dance', action: {} })],
    [131008, 'no action', interactive({ type: 'button' })],
    [
      131008,
      'no body',
      { ...buttons(1), interactive: { type: 'button', action: { buttons: [button('a')] } } },
    ],
    [
      200,
      'a link',
      interactive({
        type: 'cta_url',
        action: {
          name: 'cta_url',
          parameters: { display_text: 'Open', url: 'https://example.org' },
        },
      }),
    ],
    [
      200,
      'a product without body',
      interactive({
        type: 'product',
        body: undefined,
        action: { catalog_id: '1', product_retailer_id: 's' },
      }),
    ],
    [
      131008,
      'a product list without header',
      interactive({
        type: 'product_list',
        action: { catalog_id: '1', sections: [{ product_items: [{ product_retailer_id: 's' }] }] },
      }),
    ],
    [
      200,
      'a catalog',
      interactive({ type: 'catalog_message', action: { name: 'catalog_message' } }),
    ],
    [
      200,
      'a location request',
      interactive({ type: 'location_request_message', action: { name: 'send_location' } }),
    ],
    [
      100,
      'a header with a foreign key',
      interactive({
        type: 'button',
        header: { type: 'image', image: { link: 'https://x.org/a', foo: 1 } },
        action: { buttons: [button('a')] },
      }),
    ],
  ])('gives %i for %s', async (expected, _why, body) => {
    expect(await code(body)).toBe(expected);
  });
});
