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

describe('an accepted send', () => {
  it('answers with input, wa_id and an id', async () => {
    const { status, body } = await send(aText('+1 (555) 010-0777'));
    expect(status).toBe(200);
    expect(body).toEqual({
      messaging_product: 'whatsapp',
      contacts: [{ input: '+1 (555) 010-0777', wa_id: '15550100777' }],
      messages: [{ id: expect.stringMatching(/^wamid\./) }],
    });
  });

  it('to a business-scoped ID has no wa_id; given both, the phone number wins', async () => {
    const recipient = 'US.4Qm7Zr81Kd02';
    const by_id = await send({ ...aText(), to: undefined, recipient });
    expect(by_id.body.contacts).toEqual([{ input: recipient, user_id: recipient }]);
    const by_both = await send(aText('15550100777', { recipient }));
    expect(by_both.body.contacts).toEqual([{ input: '15550100777', wa_id: '15550100777' }]);
  });

  it('is recorded with its body', async () => {
    await world.emulator.clearMessages();
    await send(aText('15550100999', { biz_opaque_callback_data: 'bc:1' }));
    const [message] = await world.emulator.messages({ to: '15550100999' });
    expect(message).toMatchObject({
      phone_number_id: ONE.number,
      wa_id: '15550100999',
      type: 'text',
      biz_opaque_callback_data: 'bc:1',
      body: { text: { body: 'Hello' } },
    });
    expect(await world.emulator.summary()).toMatchObject({ total: 1, distinct_recipients: 1 });
  });

  it.each([
    of('image', { link: 'https://example.org/a.jpg', caption: 'c' }),
    of('video', { link: 'https://example.org/a.mp4' }),
    of('audio', { link: 'https://example.org/a.ogg', voice: true }),
    of('document', { link: 'https://example.org/a.pdf', filename: 'a.pdf' }),
    of('sticker', { link: 'https://example.org/a.webp' }),
    of('location', { latitude: '1.29', longitude: 103.85, name: 'Office' }),
    of('contacts', [{ name: { formatted_name: 'Bo' } }]),
    of('reaction', { message_id: 'wamid.HBgLX', emoji: '' }),
    { messaging_product: 'whatsapp', to: '15550100777', text: { body: 'type is text' } },
    aText('15550100777', { context: { message_id: 'wamid.unknown' } }),
  ])('is every message type: $type', async (body) => {
    expect((await send(body)).status).toBe(200);
  });
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

  it('succeeds, also with a typing indicator', async () => {
    expect((await read()).body).toEqual({ success: true });
    expect((await read({ typing_indicator: { type: 'text' } })).body).toEqual({ success: true });
  });

  it('refuses an invalid ID and one of another number', async () => {
    expect((await read({ message_id: undefined })).body.error.code).toBe(131008);
    expect((await read({ message_id: 'abc' })).body.error.code).toBe(131009);
    const { message_id } = await world.emulator.inbound({ phone_number_id: TWO.number });
    expect((await read({ message_id })).body.error.code).toBe(131005);
  });
});
