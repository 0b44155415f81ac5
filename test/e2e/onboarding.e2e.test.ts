// Onboarding over REST: connect links, codes, the onboarding log, the usage record, and the effect
// of upstream events on clients.
import { eventually } from '../testkit/eventually';
import { ONE, joinMesh, type Mesh, type TestPartner } from '../harness/shared-mesh';

const KEY_HEADER = { 'x-partner-key': '' };

let mesh: Mesh;
let partner: TestPartner;

beforeAll(async () => {
  mesh = await joinMesh();
  partner = await mesh.createPartner();
});
afterAll(() => mesh.stop());
afterEach(() => mesh.emulator.clearFaults());

const code = async (token = ONE.access_token): Promise<string> =>
  (await mesh.emulator.code({ token })).code;
const session = async (body: object = {}, of = partner) =>
  (await of.call('POST', '/connect/session', body)).body as { token: string; connect_url: string };
const byToken = (token: string, body: object) =>
  partner.call('POST', '/clients/register-from-code', body, {
    ...KEY_HEADER,
    'x-connect-token': token,
  });

/** Sends a signed account event of the upstream. */
const accountEvent = async (event: string): Promise<void> => {
  const value = { event };
  const { acknowledged } = await mesh.emulator.postWebhook({
    body: {
      object: 'whatsapp_business_account',
      entry: [
        {
          id: ONE.waba_id,
          time: Math.floor(Date.now() / 1_000),
          changes: [{ field: 'account_update', value }],
        },
      ],
    },
  });
  expect(acknowledged).toBe(1);
};
const send = (of = partner) =>
  of.call(
    'POST',
    '/messages/send',
    { to: '15550100777', text: 'Hello' },
    { 'x-waba-id': ONE.waba_id },
  );

describe('a connect session', () => {
  test('is created with the fields of the contract', async () => {
    const { status, body } = await partner.call('POST', '/connect/session', { state: 's' });
    expect(status).toBe(201);
    expect(body).toEqual({
      success: true,
      connect_url: `${new URL(mesh.base_url).origin}/connect?token=${body.token}`,
      token: expect.stringMatching(/^bmgc_\w+$/),
      expires_in: 1_800,
    });
  });

  test('completes with only its token, returns the state, and repeats the answer', async () => {
    const { token } = await session({ state: 'order-17', display_name: 'Shop' });
    const body = { code: await code() };
    const first = await byToken(token, body);
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      success: true,
      state: 'order-17',
      client: {
        waba_id: ONE.waba_id,
        phone_number_id: ONE.phone_number_id,
        display_name: 'Shop',
        connection_mode: 'coexistence',
        status: 'active',
        quality_rating: 'GREEN',
        registered_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      coexistence_sync: { smb_app_state_sync: 'requested', history: 'requested' },
    });
    const again = await byToken(token, body);
    // The sync of the history may have begun meanwhile.
    const { last_activity_at, data_sync } = again.body.client;
    const { history } = data_sync;
    expect([again.status, again.body.client]).toEqual([
      200,
      {
        ...first.body.client,
        last_activity_at,
        data_sync: { ...first.body.client.data_sync, history },
      },
    ]);
    const other = await byToken(token, { code: await code() });
    expect([other.status, other.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
  });

  test.each([[{ code: 'unknown-code' }, 400, 'CODE_EXCHANGE_FAILED']])(
    'refuses the completion %j',
    async (body, status, error) => {
      const { token } = await session();
      const answer = await byToken(token, body);
      expect([answer.status, answer.body.error.code]).toEqual([status, error]);
    },
  );

  test.each(['bmgc_', 'bmgk_0000', 'nonsense'])('refuses the token %s', async (token) => {
    const answer = await byToken(token, { code: 'any' });
    expect([answer.status, answer.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
  });
});

describe('the log and the configuration', () => {
  test('events have the fields of the contract, newest first, in bounded pages', async () => {
    await session({ state: 'last' });
    const { body } = await partner.call('GET', '/onboarding/events?limit=900');
    expect(body).toMatchObject({ success: true, count: body.events.length, limit: 200 });
    expect(body.events[0]).toEqual({
      state: 'last',
      current_step: 'SESSION_CREATED',
      error_code: null,
      error_message: null,
      upstream_session_id: null,
      waba_id: null,
      phone_number_id: null,
      created_at: expect.stringMatching(/Z$/),
    });
    const times = body.events.map(({ created_at }: { created_at: string }) => created_at);
    expect(times).toEqual([...times].sort().reverse());
    const one = await partner.call('GET', '/onboarding/events?limit=1');
    expect(one.body.count).toBe(1);
    const none = await partner.call('GET', '/onboarding/events?limit=0');
    expect(none.body.error.code).toBe('INVALID_FIELD');
  });
});

describe('upstream events', () => {
  test('stop the sends of every partner within seconds of an offboarding, until a reconnection', async () => {
    const other = await mesh.createPartner();
    for (const one of [partner, other]) {
      await one.register(ONE);
      expect((await send(one)).status).toBe(200);
    }
    await accountEvent('ACCOUNT_OFFBOARDED');
    for (const one of [partner, other]) {
      const refused = await eventually(async () => {
        const answer = await send(one);
        return answer.status === 404 && answer;
      });
      expect(refused.body.error).toMatchObject({ code: 'NO_ACTIVE_WABA', retryable: true });
    }
    await accountEvent('ACCOUNT_RECONNECTED');
    for (const one of [partner, other]) {
      await eventually(async () => (await send(one)).status === 200);
    }
  });

  test('set the last activity of a number when a message arrives', async () => {
    // At most one write for a number in a minute: a write in the last minute counts for this
    // message.
    const before = Date.now() - 60_000;
    await mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, text: 'Hi' });
    await eventually(async () => {
      const { body } = await partner.call('GET', '/clients');
      return Date.parse(body.clients[0].last_activity_at) >= before;
    });
  });
});

describe('the usage record', () => {
  test('counts each call, and each message for the partner that sent it, once', async () => {
    const own = await mesh.createPartner();
    await own.register(ONE);
    await mesh.emulator.behaviour({ duplicate: 2 });
    expect((await send(own)).status).toBe(200);
    const { body } = await eventually(async () => {
      const answer = await own.call('GET', '/usage');
      const counts = Object.values(answer.body.messages) as Array<Record<string, number>>;
      return counts.some(({ read }) => read === 1) && answer;
    });
    await mesh.emulator.behaviour({ duplicate: 0 });
    const [counts] = Object.values(body.messages) as [Record<string, number>];
    expect(counts).toMatchObject({ sent: 1, delivered: 1, read: 1, failed: 0 });
    expect((counts['billable'] as number) + (counts['free'] as number)).toBe(1);
    expect(body.billing).toEqual({
      slots: 1,
      peak_active_wabas: 1,
      active_wabas: 1,
      fee_usd: 10,
    });
    await eventually(async () => {
      const { endpoints } = (await own.call('GET', '/usage')).body;
      return endpoints.find(
        ({ endpoint, calls }: { endpoint: string; calls: number }) =>
          endpoint === '/messages/send' && calls === 1,
      );
    });
  });

  test('covers the requested period', async () => {
    const { body } = await partner.call('GET', '/usage?from=2026-01-01&to=2026-01-31');
    expect(body).toMatchObject({
      success: true,
      period: { from: '2026-01-01T00:00:00.000Z', to: '2026-01-31T23:59:59.999Z' },
      endpoints: [],
      messages: {},
    });
    for (const query of ['from=yesterday', 'from=2026-02-30', 'from=2026-02-02&to=2026-02-01']) {
      const answer = await partner.call('GET', `/usage?${query}`);
      expect([query, answer.status, answer.body.error.code]).toEqual([query, 400, 'INVALID_FIELD']);
    }
    const zoned = await partner.call('GET', '/usage?from=2026-03-01T00:00:00+02:00');
    expect(zoned.body.period.from).toBe('2026-02-28T22:00:00.000Z');
  });
});

describe('the operator', () => {
  test('sees the result of every health check', async () => {
    const { checks } = await mesh.operator.diagnose({}, mesh.call());
    // Other files may have left accounts that are not subscribed (cli.e2e tests them).
    const own = checks.filter(({ name }) => name !== 'subscriptions');
    expect(own.map(({ name, ok }) => [name, ok])).toEqual([
      ['mongo', true],
      ['redis', true],
      ['kafka', true],
      ['keyring', true],
      ['pepper', true],
      ['audit log', true],
      ['upstream', true],
      ['webhook fields', true],
      ['sign-up', true],
      ['settings', true],
    ]);
  });

  test('rotates the key ring, which rewraps nothing with a single key', async () => {
    const done = await mesh.operator.rotateKeyring({ after: undefined, limit: 100 }, mesh.call());
    expect(done).toMatchObject({ key_id: 'local', rewrapped: 0, unreadable: 0 });
    expect(done.next).toBeUndefined();
  });
});
