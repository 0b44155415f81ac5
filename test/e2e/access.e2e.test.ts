// Access rules over HTTP: partner keys, business accounts, response headers and the rate limit.
import {
  callRest,
  ONE,
  joinMesh,
  TWO_A,
  TWO_B,
  type Mesh,
  type TestPartner,
} from '../harness/shared-mesh';

let mesh: Mesh;
let partner: TestPartner;
let other: TestPartner;

beforeAll(async () => {
  mesh = await joinMesh();
  partner = await mesh.createPartner();
  other = await mesh.createPartner({ name: 'Another partner' });
  await partner.register(ONE);
  await other.register(TWO_A);
});
afterAll(() => mesh.stop());

const send = (headers: Record<string, string>, sender: TestPartner = partner) =>
  sender.call('POST', '/messages/send', { to: '15550100777', text: 'Hello' }, headers);

const sentTo = async (to: string) => (await mesh.emulator.messages({ to })).length;

describe('a partner key', () => {
  const refused = async (key: string | undefined) =>
    callRest(
      mesh.base_url,
      'GET',
      '/clients',
      undefined,
      key === undefined ? {} : { 'x-partner-key': key },
    );

  test('is required: a request without one is UNAUTHORIZED', async () => {
    const { status, body } = await refused(undefined);
    expect([status, body.error.code]).toEqual([401, 'UNAUTHORIZED']);
  });

  test.each([
    ['blank', '   ', 'UNAUTHORIZED'],
    ['malformed', 'secret', 'INVALID_PARTNER_KEY'],
    [
      'well-formed but unknown',
      'bmgk_0000000000000000000000000000000000000',
      'INVALID_PARTNER_KEY',
    ],
    ['a connect token', 'bmgc_00000000000000000000000000000000000000', 'INVALID_PARTNER_KEY'],
  ])('is refused when it is %s', async (_name, key, code) => {
    const { status, body } = await refused(key);
    expect([status, body.error.code]).toEqual([401, code]);
    expect(body).toMatchObject({
      success: false,
      error: { retryable: false, upstream_subcode: null, details: null },
    });
  });

  test('with one changed letter fails its checksum and is INVALID_PARTNER_KEY', async () => {
    const last = partner.partner_key.at(-1) === 'A' ? 'B' : 'A';
    const { body } = await refused(partner.partner_key.slice(0, -1) + last);
    expect(body.error.code).toBe('INVALID_PARTNER_KEY');
  });

  test('stops working within seconds of a rotation, and the new key works', async () => {
    const rotating = await mesh.createPartner();
    expect((await rotating.call('GET', '/clients')).status).toBe(200);
    const { partner_key } = await mesh.operator.rotateKey(
      { partner_id: rotating.partner_id },
      mesh.call(),
    );
    expect((await rotating.call('GET', '/clients')).body.error.code).toBe('INVALID_PARTNER_KEY');
    const answer = await rotating.call('GET', '/clients', undefined, {
      'x-partner-key': partner_key,
    });
    expect(answer.status).toBe(200);
  });

  test.each([
    ['suspended', 403, 'PARTNER_SUSPENDED'],
    ['subscription_cancelled', 402, 'SUBSCRIPTION_CANCELLED'],
    ['trial_expired', 402, 'TRIAL_EXPIRED'],
  ])(
    'of a partner in status %s is refused with %i %s, and works again once the partner is active',
    async (status, http, code) => {
      const paused = await mesh.createPartner();
      const { partner_id } = paused;
      expect((await paused.call('GET', '/clients')).status).toBe(200);
      const change = {
        partner_id,
        name: undefined,
        webhook_url: undefined,
        rate_limit_per_sec: undefined,
        max_wabas: undefined,
      };
      await mesh.operator.updatePartner({ ...change, status }, mesh.call());
      const refused = await paused.call('GET', '/clients');
      expect([refused.status, refused.body.error.code]).toEqual([http, code]);
      await mesh.operator.updatePartner({ ...change, status: 'active' }, mesh.call());
      expect((await paused.call('GET', '/clients')).status).toBe(200);
    },
  );
});

describe('a business account', () => {
  test('is required: a request without x-waba-id is MISSING_WABA', async () => {
    const { status, body } = await send({});
    expect([status, body.error.code]).toEqual([400, 'MISSING_WABA']);
    expect(body.error.message).toContain('x-waba-id');
  });

  test.each([
    ['unknown', '900000000000099'],
    ['registered by another partner', TWO_A.waba_id],
    ['a path instead of an ID', '../../etc/passwd'],
    ['over-long', '9'.repeat(300)],
  ])(
    'that is %s is WABA_NOT_REGISTERED with the same message for every cause',
    async (_name, waba_id) => {
      const { status, body } = await send({ 'x-waba-id': waba_id });
      expect([status, body.error.code]).toEqual([404, 'WABA_NOT_REGISTERED']);
      expect(body.error.message).toBe('x-waba-id names no business account registered with you');
    },
  );

  test('with one number needs no x-phone-number-id', async () => {
    expect((await send({ 'x-waba-id': ONE.waba_id })).status).toBe(200);
  });

  test.each(['800000000000009', '../x', TWO_A.phone_number_id])(
    'refuses the phone number ID %s, which does not belong to it',
    async (number) => {
      const { status, body } = await send({
        'x-waba-id': ONE.waba_id,
        'x-phone-number-id': number,
      });
      expect([status, body.error.code]).toEqual([400, 'INVALID_FIELD']);
      expect(body.error.message).toContain('does not belong to the WABA');
      expect(body.error.details.field).toBe('x-phone-number-id');
    },
  );

  test('needs x-phone-number-id as soon as a second number is registered', async () => {
    const headers = { 'x-waba-id': TWO_A.waba_id };
    expect((await send(headers, other)).status).toBe(200);
    expect((await other.register(TWO_B)).status).toBe(201);
    const { status, body } = await send(headers, other);
    expect([status, body.error.code, body.error.retryable]).toEqual([502, 'UPSTREAM_ERROR', false]);
    expect(body.error.message).toContain('x-phone-number-id');
    const named = await send({ ...headers, 'x-phone-number-id': TWO_B.phone_number_id }, other);
    expect(named.status).toBe(200);
    const { clients, total } = (await other.call('GET', '/clients')).body;
    expect(total).toBe(2);
    expect(clients.map((one: { phone_number_id: string }) => one.phone_number_id)).toEqual([
      TWO_A.phone_number_id,
      TWO_B.phone_number_id,
    ]);
  });

  test('stops messaging at once when it is deleted, and a registration restores it', async () => {
    const leaving = await mesh.createPartner();
    await leaving.register(ONE);
    const headers = { 'x-waba-id': ONE.waba_id };
    expect((await send(headers, leaving)).status).toBe(200);
    const before = await sentTo('15550100777');
    const deleted = await leaving.call('DELETE', `/clients/${ONE.waba_id}`);
    expect([deleted.status, deleted.body]).toEqual([
      200,
      { success: true, events_removed_by: expect.any(String) },
    ]);
    const { status, body } = await send(headers, leaving);
    expect([status, body.error.code]).toEqual([404, 'WABA_NOT_REGISTERED']);
    expect(await sentTo('15550100777')).toBe(before);
    expect((await leaving.call('GET', '/clients')).body.total).toBe(0);
    expect((await leaving.call('GET', '/clients?status=deleted')).body.total).toBe(1);
    expect((await leaving.call('DELETE', `/clients/${ONE.waba_id}`)).body.error.code).toBe(
      'WABA_NOT_REGISTERED',
    );
    // Another partner's copy of the account is untouched.
    expect((await send(headers)).status).toBe(200);
    expect((await leaving.register(ONE)).status).toBe(200);
    expect((await send(headers, leaving)).status).toBe(200);
  });
});

describe('every response', () => {
  test('carries notices, a request ID and a trace', async () => {
    for (const path of ['/health', '/clients', '/nothing-here']) {
      const { headers } = await partner.call('GET', path);
      expect(headers.get('x-service-api-version')).toBe('2.9.2');
      expect(headers.get('x-service-release')).toMatch(/^\d+\.\d+\.\d+$/);
      expect(headers.get('x-service-changelog')).toMatch(/\/changelog$/);
      expect(headers.get('x-service-notice-level')).toBe('action_required');
      expect(headers.get('x-service-notice')?.split(',')).toHaveLength(2);
      expect(headers.get('x-request-id')).toMatch(/^[\w.:-]{1,128}$/);
      expect(headers.get('traceparent')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    }
  });

  test('keeps a well-formed request ID and trace of the caller and replaces a malformed ID', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const wellFormed = await partner.call('GET', '/clients', undefined, {
      'x-request-id': 'order-4711',
      traceparent: `00-${trace}-00f067aa0ba902b7-01`,
    });
    expect(wellFormed.headers.get('x-request-id')).toBe('order-4711');
    expect(wellFormed.headers.get('traceparent')).toContain(trace);
    const malformed = await partner.call('GET', '/nothing-here', undefined, {
      'x-request-id': '<script>',
    });
    expect(malformed.headers.get('x-request-id')).not.toBe('<script>');
    expect(malformed.body.error.request_id).toBe(malformed.headers.get('x-request-id'));
  });
});

describe('the rate limit', () => {
  test('refuses requests above the partner’s rate with Retry-After, and admits them a second later', async () => {
    const limited = await mesh.createPartner({ rate_limit_per_sec: 5 });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => limited.call('GET', '/clients')),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(5);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(5);
    for (const { body, headers } of refused) {
      expect(body.error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryable: true });
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(headers.get('ratelimit-limit')).toBe('5');
      expect(headers.get('ratelimit-remaining')).toBe('0');
    }
    // The test needs the refill after a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect((await limited.call('GET', '/clients')).status).toBe(200);
  });
});
