// A sign-up code whose exchange gets no complete answer: it is unknown whether the code is used up.
import {
  codeRequest,
  failureOf,
  sessionOf,
  stepsOf,
  testCall,
  useWorld,
} from '../../../test/world';

const TOKEN = 'EMULATED-TOKEN-1';
const EXCHANGE = '/oauth/access_token';

const world = useWorld();

const exchanges = async (): Promise<number> =>
  (await world.emulator.requests({ path: EXCHANGE })).length;

const LOST = ['SESSION_CREATED', 'CODE_EXCHANGE: UPSTREAM_ERROR'];

it.each([
  ['drops the connection before it processes the request', { drop: 'before' }],
  ['drops the answer', { drop: 'after' }],
  ['sends half of the answer', { truncated: true }],
  ['sends an empty answer', { empty: true }],
  ['sends a page', { html: { status: 502 } }],
] as const)(
  'an upstream that %s gets the code once, however often it is repeated',
  async (_name, effect) => {
    const { _id } = await world.partner();
    const session_id = await sessionOf(world, _id);
    const { code } = await world.emulator.code({ token: TOKEN });
    const ask = (code: string) =>
      world.handlers.registerFromCode(codeRequest(_id, { session_id, code }));
    await world.emulator.fault({ match: { path: EXCHANGE }, ...effect });

    const first = await failureOf(ask(code));
    expect(first).toMatchObject({
      code: 'UPSTREAM_ERROR',
      http: 502,
      upstream_code: undefined,
      retryable: false,
      details: { outcome: 'unknown' },
    });
    expect(await exchanges()).toBe(1);
    expect(await stepsOf(world, _id)).toEqual(LOST);

    const repeated = await failureOf(ask(code));
    expect(repeated).toMatchObject({
      code: 'CODE_EXCHANGE_FAILED',
      details: { outcome: 'unknown' },
    });
    expect(repeated.message).toContain('sign up again');
    expect(await exchanges()).toBe(1);
    expect(await stepsOf(world, _id)).toEqual([...LOST, 'CODE_EXCHANGE: CODE_EXCHANGE_FAILED']);

    // The link is still usable: the next code of the same person completes.
    const next = (await world.emulator.code({ token: TOKEN })).code;
    expect((await ask(next)).created).toBe(true);
    expect(await exchanges()).toBe(2);
  },
);

it('a code that was never sent is exchanged by a repeated request', async () => {
  const { _id } = await world.partner();
  const { code } = await world.emulator.code({ token: TOKEN });
  const request = codeRequest(_id, { code });
  // No time is left for a request, so none is sent.
  const late = await failureOf(world.handlers.registerFromCode(request, testCall(60)));
  expect(late).toMatchObject({ code: 'UPSTREAM_ERROR', retryable: true });
  expect(await exchanges()).toBe(0);
  expect((await world.handlers.registerFromCode(request)).created).toBe(true);
});
