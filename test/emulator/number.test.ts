import { apiOf, ONE, startWorld, THREE, TWO, type Any, type Api, type World } from './test-support';

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

  it('goes from pending to connected by PIN and registration', async () => {
    expect((await two('POST', `/${TWO.pending_number}`, { pin: '123456' })).body).toEqual({
      success: true,
    });
    expect((await register('123456')).body).toEqual({ success: true });
    const { body } = await two(
      'GET',
      `/${TWO.pending_number}?fields=status,platform_type,is_pin_enabled`,
    );
    expect(body).toMatchObject({
      status: 'CONNECTED',
      platform_type: 'CLOUD_API',
      is_pin_enabled: true,
    });
  });

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

  it('verifies a number by code', async () => {
    const three = apiOf(world.emulator, THREE.token);
    const path = `/${THREE.unverified_number}`;
    const early = await three('POST', `${path}/register`, { ...PRODUCT, pin: '123456' });
    expect(early.body.error.code).toBe(133006);
    const request = { code_method: 'SMS', language: 'en_US' };
    expect((await three('POST', `${path}/request_code`, {})).body.error.code).toBe(100);
    expect((await three('POST', `${path}/request_code`, request)).body).toEqual({ success: true });
    expect((await three('POST', `${path}/verify_code`, { code: '1' })).body.error.code).toBe(100);
    expect((await three('POST', `${path}/verify_code`, { code: '123456' })).body).toEqual({
      success: true,
    });
    expect((await three('GET', `${path}?fields=code_verification_status`)).body).toMatchObject({
      code_verification_status: 'VERIFIED',
    });
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
  it('changes only the fields sent and omits empty ones', async () => {
    const path = `/${ONE.number}/whatsapp_business_profile`;
    const fields = '?fields=about,address,email,websites,vertical';
    await api('POST', path, { ...PRODUCT, address: '1 Example Street', about: 'Trees' });
    expect((await api('GET', path + fields)).body.data).toEqual([
      {
        messaging_product: 'whatsapp',
        about: 'Trees',
        address: '1 Example Street',
        email: 'hi@example.org',
        websites: ['https://example.org/'],
      },
    ]);
    await api('POST', path, { ...PRODUCT, email: '' });
    expect((await api('GET', path + fields)).body.data[0].email).toBeUndefined();
  });

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

  it('are created, changed, listed newest first, and deleted', async () => {
    const made = await api('POST', path, { prefilled_message: 'Hi', generate_qr_image: 'PNG' });
    expect(made.body).toEqual({
      code: expect.stringMatching(/^[A-Z2-7]{14}$/),
      prefilled_message: 'Hi',
      deep_link_url: expect.stringContaining(made.body.code),
      qr_image_url: expect.any(String),
    });
    const second = await api('POST', path, { prefilled_message: 'Second' });
    expect(second.body.qr_image_url).toBeUndefined();
    const changed = await api('POST', path, { code: made.body.code, prefilled_message: 'Hello' });
    expect(changed.body).toMatchObject({ code: made.body.code, prefilled_message: 'Hello' });
    expect(changed.body.qr_image_url).toBeUndefined();
    const list = await api('GET', `${path}?fields=code,qr_image_url.format(SVG)`);
    expect(list.body.data.map(({ code }: Any) => code)).toEqual([second.body.code, made.body.code]);
    expect(list.body.data[0].qr_image_url).toContain('.svg');
    expect((await api('GET', `${path}/${made.body.code}`)).body.data).toHaveLength(1);
    expect((await api('DELETE', `${path}/${made.body.code}`)).body).toEqual({ success: true });
    expect((await api('GET', path)).body.data).toHaveLength(1);
    expect((await api('DELETE', `${path}/${made.body.code}`)).body.error.code).toBe(100);
  });

  it('are listed at most 25 at a time', async () => {
    for (let i = 0; i < 27; i += 1) await api('POST', path, { prefilled_message: `m${i}` });
    const { body } = await api('GET', `${path}?limit=100`);
    expect(body.data).toHaveLength(25);
    const rest = await api('GET', `${path}?limit=100&after=${body.paging.cursors.after}`);
    expect(rest.body.data).toHaveLength(2);
  });
});

describe('conversational automation, commerce and settings', () => {
  it('keep the fields not sent', async () => {
    const read = () => api('GET', `/${ONE.number}?fields=conversational_automation`);
    expect((await read()).body).toEqual({ conversational_automation: {}, id: ONE.number });
    const path = `/${ONE.number}/conversational_automation`;
    await api('POST', path, { prompts: ['Hours?'] });
    await api('POST', path, { enable_welcome_message: true });
    expect((await read()).body.conversational_automation).toEqual({
      prompts: ['Hours?'],
      enable_welcome_message: true,
    });
    expect((await api('POST', path, { prompts: Array(5).fill('x') })).body.error.code).toBe(100);
    const slash = [{ command_name: '/a', command_description: 'b' }];
    expect((await api('POST', path, { commands: slash })).body.error.code).toBe(100);
  });

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

  it('lists blocked users, drops their messages, and unblocks them', async () => {
    await world.emulator.inbound({ phone_number_id: ONE.number, from: '15550100777' });
    const { status, body } = await api('POST', path, users('US.4Qm7Zr81Kd02'));
    expect(status).toBe(200);
    expect(body.block_users.added_users).toEqual([
      { input: 'US.4Qm7Zr81Kd02', user_id: 'US.4Qm7Zr81Kd02' },
    ]);
    expect((await api('GET', path)).body.data).toEqual([
      { messaging_product: 'whatsapp', wa_id: '15550100777', user_id: 'US.4Qm7Zr81Kd02' },
    ]);
    const inbound = await world.emulator.inbound({ phone_number_id: ONE.number });
    expect(inbound).toMatchObject({ delivered: false, reason: 'blocked' });
    const freed = await api('DELETE', path, users('15550100777'));
    expect(freed.body.block_users.removed_users).toHaveLength(1);
    expect((await api('GET', path)).body).toEqual({ data: [] });
  });

  it('refuses malformed requests', async () => {
    expect((await api('POST', path, PRODUCT)).body.error.code).toBe(100);
    expect((await api('POST', path, users('US.ENT.9Pt3Lw66Ha10'))).body.error.code).toBe(100);
  });
});
