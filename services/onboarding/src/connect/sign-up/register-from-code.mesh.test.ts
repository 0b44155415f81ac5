import type { RegisterFromCodeRequest } from '@bmg/proto/onboarding';
import { codeRequest, failureOf, refuses, sessionOf, stepsOf, useWorld } from '../../../test/world';
import { secretIdentity } from '../../ground/clients';

const WABA = '900000000000001';
const NUMBER = '800000000000001';
const TOKEN = 'EMULATED-TOKEN-1';

const world = useWorld();

let partner_id: string;
beforeEach(async () => {
  partner_id = (await world.partner())._id;
});

const ask = (given: Partial<RegisterFromCodeRequest> = {}) =>
  world.handlers.registerFromCode(codeRequest(partner_id, given));
const session = (given: { state?: string; display_name?: string } = {}) =>
  sessionOf(world, partner_id, given);
const newCode = async (token = TOKEN): Promise<string> =>
  (await world.emulator.code({ token })).code;
const clientsTotal = async (): Promise<number> =>
  (await world.deps.clients.list(partner_id, 'all', { limit: 10, offset: 0 })).total;
const allow = (max_wabas: number) =>
  world.deps.partners.change(partner_id, { max_wabas }, new Date());

const exchanges = async (): Promise<number> =>
  (await world.emulator.requests({ path: '/oauth/access_token' })).length;

describe('registering from a code', () => {
  it('registers the account and the number of the sign-up', async () => {
    const code = await newCode();
    const first = await ask({ code });
    expect(first).toMatchObject({
      created: true,
      client: {
        waba_id: WABA,
        phone_number_id: NUMBER,
        phone_number: '15550100001',
        connection_mode: 'coexistence',
        status: 'active',
        quality_rating: 'GREEN',
      },
      coexistence_sync: { smb_app_state_sync: 'requested', history: 'requested' },
    });
    expect(first.state).toBeUndefined();
    const scope = { partner_id, waba_id: WABA, phone_number_id: NUMBER };
    const stored = await world.deps.clients.find(scope);
    expect(JSON.stringify(stored)).not.toContain(TOKEN);
    const opened = world.deps.vault.open(secretIdentity(scope, 'token'), stored?.token as never);
    expect(opened).toBe(TOKEN);
    expect(await stepsOf(world, partner_id)).toEqual([
      'CODE_EXCHANGE',
      'DISCOVERY',
      'REGISTRATION',
      'COEXISTENCE_SYNC',
      'COMPLETED',
    ]);
  });

  it('updates the client with the next code and requests the sync of the new onboarding', async () => {
    await ask({ code: await newCode() });
    await world.emulator.clearRequests();
    const again = await ask({ code: await newCode() });
    expect(again.created).toBe(false);
    expect(again.coexistence_sync).toEqual({
      smb_app_state_sync: 'requested',
      history: 'requested',
    });
    const syncs = await world.emulator.requests({ path: '/smb_app_data' });
    expect(syncs).toHaveLength(2);
  });

  it('answers the state and uses the display name of the session', async () => {
    const session_id = await session({ state: 'order-17', display_name: 'Shop in town' });
    const code = await newCode();
    const { state, client } = await ask({ code, session_id });
    expect(state).toBe('order-17');
    expect(client?.display_name).toBe('Shop in town');
  });

  it('answers the same client for the same code after one exchange', async () => {
    const session_id = await session();
    const code = await newCode();
    const again = () => ask({ code, session_id });
    const both = await Promise.all([again(), again()]);
    const later = await again();
    expect(both.map(({ created }) => created).sort()).toEqual([false, true]);
    for (const answer of [...both, later]) {
      expect(answer.client).toMatchObject({ waba_id: WABA, phone_number_id: NUMBER });
      expect(answer.coexistence_sync?.history).toBe('requested');
    }
    expect(await exchanges()).toBe(1);
  });

  it('accepts one code per session', async () => {
    const session_id = await session();
    await ask({ code: await newCode(), session_id });
    const other = await newCode();
    await refuses(ask({ code: other, session_id }), 'UNAUTHORIZED');
  });

  it('accepts another code after one that the upstream refused', async () => {
    const session_id = await session();
    const spent = (await world.emulator.code({ token: TOKEN, used: true })).code;
    const refused = await failureOf(ask({ code: spent, session_id }));
    expect(refused).toMatchObject({
      code: 'CODE_EXCHANGE_FAILED',
      upstream_code: 100,
      upstream_subcode: 36009,
    });
    const repeated = await failureOf(ask({ code: spent, session_id }));
    expect(repeated).toMatchObject({ code: 'CODE_EXCHANGE_FAILED', upstream_subcode: 36009 });
    expect(await exchanges()).toBe(1);
    const code = await newCode();
    expect((await ask({ code, session_id })).created).toBe(true);
  });

  it('keeps the app secret and the code out of the error', async () => {
    const refused = await failureOf(ask({ code: 'an-unknown-code' }));
    const text = JSON.stringify([refused.message, refused.details, String(refused.cause)]);
    expect(text).not.toContain('app-secret-local');
    expect(text).not.toContain('an-unknown-code');
  });

  it('refuses an expired session and a session of another partner', async () => {
    const session_id = await session();
    const code = await newCode();
    const { _id: other } = await world.partner();
    const foreign = world.handlers.registerFromCode(codeRequest(other, { code, session_id }));
    await refuses(foreign, 'UNAUTHORIZED');
    world.passTime(3_601);
    await refuses(ask({ code, session_id }), 'UNAUTHORIZED');
    expect(await exchanges()).toBe(0);
  });

  it('is refused while no app is configured', async () => {
    world.deps.settings.UPSTREAM_APP_SECRET = undefined;
    await refuses(ask({ code: 'any' }), 'PLATFORM_NOT_CONFIGURED');
  });

  it('is refused without a code and for another connection mode', async () => {
    await refuses(ask({ code: '  ' }), 'MISSING_FIELDS');
    await refuses(ask({ code: 'any', connection_mode: 'cloud' }), 'INVALID_FIELD');
  });
});

describe('discovery', () => {
  it('refuses an account that the token does not cover', async () => {
    const code = await newCode();
    await refuses(ask({ code, waba_id: '900000000000002' }), 'DISCOVERY_FAILED');
    expect(await clientsTotal()).toBe(0);
    expect(await stepsOf(world, partner_id)).toContain('DISCOVERY: DISCOVERY_FAILED');
  });

  it('takes the claim if the token lists no accounts but can read the claimed one', async () => {
    const token = 'EMULATED-TOKEN-NO-TARGETS';
    const without = await newCode(token);
    await refuses(ask({ code: without }), 'DISCOVERY_FAILED');
    const foreign = await newCode(token);
    await refuses(ask({ code: foreign, waba_id: '900000000000002' }), 'DISCOVERY_FAILED');
    const code = await newCode(token);
    expect((await ask({ code, waba_id: WABA })).client?.waba_id).toBe(WABA);
  });

  it('registers the claimed number', async () => {
    const code = await newCode('EMULATED-TOKEN-2');
    const { client } = await ask({ code, phone_number_id: '800000000000003' });
    expect(client?.phone_number_id).toBe('800000000000003');
  });

  it('fails for a token that is not valid', async () => {
    const code = await newCode('EMULATED-TOKEN-INVALID');
    const refused = await failureOf(ask({ code }));
    expect(refused).toMatchObject({ code: 'DISCOVERY_FAILED', upstream_code: 190 });
  });
});

describe('the plan’s limit', () => {
  it('refuses a further account before anything is stored or subscribed', async () => {
    await allow(1);
    await ask({ code: await newCode() });
    await world.emulator.clearRequests();
    const code = await newCode('EMULATED-TOKEN-2');
    await refuses(ask({ code }), 'WABA_LIMIT_REACHED');
    expect(await clientsTotal()).toBe(1);
    expect(await world.emulator.requests({ path: '/subscribed_apps' })).toHaveLength(0);
    // With the limit raised, the same code completes: its token was kept.
    await allow(2);
    expect((await ask({ code })).created).toBe(true);
    expect(await exchanges()).toBe(1);
  });

  it('holds for concurrent registrations', async () => {
    await allow(1);
    const tokens = [TOKEN, 'EMULATED-TOKEN-2', 'EMULATED-TOKEN-3'];
    const codes = await Promise.all(tokens.map(newCode));
    const outcomes = await Promise.allSettled(codes.map((code) => ask({ code })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await world.deps.partners.find(partner_id))?.wabas).toHaveLength(1);
  });
});
