import { request } from 'undici';
import { aText, apiOf, ONE, startWorld, type Api, type World } from './test-support';

let world: World;
let api: Api;
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  await world.emulator.reset();
  await world.emulator.limits({ rate_per_sec: 'off' });
  api = apiOf(world.emulator, ONE.token);
});
afterAll(() => world.close());

const send = (to = '15550100777') => api('POST', `/${ONE.number}/messages`, aText(to));
const total = async () => (await world.emulator.summary()).total;

describe('a fault', () => {
  it('answers with the given error, once', async () => {
    await world.emulator.fault({
      error: {
        status: 429,
        code: 130429,
        subcode: 7,
        message: 'Slow down',
        error_data: { details: 'd' },
      },
    });
    const { status, body } = await send();
    expect(status).toBe(429);
    expect(body.error).toMatchObject({
      message: '(#130429) Slow down',
      code: 130429,
      error_subcode: 7,
      error_data: { details: 'd' },
    });
    expect(await total()).toBe(0);
    expect((await send()).status).toBe(200);
  });

  it('delays a request, then processes it', async () => {
    await world.emulator.fault({ delay_ms: 80 });
    const started = Date.now();
    expect((await send()).status).toBe(200);
    expect(Date.now() - started).toBeGreaterThanOrEqual(75);
  });

  it('drops the connection before the send happens', async () => {
    await world.emulator.fault({ drop: 'before' });
    await expect(send()).rejects.toThrow();
    expect(await total()).toBe(0);
  });

  it('drops the connection after the send happened', async () => {
    await world.emulator.fault({ drop: 'after' });
    await expect(send()).rejects.toThrow();
    expect(await total()).toBe(1);
  });

  it('never answers', async () => {
    await world.emulator.fault({ hang: true });
    const waiting = request(`${world.emulator.url}/v26.0/${ONE.waba}`, { headersTimeout: 100 });
    await expect(waiting).rejects.toThrow(/Timeout/);
  });

  it('returns an HTML page instead of JSON', async () => {
    await world.emulator.fault({ html: { status: 502 } });
    const { status, headers, body } = await send();
    expect(status).toBe(502);
    expect(headers['content-type']).toContain('text/html');
    expect(body).toContain('<html>');
    expect(await total()).toBe(0);
  });

  it('cuts the answer in half', async () => {
    await world.emulator.fault({ truncated: true });
    const { status, body } = await send();
    expect(status).toBe(200);
    expect(body).toMatch(/^\{"messaging_product"/);
    expect(() => JSON.parse(body)).toThrow();
    expect(await total()).toBe(1);
  });

  it('leaves the answer empty', async () => {
    await world.emulator.fault({ empty: true });
    const { status, body } = await send();
    expect(status).toBe(200);
    expect(body).toBe('');
    expect(await total()).toBe(1);
  });

  it('cuts a download', async () => {
    const { url } = await world.emulator.media({
      phone_number_id: ONE.number,
      size_bytes: 500_000,
    });
    await world.emulator.fault({ match: { path: '^/attachments/' }, truncated: true });
    const response = await request(url, { headers: { authorization: `Bearer ${ONE.token}` } });
    await expect(response.body.arrayBuffer()).rejects.toThrow();
  });
});

describe('the match of a fault', () => {
  const error = { code: 131016 };

  it('considers method, path, number, query and body', async () => {
    await world.emulator.fault({
      match: {
        method: 'post',
        path: '/messages$',
        phone_number_id: ONE.number,
        body_contains: '15550100888',
      },
      error,
    });
    expect((await api('GET', `/${ONE.number}`)).status).toBe(200);
    expect((await send()).status).toBe(200);
    expect((await send('15550100888')).body.error.code).toBe(131016);
    await world.emulator.fault({ match: { query_contains: 'status' }, error });
    expect((await api('GET', `/${ONE.number}?fields=id`)).status).toBe(200);
    expect((await api('GET', `/${ONE.number}?fields=status`)).status).toBe(500);
  });

  it('applies as many times as requested, or until it is cleared', async () => {
    await world.emulator.fault({ times: 2, error });
    const codes = [];
    for (let i = 0; i < 3; i += 1) codes.push((await send()).status);
    expect(codes).toEqual([500, 500, 200]);
    const { id } = await world.emulator.fault({ times: -1, error });
    for (let i = 0; i < 3; i += 1) expect((await send()).status).toBe(500);
    expect((await world.emulator.faults()).map(({ triggered }) => triggered)).toEqual([2, 3]);
    await world.emulator.clearFaults(id);
    expect((await send()).status).toBe(200);
  });

  it('can be random and repeatable by seed', async () => {
    const run = async (): Promise<string> => {
      await world.emulator.clearFaults();
      await world.emulator.fault({ times: -1, probability: 0.4, seed: 11, error });
      const seen = [];
      for (let i = 0; i < 20; i += 1) seen.push((await send()).status === 200 ? 'o' : 'x');
      return seen.join('');
    };
    const first = await run();
    expect(first).toMatch(/x/);
    expect(first).toMatch(/o/);
    expect(await run()).toBe(first);
  });

  it('requires exactly one effect', async () => {
    await expect(world.emulator.fault({})).rejects.toThrow('exactly one effect');
    await expect(world.emulator.fault({ hang: true, empty: true })).rejects.toThrow('one effect');
    await expect(world.emulator.fault({ match: { path: '(' }, hang: true })).rejects.toThrow(
      'regular',
    );
  });

  it('is recorded in the request log', async () => {
    await world.emulator.fault({ error });
    await send();
    const [entry] = (await world.emulator.requests()).slice(-1);
    expect(entry).toMatchObject({ status: 500, fault: expect.stringContaining('error') });
  });
});
