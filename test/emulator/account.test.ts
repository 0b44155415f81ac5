import { apiOf, ONE, startWorld, THREE, TWO, type Any, type Api, type World } from './test-support';

let world: World;
let api: Api;
let two: Api;
beforeAll(async () => {
  world = await startWorld();
  api = apiOf(world.emulator, ONE.token);
  two = apiOf(world.emulator, TWO.token);
});
afterAll(() => world.close());

describe('the account node', () => {
  it('returns the requested fields', async () => {
    const fields =
      'name,currency,timezone_id,account_review_status,business_verification_status,owner_business_info,message_template_namespace,health_status,ownership_type,is_enabled_for_insights';
    const { body } = await api('GET', `/${ONE.waba}?fields=${fields}`);
    expect(body).toMatchObject({
      id: ONE.waba,
      owner_business_info: { id: '600000000000001' },
      health_status: { can_send_message: 'AVAILABLE' },
      ownership_type: 'CLIENT_OWNED',
    });
    expect(Object.keys(body).sort()).toEqual([...fields.split(','), 'id'].sort());
  });

  it('refuses the request for one field that is not permitted or does not exist', async () => {
    const denied = await api('GET', `/${ONE.waba}?fields=name,primary_funding_id`);
    expect(denied.status).toBe(403);
    expect(denied.body.error.code).toBe(10);
    expect((await api('GET', `/${ONE.waba}?fields=name,colour`)).body.error.code).toBe(100);
  });

  it('counts sent messages, and omits the key when there are none', async () => {
    const now = Math.floor(Date.now() / 1000);
    const field = `analytics.start(${now - 12 * 86_400}).end(${now + 60}).granularity(DAY).phone_numbers([])`;
    expect((await api('GET', `/${ONE.waba}?fields=${field}`)).body).toEqual({ id: ONE.waba });
    const { body } = await two('GET', `/${TWO.waba}?fields=${field}`);
    expect(body.analytics.data_points).toHaveLength(10);
    expect(body.analytics.data_points[0]).toMatchObject({ sent: 12, delivered: 11 });
    expect((await api('GET', `/${ONE.waba}?fields=analytics`)).body.error.code).toBe(100);
  });
});

describe('the numbers of an account', () => {
  it('are returned with the requested fields, page by page', async () => {
    const { body } = await two(
      'GET',
      `/${TWO.waba}/phone_numbers?fields=id,status,throughput&limit=2`,
    );
    expect(body.data).toEqual([
      { id: TWO.number, status: 'CONNECTED', throughput: { level: 'STANDARD' } },
      { id: TWO.cloud_number, status: 'CONNECTED', throughput: { level: 'STANDARD' } },
    ]);
    const { after } = body.paging.cursors;
    const rest = await two('GET', `/${TWO.waba}/phone_numbers?limit=2&after=${after}`);
    expect(rest.body.data.map(({ id }: Any) => id)).toEqual([TWO.pending_number]);
    expect(rest.body.data[0].display_phone_number).toBe('+1 555-010-0004');
    expect(rest.body.paging.next).toBeUndefined();
  });

  it('can be read as nodes', async () => {
    const { body } = await api(
      'GET',
      `/${ONE.number}?fields=is_on_biz_app,platform_type,is_pin_enabled,whatsapp_business_manager_messaging_limit,health_status`,
    );
    expect(body).toMatchObject({
      id: ONE.number,
      is_on_biz_app: true,
      platform_type: 'CLOUD_API',
      is_pin_enabled: false,
      whatsapp_business_manager_messaging_limit: 'TIER_2K',
    });
    await world.emulator.patchNumber(ONE.number, {
      quality_rating: 'RED',
      throughput_level: 'HIGH',
    });
    const changed = await api('GET', `/${ONE.number}?fields=quality_rating,throughput`);
    expect(changed.body).toMatchObject({ quality_rating: 'RED', throughput: { level: 'HIGH' } });
  });
});

describe('the lists of an account', () => {
  it('page through the activities, up to 100 at a time', async () => {
    const path = `/${ONE.waba}/activities`;
    expect((await api('GET', path)).body.data).toHaveLength(25);
    const first = (await api('GET', `${path}?limit=100&fields=id,details`)).body;
    expect(first.data[0]).toEqual({ id: expect.any(String), details: { index: 0 } });
    const rest = (await api('GET', `${path}?limit=100&after=${first.paging.cursors.after}`)).body;
    expect(rest.data).toHaveLength(30);
    expect((await api('GET', `${path}?limit=200`)).body.error.code).toBe(100);
    const since = 1_789_899_330 - 3600;
    expect((await api('GET', `${path}?since=${since}`)).body.data).toHaveLength(2);
  });

  it('require the business for the assigned users', async () => {
    expect((await api('GET', `/${ONE.waba}/assigned_users`)).body.error.code).toBe(100);
    const { body } = await api(
      'GET',
      `/${ONE.waba}/assigned_users?business=600000000000001&fields=id,name,business,user_type,tasks`,
    );
    expect(body.data).toHaveLength(2);
    expect(body.summary.total_count).toBe(2);
  });

  it('show solutions, schedules and flows', async () => {
    expect((await api('GET', `/${ONE.waba}/solutions`)).body.data[0].status).toBe('ACTIVE');
    expect((await api('GET', `/${ONE.waba}/schedules`)).body).toEqual({ data: [] });
    const { body } = await api('GET', `/${ONE.waba}/flows`);
    expect(body.data.map(({ status }: Any) => status)).toEqual(['PUBLISHED', 'DRAFT']);
    const flow = await api('GET', `/${body.data[0].id}?fields=id,json_version,health_status`);
    expect(flow.body).toMatchObject({
      id: '110000000000001',
      json_version: expect.any(String),
      health_status: { can_send_message: 'AVAILABLE' },
    });
  });
});

describe('templates', () => {
  const create = (more: Any = {}) =>
    api('POST', `/${ONE.waba}/message_templates`, {
      name: `made_${Math.random().toString(36).slice(2)}`,
      language: 'en_US',
      category: 'UTILITY',
      components: [{ type: 'BODY', text: 'Hi {{1}}, bye.', example: { body_text: [['Ada']] } }],
      ...more,
    });

  it('page through a long list', async () => {
    const three = apiOf(world.emulator, THREE.token);
    const first = (await three('GET', `/${THREE.waba}/message_templates`)).body;
    expect(first.data).toHaveLength(25);
    const { after } = first.paging.cursors;
    const second = (await three('GET', `/${THREE.waba}/message_templates?after=${after}`)).body;
    expect(second.data).toHaveLength(5);
    expect(second.paging.next).toBeUndefined();
  });

  it('can be filtered', async () => {
    const { body } = await api('GET', `/${ONE.waba}/message_templates?status=PAUSED&fields=name`);
    expect(body.data).toEqual([{ id: expect.any(String), name: 'sale_paused' }]);
  });

  it('are created, listed and deleted with all their languages', async () => {
    const { body } = await create({ name: 'mine' });
    expect(body).toEqual({ id: expect.any(String), status: 'PENDING', category: 'UTILITY' });
    await create({ name: 'mine', language: 'de' });
    const again = await create({ name: 'mine' });
    expect(again.body.error).toMatchObject({
      code: 100,
      error_subcode: 2388024,
      error_user_msg: expect.any(String),
    });
    const path = `/${ONE.waba}/message_templates?name=mine`;
    expect((await api('GET', path)).body.data).toHaveLength(2);
    expect((await api('DELETE', path)).body).toEqual({ success: true });
    expect((await api('GET', path)).body).toEqual({ data: [] });
    expect((await api('DELETE', path)).body.error.code).toBe(100);
  });

  it('are deleted one language at a time by ID', async () => {
    const { body } = await create({ name: 'single' });
    await create({ name: 'single', language: 'de' });
    await api('DELETE', `/${ONE.waba}/message_templates?name=single&hsm_id=${body.id}`);
    const left = await api('GET', `/${ONE.waba}/message_templates?name=single`);
    expect(left.body.data.map(({ language }: Any) => language)).toEqual(['de']);
  });

  it.each<[string, Any]>([
    ['upper case in the name', { name: 'Mine' }],
    ['no language', { language: undefined }],
    ['an unknown category', { category: 'FUN' }],
    ['no components', { components: [] }],
    ['no body', { components: [{ type: 'FOOTER', text: 'x' }] }],
    ['a variable without an example', { components: [{ type: 'BODY', text: 'Hi {{1}}, bye.' }] }],
    [
      'a variable at the end',
      { components: [{ type: 'BODY', text: 'Hi {{1}}', example: { body_text: [['a']] } }] },
    ],
    [
      'names in a positional one',
      { components: [{ type: 'BODY', text: 'Hi {{a}}, bye.', example: { body_text: [['a']] } }] },
    ],
    [
      'a header without a handle',
      {
        components: [
          { type: 'HEADER', format: 'IMAGE' },
          { type: 'BODY', text: 'x' },
        ],
      },
    ],
    ['a body that is too long', { components: [{ type: 'BODY', text: 'x'.repeat(1025) }] }],
  ])('are refused for %s', async (_why, more) => {
    expect((await create(more)).body.error.code).toBe(100);
  });
});
