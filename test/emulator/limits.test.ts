import { eventually } from '../testkit/eventually';
import { aTemplate, aText, apiOf, ONE, startWorld, THREE, TWO, type World } from './test-support';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

/** Sends `count` messages at once: how many were accepted, and in how many seconds. */
async function burst(
  token: string,
  number: string,
  count: number,
): Promise<{ accepted: number; seconds: number }> {
  const api = apiOf(world.emulator, token);
  const started = performance.now();
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      api('POST', `/${number}/messages`, aText(`1555010${2000 + i}`)),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  for (const { body } of refused) expect(body.error.code).toBe(130429);
  return { accepted: count - refused.length, seconds: (performance.now() - started) / 1_000 };
}

/** The most that a bucket of `rate` tokens, refilled once a second, can grant. */
const granted = (rate: number, seconds: number): number => rate * (1 + seconds) + 1;

describe('the throughput of a number', () => {
  it('is 20 per second for a number in the business app', async () => {
    const { accepted, seconds } = await burst(ONE.token, ONE.number, 40);
    expect(accepted).toBeGreaterThanOrEqual(20);
    expect(accepted).toBeLessThanOrEqual(granted(20, seconds));
  });

  it('is 80 per second for others and 1,000 after the upgrade', async () => {
    const { accepted, seconds } = await burst(TWO.token, TWO.cloud_number, 130);
    expect(accepted).toBeGreaterThanOrEqual(80);
    expect(accepted).toBeLessThanOrEqual(granted(80, seconds));
    expect((await burst(THREE.token, THREE.fast_number, 130)).accepted).toBe(130);
  });

  it('can be set for one number or all, and switched off', async () => {
    await world.emulator.limits({ phone_number_id: ONE.number, rate_per_sec: 5 });
    const { accepted, seconds } = await burst(ONE.token, ONE.number, 15);
    expect(accepted).toBeLessThanOrEqual(granted(5, seconds));
    await world.emulator.limits({ phone_number_id: ONE.number, rate_per_sec: 'default' });
    await world.emulator.limits({ rate_per_sec: 'off' });
    expect((await burst(ONE.token, ONE.number, 60)).accepted).toBe(60);
  });
});

it('the pair limit is off until it is switched on', async () => {
  const api = apiOf(world.emulator, ONE.token);
  const send = async () => (await api('POST', `/${ONE.number}/messages`, aText())).body;
  await send();
  await world.emulator.limits({ pair_limit: { interval_ms: 6000, burst: 2 } });
  await send();
  await send();
  expect((await send()).error.code).toBe(131056);
  const other = await api('POST', `/${ONE.number}/messages`, aText('15550100999'));
  expect(other.status).toBe(200);
});

describe('the 24-hour window', () => {
  const send = (body: object) =>
    apiOf(world.emulator, ONE.token)('POST', `/${ONE.number}/messages`, body);

  it('can refuse a send at once', async () => {
    await world.emulator.limits({ window_check: true });
    expect((await send(aText())).body.error.code).toBe(131047);
    expect((await send(aTemplate('hello_world'))).status).toBe(200);
    await world.emulator.inbound({ phone_number_id: ONE.number, from: '15550100777' });
    expect((await send(aText())).status).toBe(200);
  });

  it('can fail a send later', async () => {
    await world.emulator.patchAccount(ONE.waba, { subscribed: true });
    await world.emulator.limits({ window_check: 'fail_later' });
    expect((await send(aText())).status).toBe(200);
    await eventually(() => world.statuses().length === 1);
    expect(world.statuses()[0]).toMatchObject({
      status: 'failed',
      errors: [{ code: 131047 }],
    });
  });
});
