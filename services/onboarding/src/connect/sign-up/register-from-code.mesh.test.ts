import type { RegisterFromCodeRequest } from '@bmg/proto/onboarding';
import { codeRequest, failureOf, refuses, sessionOf, stepsOf, useWorld } from '../../../test/world';
import { secretIdentity } from '../../ground/clients';

const WABA = '900000000000001';
const NUMBER = '800000000000001';
const TOKEN = 'EMULATED-TOKEN-1';

const world = useWorld();

const ask = (partner_id: string, given: Partial<RegisterFromCodeRequest> = {}) =>
  world.handlers.registerFromCode(codeRequest(partner_id, given));

const session = (partner_id: string, given: { state?: string; display_name?: string } = {}) =>
  sessionOf(world, partner_id, given);

const steps = (partner_id: string) => stepsOf(world, partner_id);

const exchanges = async (): Promise<number> =>
  (await world.emulator.requests({ path: '/oauth/access_token' })).length;

describe('registering from a code', () => {
  it('registers the account and the number of the sign-up', async () => {
    const { _id } = await world.partner();
    const { code } = await world.emulator.code({ token: TOKEN });
    const first = await ask(_id, { code });
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
    const stored = await world.deps.clients.find({
      partner_id: _id,
      waba_id: WABA,
      phone_number_id: NUMBER,
    });
    expect(JSON.stringify(stored)).not.toContain(TOKEN);
    expect(
      world.deps.vault.open(secretIdentity(stored as never, 'token'), stored?.token as never),
    ).toBe(TOKEN);
    expect(await steps(_id)).toEqual([
      'CODE_EXCHANGE',
      'DISCOVERY',
      'REGISTRATION',
      'COEXISTENCE_SYNC',
      'COMPLETED',
    ]);
  });

  it('updates the client with the next code and requests the sync of the new onboarding', async () => {
    const { _id } = await world.partner();
    await ask(_id, { code: (await world.emulator.code({ token: TOKEN })).code });
    await world.emulator.clearRequests();
    const again = await ask(_id, { code: (await world.emulator.code({ token: TOKEN })).code });
    expect(again.created).toBe(false);
    expect(again.coexistence_sync).toEqual({
      smb_app_state_sync: 'requested',
      history: 'requested',
    });
    const syncs = await world.emulator.requests({ path: '/smb_app_data' });
    expect(syncs).toHaveLength(2);
  });

  it('answers the state and uses the display name of the session', async () => {
    const { _id } = await world.partner();
    const session_id = await session(_id, { state: 'order-17', display_name: 'Shop in town' });
    const { code } = await world.emulator.code({ token: TOKEN });
    const { state, client } = await ask(_id, { code, session_id });
    expect(state).toBe('order-17');
    expect(client?.display_name).toBe('Shop in town');
  });

  it('answers the same client for the same code after one exchange', async () => {
    const { _id } = await world.partner();
    const session_id = await session(_id);
    const { code } = await world.emulator.code({ token: TOKEN });
    const both = await Promise.all([
      ask(_id, { code, session_id }),
      ask(_id, { code, session_id }),
    ]);
    const later = await ask(_id, { code, session_id });
    expect(both.map(({ created }) => created).sort()).toEqual([false, true]);
    for (const answer of [...both, later]) {
      expect(answer.client).toMatchObject({ waba_id: WABA, phone_number_id: NUMBER });
      expect(answer.coexistence_sync?.history).toBe('requested');
    }
    expect(await exchanges()).toBe(1);
  });

  it('accepts one code per session', async () => {
    const { _id } = await world.partner();
    const session_id = await session(_id);
    await ask(_id, { code: (await world.emulator.code({ token: TOKEN })).code, session_id });
    const other = (await world.emulator.code({ token: TOKEN })).code;
    await refuses(ask(_id, { code: other, session_id }), 'UNAUTHORIZED');
  });

  it('accepts another code after one that the upstream refused', async () => {
    const { _id } = await world.partner();
    const session_id = await session(_id);
    const spent = (await world.emulator.code({ token: TOKEN, used: true })).code;
    const refused = await failureOf(ask(_id, { code: spent, session_id }));
    expect(refused).toMatchObject({
      code: 'CODE_EXCHANGE_FAILED',
      upstream_code: 100,
      upstream_subcode: 36009,
    });
    const repeated = await failureOf(ask(_id, { code: spent, session_id }));
    expect(repeated).toMatchObject({ code: 'CODE_EXCHANGE_FAILED', upstream_subcode: 36009 });
    expect(await exchanges()).toBe(1);
    const { code } = await world.emulator.code({ token: TOKEN });
    expect((await ask(_id, { code, session_id })).created).toBe(true);
  });

  it('keeps the app secret and the code out of the error', async () => {
    const { _id } = await world.partner();
    const refused = await failureOf(ask(_id, { code: 'an-unknown-code' }));
    const text = JSON.stringify([refused.message, refused.details, String(refused.cause)]);
    expect(text).not.toContain('app-secret-local');
    expect(text).not.toContain('an-unknown-code');
  });

  it('refuses an expired session and a session of another partner', async () => {
    const [one, two] = [await world.partner(), await world.partner()];
    const session_id = await session(one._id);
    const { code } = await world.emulator.code({ token: TOKEN });
    await refuses(ask(two._id, { code, session_id }), 'UNAUTHORIZED');
    world.passTime(3_601);
    await refuses(ask(one._id, { code, session_id }), 'UNAUTHORIZED');
    expect(await exchanges()).toBe(0);
  });

  it('completes up to 30 minutes after the link has expired', async () => {
    const { _id } = await world.partner();
    const session_id = await session(_id);
    world.passTime(3_590);
    const { code } = await world.emulator.code({ token: TOKEN });
    expect((await ask(_id, { code, session_id })).created).toBe(true);
  });

  it('is refused while no app is configured', async () => {
    const { _id } = await world.partner();
    world.deps.settings.UPSTREAM_APP_SECRET = undefined;
    await refuses(ask(_id, { code: 'any' }), 'PLATFORM_NOT_CONFIGURED');
  });

  it('is refused without a code and for another connection mode', async () => {
    const { _id } = await world.partner();
    await refuses(ask(_id, { code: '  ' }), 'MISSING_FIELDS');
    await refuses(ask(_id, { code: 'any', connection_mode: 'cloud' }), 'INVALID_FIELD');
  });
});

describe('discovery', () => {
  it('refuses an account that the token does not cover', async () => {
    const { _id } = await world.partner();
    const { code } = await world.emulator.code({ token: TOKEN });
    const refused = await failureOf(ask(_id, { code, waba_id: '900000000000002' }));
    expect(refused.code).toBe('DISCOVERY_FAILED');
    expect((await world.deps.clients.list(_id, 'all', { limit: 10, offset: 0 })).total).toBe(0);
    expect(await steps(_id)).toContain('DISCOVERY: DISCOVERY_FAILED');
  });

  it('takes the claim if the token lists no accounts but can read the claimed one', async () => {
    const { _id } = await world.partner();
    const token = 'EMULATED-TOKEN-NO-TARGETS';
    const without = (await world.emulator.code({ token })).code;
    await refuses(ask(_id, { code: without }), 'DISCOVERY_FAILED');
    const foreign = (await world.emulator.code({ token })).code;
    const refused = await failureOf(ask(_id, { code: foreign, waba_id: '900000000000002' }));
    expect(refused.code).toBe('DISCOVERY_FAILED');
    const { code } = await world.emulator.code({ token });
    expect((await ask(_id, { code, waba_id: WABA })).client?.waba_id).toBe(WABA);
  });

  it('registers the claimed number', async () => {
    const { _id } = await world.partner();
    const { code } = await world.emulator.code({ token: 'EMULATED-TOKEN-2' });
    const { client } = await ask(_id, { code, phone_number_id: '800000000000003' });
    expect(client?.phone_number_id).toBe('800000000000003');
  });

  it('fails for a token that is not valid', async () => {
    const { _id } = await world.partner();
    const { code } = await world.emulator.code({ token: 'EMULATED-TOKEN-INVALID' });
    const refused = await failureOf(ask(_id, { code }));
    expect(refused).toMatchObject({ code: 'DISCOVERY_FAILED', upstream_code: 190 });
  });
});

describe('the plan’s limit', () => {
  it('refuses a further account before anything is stored or subscribed', async () => {
    const { _id } = await world.partner({ max_wabas: 1 });
    await ask(_id, { code: (await world.emulator.code({ token: TOKEN })).code });
    await world.emulator.clearRequests();
    const { code } = await world.emulator.code({ token: 'EMULATED-TOKEN-2' });
    await refuses(ask(_id, { code }), 'WABA_LIMIT_REACHED');
    expect((await world.deps.clients.list(_id, 'all', { limit: 10, offset: 0 })).total).toBe(1);
    expect(await world.emulator.requests({ path: '/subscribed_apps' })).toHaveLength(0);
    // With the limit raised, the same code completes: its token was kept.
    await world.deps.partners.change(_id, { max_wabas: 2 }, new Date());
    expect((await ask(_id, { code })).created).toBe(true);
    expect(await exchanges()).toBe(1);
  });

  it('holds for concurrent registrations', async () => {
    const { _id } = await world.partner({ max_wabas: 1 });
    const codes = await Promise.all(
      [TOKEN, 'EMULATED-TOKEN-2', 'EMULATED-TOKEN-3'].map((token) =>
        world.emulator.code({ token }),
      ),
    );
    const outcomes = await Promise.allSettled(codes.map(({ code }) => ask(_id, { code })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await world.deps.partners.find(_id))?.wabas).toHaveLength(1);
  });
});
