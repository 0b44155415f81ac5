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
