import { apiOf, eventually, ONE, startWorld, TWO, type Api, type World } from './test-support';

let world: World;
let api: Api;
let app: Api;
beforeEach(async () => {
  world = await startWorld();
  api = apiOf(world.emulator, ONE.token);
  app = apiOf(world.emulator, 'app-local|app-secret-local');
});
afterEach(() => world.close());

const exchange = (code: string, more = 'client_secret=app-secret-local') =>
  apiOf(world.emulator, '')(
    'GET',
    `/oauth/access_token?client_id=app-local&${more}&code=${encodeURIComponent(code)}&redirect_uri=`,
  );

describe('the code exchange', () => {
  it('returns the token once', async () => {
    const { code } = await world.emulator.code({ token: ONE.token });
    const { status, body } = await exchange(code);
    expect(status).toBe(200);
    expect(body).toEqual({ access_token: ONE.token, token_type: 'bearer' });
    expect((await exchange(code)).body.error).toMatchObject({ code: 100, error_subcode: 36009 });
  });

  it('refuses invalid requests', async () => {
    const { code: expired } = await world.emulator.code({ expired: true });
    expect((await exchange(expired)).body.error.error_subcode).toBe(36007);
    const { code: used } = await world.emulator.code({ used: true });
    expect((await exchange(used)).body.error.error_subcode).toBe(36009);
    const { code } = await world.emulator.code();
    expect((await exchange(code, 'client_secret=wrong')).body.error.code).toBe(1);
    expect((await exchange('nonsense')).body.error.code).toBe(100);
    const anonymous = apiOf(world.emulator, '');
    const path = `/oauth/access_token?client_id=other&client_secret=x&code=${code}`;
    expect((await anonymous('GET', path)).body.error.code).toBe(101);
  });
});

describe('debug_token', () => {
  const debug = (token: string) => app('GET', `/debug_token?input_token=${token}`);

  it('lists the accounts of a token', async () => {
    const { body } = await debug(ONE.token);
    expect(body.data).toMatchObject({
      app_id: 'app-local',
      type: 'SYSTEM_USER',
      is_valid: true,
      expires_at: 0,
      granular_scopes: [
        { scope: 'whatsapp_business_management', target_ids: [ONE.waba] },
        { scope: 'whatsapp_business_messaging', target_ids: [ONE.waba] },
      ],
    });
  });

  it('leaves the accounts out of an unlimited grant', async () => {
    const { body } = await debug('EMULATED-TOKEN-NO-TARGETS');
    expect(body.data.granular_scopes[0]).toEqual({ scope: 'whatsapp_business_management' });
  });

  it('answers 200 for a token that is not valid', async () => {
    const { status, body } = await debug('EMULATED-TOKEN-INVALID');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ is_valid: false, error: { code: 190, subcode: 463 } });
    expect((await debug('nonsense')).body.data.is_valid).toBe(false);
  });

  it('requires the app token or the token itself', async () => {
    const path = `/debug_token?input_token=${ONE.token}`;
    expect((await apiOf(world.emulator, '')('GET', path)).body.error.code).toBe(104);
    expect((await apiOf(world.emulator, TWO.token)('GET', path)).body.error.code).toBe(190);
    expect((await api('GET', path)).body.data.is_valid).toBe(true);
  });
});

describe('the webhook subscription', () => {
  it('is listed and can be removed', async () => {
    const path = `/${ONE.waba}/subscribed_apps`;
    expect((await api('GET', path)).body).toEqual({ data: [] });
    expect((await api('POST', path)).body).toEqual({ success: true });
    expect((await api('POST', path)).body).toEqual({ success: true });
    expect((await api('GET', path)).body.data[0].whatsapp_business_api_data.id).toBe('app-local');
    expect((await api('DELETE', path)).body).toEqual({ success: true });
    expect((await api('GET', path)).body).toEqual({ data: [] });
  });

  it('verifies an override callback URL before it accepts it', async () => {
    const path = `/${ONE.waba}/subscribed_apps`;
    const override_callback_uri = world.receiver.url;
    const wrong = await api('POST', path, { override_callback_uri, verify_token: 'wrong' });
    expect(wrong.body.error.code).toBe(2200);
    const right = await api('POST', path, { override_callback_uri, verify_token: 'verify-local' });
    expect(right.body).toEqual({ success: true });
    expect((await api('GET', path)).body.data[0].override_callback_uri).toBe(override_callback_uri);
    await api('POST', path);
    expect((await api('GET', path)).body.data[0].override_callback_uri).toBeUndefined();
  });
});

describe('the synchronisation of a coexistence number', () => {
  const sync = (sync_type: string, number = ONE.number) =>
    api('POST', `/${number}/smb_app_data`, { messaging_product: 'whatsapp', sync_type });

  it('sends contacts and history, once each', async () => {
    await api('POST', `/${ONE.waba}/subscribed_apps`);
    const { body } = await sync('smb_app_state_sync');
    expect(body).toEqual({ messaging_product: 'whatsapp', request_id: expect.any(String) });
    expect((await sync('history')).status).toBe(200);
    expect((await sync('history')).body.error.code).toBe(2593107);
    await eventually(() => world.receiver.changes('history').length === 4);
    const [contacts] = world.receiver.changes('smb_app_state_sync');
    expect(contacts.value.state_sync).toHaveLength(3);
    expect(contacts.value.metadata).toEqual({
      display_phone_number: '15550100001',
      phone_number_id: ONE.number,
    });
    const phases = world.receiver
      .changes('history')
      .flatMap(({ value }) => value.history ?? [])
      .map(({ metadata }) => metadata);
    expect(phases).toEqual([
      { phase: 0, chunk_order: 1, progress: 33 },
      { phase: 1, chunk_order: 2, progress: 67 },
      { phase: 2, chunk_order: 3, progress: 100 },
    ]);
  });

  it('can be requested again after a new onboarding, but not after a day', async () => {
    await sync('history');
    const { code } = await world.emulator.code({ token: ONE.token });
    await exchange(code);
    expect((await sync('history')).status).toBe(200);
    await world.emulator.patchNumber(ONE.number, { onboarded_at: Date.now() - 25 * 3600 * 1000 });
    expect((await sync('smb_app_state_sync')).body.error.code).toBe(2593108);
  });

  it('is declined when the business does not share its history', async () => {
    await api('POST', `/${ONE.waba}/subscribed_apps`);
    await world.emulator.behaviour({ sync: { decline_history: true } });
    await sync('history');
    await eventually(() => world.receiver.changes('history').length === 1);
    const [change] = world.receiver.changes('history');
    expect(change.value.history[0].errors[0].code).toBe(2593109);
  });

  it('is refused for other numbers', async () => {
    const two = apiOf(world.emulator, TWO.token);
    const body = { messaging_product: 'whatsapp', sync_type: 'history' };
    const answer = await two('POST', `/${TWO.cloud_number}/smb_app_data`, body);
    expect(answer.body.error.code).toBe(100);
  });
});
