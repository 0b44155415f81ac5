import { aText, apiOf, ONE, startWorld, TWO, type Any, type Api, type World } from './test-support';

let world: World;
let api: Api;
beforeAll(async () => {
  world = await startWorld();
  api = apiOf(world.emulator, ONE.token);
  await world.emulator.limits({ rate_per_sec: 'off' });
});
afterAll(() => world.close());

const send = (body: Any) => api('POST', `/${ONE.number}/messages`, body);
const refused = async (body: Any) => (await send(body)).body.error?.code as number | undefined;
const of = (type: string, content: unknown) => ({
  messaging_product: 'whatsapp',
  to: '15550100777',
  type,
  [type]: content,
});

describe('a refused send', () => {
  it.each<[number, string, Any]>([
    [100, 'no messaging_product', { to: '1', text: { body: 'a' } }],
    [100, 'wrong messaging_product', { ...aText(), messaging_product: 'mail' }],
    [100, 'no recipient', { ...aText(), to: undefined }],
    [131009, 'a phone number that is too short', aText('123')],
    [131026, 'a business-scoped id in to', aText('US.4Qm7Zr81Kd02')],
    [
      131009,
      'a phone number in recipient',
      { ...aText(), to: undefined, recipient: '15550100777' },
    ],
    [131021, 'its own sender', aText('15550100001')],
    [131008, 'no body', of('text', {})],
    [131009, 'a body that is too long', of('text', { body: 'x'.repeat(4097) })],
    [100, 'an unknown type', of('fax', {})],
    [131008, 'no content', { ...aText(), type: 'image' }],
    [131009, 'both id and link', of('image', { id: '1', link: 'https://example.org/' })],
    [131008, 'neither id nor link', of('image', {})],
    [131009, 'an unknown media id', of('image', { id: '1' })],
    [131009, 'a link that is none', of('image', { link: 'ftp://x' })],
    [131009, 'a latitude out of range', of('location', { latitude: 91, longitude: 1 })],
    [131008, 'no longitude', of('location', { latitude: 1 })],
    [131008, 'a reaction without emoji', of('reaction', { message_id: 'wamid.1' })],
    [
      131009,
      'callback data that is too long',
      { ...aText(), biz_opaque_callback_data: 'x'.repeat(513) },
    ],
    [131008, 'a context without id', aText('15550100777', { context: {} })],
    [131041, 'an unknown group', { ...aText('Y2Fw'), recipient_type: 'group' }],
  ])('gives %i for %s', async (code, _why, body) => {
    expect(await refused(body)).toBe(code);
  });

  it('names an unknown key of a media object', async () => {
    const { status, body } = await send(
      of('image', { link: 'https://example.org/a.jpg', filename: 'a.jpg' }),
    );
    expect(status).toBe(400);
    expect(body.error.code).toBe(100);
    expect(body.error.error_data.details).toContain('filename');
  });

  it('gives details in error_data', async () => {
    const { body } = await send(of('text', {}));
    expect(body.error).toMatchObject({
      message: '(#131008) Required parameter is missing',
      type: 'OAuthException',
      error_data: { messaging_product: 'whatsapp', details: expect.stringContaining('text.body') },
    });
  });

  it('from a number that is not registered is 133010', async () => {
    const two = apiOf(world.emulator, TWO.token);
    const { body } = await two('POST', `/${TWO.pending_number}/messages`, aText());
    expect(body.error.code).toBe(133010);
  });
});

describe('a read receipt', () => {
  const read = (more: Any = {}) =>
    send({ messaging_product: 'whatsapp', status: 'read', message_id: 'wamid.X', ...more });

  it('refuses an invalid ID and one of another number', async () => {
    expect((await read({ message_id: undefined })).body.error.code).toBe(131008);
    expect((await read({ message_id: 'abc' })).body.error.code).toBe(131009);
    const { message_id } = await world.emulator.inbound({ phone_number_id: TWO.number });
    expect((await read({ message_id })).body.error.code).toBe(131005);
  });
});
