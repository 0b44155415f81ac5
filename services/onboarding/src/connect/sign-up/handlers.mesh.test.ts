import { isWellFormedKey } from '@bmg/common/keys';
import { failureOf, openWorld, peppers, refuses, type World } from '../../../test/world';
import { SESSIONS } from './store/connect-sessions';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
let _id: string;
beforeEach(async () => {
  ({ _id } = await world.partner({ name: 'Example partner' }));
});

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  (await failureOf(work)).code ?? 'none';

const hashOf = (token: string): string => peppers.hash(token);
const create = (given: object = {}) =>
  world.handlers.createConnectSession({ partner_id: _id, ...given });
const list = (...connect_origins: string[]) =>
  world.deps.partners.change(_id, { connect_origins }, new Date());
const open = (token: string) => world.handlers.openConnectPage({ token_hash: hashOf(token) });
const whose = (token: string) => world.handlers.authenticateSession({ token_hash: hashOf(token) });
const report = (token: string, facts: Record<string, string>) =>
  world.handlers.reportConnectStep({ token_hash: hashOf(token), ...facts } as never);
const events = async (limit = 50, partner_id = _id) =>
  (await world.handlers.listOnboardingEvents({ partner_id, limit })).events;

describe('a connect session', () => {
  it('is a link with a token that lives for 1800 seconds and is not stored', async () => {
    const { connect_url, token, expires_in } = await create({ state: 'order 17' });
    expect(isWellFormedKey(token, 'bmgc_')).toBe(true);
    expect(connect_url).toBe(`https://gateway.test/connect?token=${token}`);
    expect(expires_in).toBe(1_800);
    const stored = await world.mongo.db.collection(SESSIONS).find({ partner_id: _id }).toArray();
    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain(token);
    expect(stored[0]?.['token_hash']).toBe(hashOf(token));
  });

  it('accepts a state of at most 255 characters', async () => {
    await create({ state: '🙂'.repeat(255) });
    expect(await codeOf(create({ state: 'x'.repeat(256) }))).toBe('INVALID_FIELD');
  });

  it.each([
    ['https://shop.example.com', 'none'],
    ['http://127.0.0.1:7001', 'none'],
    ['https://shop.example.com/', 'INVALID_FIELD'],
    ['https://shop.example.com/path', 'INVALID_FIELD'],
    ['shop.example.com', 'INVALID_FIELD'],
    ['*', 'INVALID_FIELD'],
    ['javascript:alert(1)', 'INVALID_FIELD'],
    ['', 'INVALID_FIELD'],
  ])('takes the origin %j: %s', async (origin, code) => {
    expect(await codeOf(create({ origin }))).toBe(code);
  });

  describe('with the partner’s pages', () => {
    const SHOP = 'https://shop.example.com';
    const given = { success_url: `${SHOP}/done?a=1`, failure_url: `${SHOP}/failed` };

    it('sends the page the URLs of listed origins', async () => {
      await list(SHOP);
      const { token } = await create({ ...given, origin: SHOP });
      expect(await open(token)).toMatchObject({ outcome: 'open', ...given });
    });

    it.each([
      ['success_url', 'https://evil.example/'],
      ['failure_url', 'https://evil.example/'],
      ['failure_url', 'not a URL'],
      ['origin', 'https://evil.example'],
    ])('refuses the %s %s and creates nothing', async (field, value) => {
      await list(SHOP);
      await refuses(create({ ...given, [field]: value }), 'INVALID_FIELD', field);
      expect(await world.deps.sessions.count(_id, 1)).toBe(0);
    });

    it('refuses all URLs while no origin is listed, and accepts any opener', async () => {
      await refuses(create(given), 'INVALID_FIELD', 'success_url');
      await create({ origin: SHOP });
    });
  });

  it('is refused to a partner that has used up its quota, and to no other', async () => {
    const { CONNECT_SESSIONS_MAX } = world.deps.settings;
    await Promise.all(Array.from({ length: CONNECT_SESSIONS_MAX }, () => create()));
    await refuses(create(), 'QUOTA_EXCEEDED', { limit: CONNECT_SESSIONS_MAX });
    const { _id: partner_id } = await world.partner();
    await create({ partner_id });
  });

  it('opens on each load while the link is open, and names the opener afterwards', async () => {
    const origin = 'https://shop.example.com';
    const { token } = await create({ state: 's', origin });
    world.passTime(1_700);
    expect(await open(token)).toMatchObject({
      outcome: 'open',
      app_id: 'app-local',
      config_id: 'config-local',
      api_version: 'v26.0',
      state: 's',
      origin,
      partner_name: 'Example partner',
      extras: { setup: {}, sessionInfoVersion: '3', version: 'v4' },
    });
    expect((await open(token)).outcome).toBe('open');
    world.passTime(101);
    expect(await open(token)).toMatchObject({ outcome: 'expired', app_id: '', origin });
    expect((await whose(token)).partner_id).toBe(_id);
    world.passTime(1_800);
    expect(await codeOf(whose(token))).toBe('UNAUTHORIZED');
  });

  it('is unknown without its token', async () => {
    expect((await open('bmgc_none')).outcome).toBe('unknown');
    expect(await codeOf(whose('bmgc_none'))).toBe('UNAUTHORIZED');
    expect(await codeOf(report('bmgc_none', { kind: 'dialog_opened' }))).toBe('UNAUTHORIZED');
  });

  it('works only while its partner may do business', async () => {
    const { token } = await create();
    await world.deps.partners.change(_id, { status: 'suspended' }, new Date());
    expect(await codeOf(open(token))).toBe('PARTNER_SUSPENDED');
    expect(await codeOf(whose(token))).toBe('PARTNER_SUSPENDED');
  });

  it('is deleted by a rotation of the key unless it is consumed', async () => {
    const { _id: partner_id } = await world.partner();
    const kept = await create({ partner_id });
    const [first, second, used] = [await create(), await create(), await create()];
    const { session_id } = await whose(used.token);
    const session = await world.deps.sessions.find(_id, session_id);
    await world.deps.sessions.consume(session as never, 'cex_1');
    expect(await world.deps.sessions.deleteUnfinished(_id, world.deps.now())).toBe(2);
    expect(await codeOf(whose(first.token))).toBe('UNAUTHORIZED');
    expect(await codeOf(whose(second.token))).toBe('UNAUTHORIZED');
    expect((await open(used.token)).outcome).toBe('consumed');
    expect((await whose(kept.token)).partner_id).toBe(partner_id);
  });
});

describe('the onboarding log', () => {
  it('has every step, newest first, with the dialog’s own facts', async () => {
    const { token } = await create({ state: 'order 17' });
    await open(token);
    await report(token, { kind: 'dialog_opened' });
    await report(token, { kind: 'dialog_cancelled', current_step: 'PHONE_NUMBER_VERIFICATION' });
    await report(token, {
      kind: 'dialog_failed',
      error_code: '123456',
      error_message: 'Name not allowed',
      upstream_session_id: 'a1b2',
    });
    await report(token, { kind: 'dialog_finished', waba_id: '900' });
    const found = await events();
    expect(found.map(({ created_at: _created_at, ...event }) => event)).toEqual([
      { state: 'order 17', current_step: 'DIALOG_FINISHED', waba_id: '900' },
      {
        state: 'order 17',
        current_step: 'DIALOG',
        error_code: '123456',
        error_message: 'Name not allowed',
        upstream_session_id: 'a1b2',
      },
      {
        state: 'order 17',
        current_step: 'PHONE_NUMBER_VERIFICATION',
        error_code: 'DIALOG_CANCELLED',
        error_message: 'the person left the dialog',
      },
      { state: 'order 17', current_step: 'DIALOG_OPENED' },
      { state: 'order 17', current_step: 'PAGE_OPENED' },
      { state: 'order 17', current_step: 'SESSION_CREATED' },
    ]);
    expect(await events(2)).toHaveLength(2);
  });

  it('belongs to one partner', async () => {
    const other = await world.partner();
    await create();
    expect(await events(50, other._id)).toEqual([]);
  });

  it('stays bounded for one link', async () => {
    const { token } = await create();
    for (let index = 0; index < 120; index += 1) await report(token, { kind: 'dialog_opened' });
    expect(await events(200)).toHaveLength(101);
  });

  it('refuses a report of an unknown kind', async () => {
    const { token } = await create();
    expect(await codeOf(report(token, { kind: 'anything' }))).toBe('INVALID_FIELD');
  });
});

describe('the sign-up configuration', () => {
  it('holds what a self-hosted dialog needs', async () => {
    expect(await world.handlers.getEmbeddedSignupConfig({ partner_id: 'ptn_1' })).toEqual({
      app_id: 'app-local',
      config_id: 'config-local',
      connection_mode: 'coexistence',
      extras: {
        setup: {},
        featureType: 'messaging_business_app_onboarding',
        sessionInfoVersion: '3',
        version: 'v4',
      },
    });
  });

  it('is refused while a part of it is not configured', async () => {
    const { settings } = world.deps;
    const { UPSTREAM_CONFIG_ID } = settings;
    settings.UPSTREAM_CONFIG_ID = undefined;
    expect(await codeOf(world.handlers.getEmbeddedSignupConfig({ partner_id: 'ptn_1' }))).toBe(
      'PLATFORM_NOT_CONFIGURED',
    );
    settings.UPSTREAM_CONFIG_ID = UPSTREAM_CONFIG_ID;
  });
});
