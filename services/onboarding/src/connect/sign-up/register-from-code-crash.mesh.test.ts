// A registration that crashes at one of its steps, followed by the same request.
import {
  codeRequest,
  failureOf,
  handlersOf,
  sessionOf,
  testCall,
  useWorld,
} from '../../../test/world';
import { registerFromCode } from './register-from-code';
import { CODE_EXCHANGES } from './store/code-exchanges';

const WABA = '900000000000001';
const NUMBER = '800000000000001';
const TOKEN = 'EMULATED-TOKEN-1';

const world = useWorld();

describe('a crash', () => {
  /** A handler whose named dependency crashes at its first use and leaves its lease behind. */
  const dying = (name: 'clients' | 'sessions' | 'exchanges' | 'partners', method: string) => {
    let died = false;
    const whole = world.deps[name] as unknown as Record<string, (...args: unknown[]) => unknown>;
    const broken = {
      ...whole,
      [method]: async (...args: unknown[]) => {
        if (died) return whole[method]?.(...args);
        died = true;
        throw new Error('the process died');
      },
    };
    const deps = { ...world.deps, [name]: broken };
    const exchanges = { release: async () => undefined, renew: async () => undefined };
    const sessions = { abandon: async () => undefined };
    return registerFromCode({
      ...deps,
      exchanges: { ...deps.exchanges, ...exchanges },
      sessions: { ...deps.sessions, ...sessions },
    } as never);
  };

  it.each([
    ['partners', 'find'],
    ['partners', 'activateWaba'],
    ['clients', 'find'],
    ['clients', 'upsert'],
    ['clients', 'change'],
    ['sessions', 'consume'],
    ['exchanges', 'finish'],
  ] as const)('in %s.%s is completed by a repeat of the same request', async (name, method) => {
    const { _id } = await world.partner();
    const session_id = await sessionOf(world, _id, { state: 's' });
    const { code } = await world.emulator.code({ token: TOKEN });
    const request = codeRequest(_id, { session_id, code });
    await failureOf(dying(name, method)(request, testCall()));
    // The lease of the crashed worker expires after seconds; then any worker may continue.
    world.passTime(6);
    const answer = await world.handlers.registerFromCode(request);
    expect(answer).toMatchObject({
      state: 's',
      client: { waba_id: WABA, phone_number_id: NUMBER, status: 'active' },
      coexistence_sync: { smb_app_state_sync: 'requested', history: 'requested' },
    });
    expect(await world.emulator.requests({ path: '/oauth/access_token' })).toHaveLength(1);
    expect((await world.deps.partners.find(_id))?.wabas).toEqual([WABA]);
    const [kept] = await world.mongo.db.collection(CODE_EXCHANGES).find({}).toArray();
    expect(kept).toMatchObject({ status: 'done', token: null });
    expect(JSON.stringify(kept)).not.toContain(code);
  });

  it('does not block another code of the same session for long', async () => {
    const { _id } = await world.partner();
    const session_id = await sessionOf(world, _id);
    const request = (code: string) => codeRequest(_id, { session_id, code });
    const first = (await world.emulator.code({ token: TOKEN })).code;
    await failureOf(dying('clients', 'upsert')(request(first), testCall()));
    const { code } = await world.emulator.code({ token: TOKEN });
    const busy = await failureOf(world.handlers.registerFromCode(request(code)));
    expect(busy.code).toBe('UNAUTHORIZED');
    world.passTime(6);
    const answer = await handlersOf(world.deps).registerFromCode(request(code));
    expect(answer.created).toBe(true);
  });
});
