import { apiOf, ONE, startWorld, THREE, TWO, type Api, type World } from './test-support';

let world: World;
let api: Api;
let two: Api;
beforeEach(async () => {
  world = await startWorld();
  api = apiOf(world.emulator, ONE.token);
  two = apiOf(world.emulator, TWO.token);
});
afterEach(() => world.close());

const PRODUCT = { messaging_product: 'whatsapp' };

describe('the life cycle of a number', () => {
  const register = (pin: unknown, number = TWO.pending_number) =>
    two('POST', `/${number}/register`, { ...PRODUCT, pin });

  it('checks the PIN', async () => {
    expect((await two('POST', `/${TWO.pending_number}`, { pin: '12345' })).body.error.code).toBe(
      100,
    );
    await two('POST', `/${TWO.pending_number}`, { pin: '123456' });
    expect((await register(undefined)).body.error.code).toBe(100);
    expect((await register('12')).body.error.code).toBe(100);
    for (let i = 0; i < 5; i += 1) expect((await register('000000')).body.error.code).toBe(133005);
    expect((await register('123456')).body.error.code).toBe(133008);
  });

  it('allows ten registrations in three days', async () => {
    for (let i = 0; i < 10; i += 1) expect((await register('111111')).status).toBe(200);
    expect((await register('111111')).body.error.code).toBe(133016);
  });

  it('deregisters a number, but never a coexistence number', async () => {
    const { body } = await two('POST', `/${TWO.cloud_number}/deregister`);
    expect(body).toEqual({ success: true });
    const refused = await api('POST', `/${ONE.number}/deregister`);
    expect(refused.body.error.code).toBe(100);
  });

  it('blocks repeated requests for a code', async () => {
    const three = apiOf(world.emulator, THREE.token);
    const ask = () =>
      three('POST', `/${THREE.unverified_number}/request_code?code_method=VOICE&language=de`);
    for (let i = 0; i < 5; i += 1) expect((await ask()).status).toBe(200);
    expect((await ask()).body.error.code).toBe(100);
  });
});

describe('the business profile', () => {
  it.each([
    [100, { about: 'x' }],
    [131009, { ...PRODUCT, about: 'x'.repeat(140) }],
    [131009, { ...PRODUCT, websites: ['https://a.org', 'https://b.org', 'https://c.org'] }],
    [131009, { ...PRODUCT, websites: ['example.org'] }],
    [100, { ...PRODUCT, vertical: 'UNDEFINED' }],
  ])('refuses with %i: %j', async (code, body) => {
    const answer = await api('POST', `/${ONE.number}/whatsapp_business_profile`, body);
    expect(answer.body.error.code).toBe(code);
  });
});

describe('QR codes', () => {
  const path = `/${ONE.number}/message_qrdls`;

  it('are listed at most 25 at a time', async () => {
    for (let i = 0; i < 27; i += 1) await api('POST', path, { prefilled_message: `m${i}` });
    const { body } = await api('GET', `${path}?limit=100`);
    expect(body.data).toHaveLength(25);
    const rest = await api('GET', `${path}?limit=100&after=${body.paging.cursors.after}`);
    expect(rest.body.data).toHaveLength(2);
  });
});

describe('conversational automation, commerce and settings', () => {
  it('read commerce settings only from the query', async () => {
    const path = `/${ONE.number}/whatsapp_commerce_settings`;
    expect((await api('GET', path)).body).toEqual({ data: [] });
    expect((await api('POST', path, { is_cart_enabled: false })).body.error.code).toBe(100);
    expect((await api('POST', `${path}?is_catalog_visible=true`)).body).toEqual({ success: true });
    expect((await api('GET', path)).body.data[0]).toMatchObject({
      is_cart_enabled: true,
      is_catalog_visible: true,
    });
  });

  it('accept one group of settings at a time', async () => {
    const path = `/${ONE.number}/settings`;
    const calling = { status: 'ENABLED' };
    const storage_configuration = { status: 'NO_STORAGE_ENABLED' };
    expect((await api('POST', path, {})).body.error.code).toBe(100);
    expect((await api('POST', path, { calling, storage_configuration })).body.error.code).toBe(100);
    expect((await api('POST', path, { calling: { status: 'on' } })).body.error.code).toBe(100);
    expect((await api('POST', path, { calling })).body).toEqual({ success: true });
    expect((await api('GET', path)).body).toMatchObject({
      calling: { status: 'ENABLED', call_icon_visibility: 'DEFAULT' },
      storage_configuration: { status: 'DEFAULT' },
    });
  });
});

describe('blocking', () => {
  const users = (...list: string[]) => ({
    ...PRODUCT,
    block_users: list.map((user) => (user.startsWith('US.') ? { user_id: user } : { user })),
  });
  const path = `/${ONE.number}/block_users`;

  it('answers 400 with successes and failures when some users fail', async () => {
    await world.emulator.inbound({ phone_number_id: ONE.number, from: '15550100777' });
    const { status, body } = await api('POST', path, users('+15550100777', '+15550100778'));
    expect(status).toBe(400);
    expect(body.block_users.added_users).toEqual([{ input: '+15550100777', wa_id: '15550100777' }]);
    expect(body.block_users.failed_users[0]).toMatchObject({
      input: '+15550100778',
      wa_id: '15550100778',
      errors: [{ code: 131047, error_data: { details: expect.any(String) } }],
    });
    expect(body.error.code).toBe(139100);
  });

  it('refuses malformed requests', async () => {
    expect((await api('POST', path, PRODUCT)).body.error.code).toBe(100);
    expect((await api('POST', path, users('US.ENT.9Pt3Lw66Ha10'))).body.error.code).toBe(100);
  });
});
