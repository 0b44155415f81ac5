// The API behind the console, as a browser calls it: sessions, partner settings, the webhook
// secret, the test event and billing.
import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { ONE, joinMesh, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { isSigned, isStandardSigned, startPartner } from '../testkit/partner';
import { faultsOf, READS } from './console-answers';

let mesh: Mesh;
let origin: string;

beforeAll(async () => {
  mesh = await joinMesh({ PROXY_HOPS: '1' }, ['gateway']);
  origin = new URL(mesh.base_url).origin;
});
afterAll(() => mesh.stop());

interface Answer {
  status: number;
  headers: Headers;
  body: any; // any: tests read arbitrary response bodies
}

/** Sends a request; a successful answer must match the schema of its row. */
async function ask(
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const answer = await fetch(`${origin}/dashboard/api${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const received = (await answer.json()) as Answer['body'];
  if (answer.ok) expect(faultsOf(method, path, received)).toEqual([]);
  return { status: answer.status, headers: answer.headers, body: received };
}

/** Log-ins are limited by address, which the proxy in front reports. */
const logIn = (partner_key: unknown, address = '192.0.2.40'): Promise<Answer> =>
  ask('POST', '/session', {
    body: { partner_key },
    headers: { origin, 'x-forwarded-for': address },
  });

/** A logged-in browser: it sends its cookie, its origin and the CSRF token of the page. */
interface Browser {
  cookie: string;
  csrf: string;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

async function browserOf(
  { partner_key }: Pick<TestPartner, 'partner_key'>,
  address?: string,
): Promise<Browser> {
  const { status, headers, body } = await logIn(partner_key, address);
  expect(status).toBe(201);
  const cookie = (headers.get('set-cookie') as string).split(';')[0] as string;
  const csrf = body.csrf_token as string;
  return {
    cookie,
    csrf,
    call: (method, path, given) =>
      ask(method, path, {
        body: given,
        headers: { cookie, origin, 'x-csrf-token': csrf },
      }),
  };
}

const refused = ({ status, body }: Answer): [number, string] => [status, body.error?.code];

describe('a session', () => {
  test('is opened by the partner key and names its partner', async () => {
    const partner = await mesh.createPartner({ name: 'Acme' });
    const { status, headers, body } = await logIn(partner.partner_key);
    expect(status).toBe(201);
    expect(body).toEqual({
      success: true,
      partner_id: partner.partner_id,
      name: 'Acme',
      expires_at: expect.stringMatching(/Z$/),
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      shows_texts: false,
      person: null,
      holders: {
        send: ['owner', 'developer', 'support'],
        read: ['owner', 'developer', 'support'],
        manage: ['owner', 'developer'],
        billing: ['owner', 'billing'],
      },
    });
    const cookie = headers.get('set-cookie') as string;
    expect(cookie).toMatch(/^bmg_session=[\w-]{43}; Max-Age=28800; Path=\/dashboard; HttpOnly; /);
    expect(cookie).toContain('SameSite=Strict');
    expect(headers.get('cache-control')).toBe('no-store');
    const who = await ask('GET', '/session', {
      headers: { cookie: cookie.split(';')[0] as string },
    });
    expect([who.status, who.body]).toEqual([200, body]);
  });

  test('is stored as a keyed hash: neither its token nor the key is in the store', async () => {
    const partner = await mesh.createPartner();
    const { cookie } = await browserOf(partner);
    const client = await MongoClient.connect(mesh.env['MONGO_URL'] as string);
    try {
      const stored = await client
        .db(`${mesh.env['MONGO_DATABASE_PREFIX']}onboarding`)
        .collection('dashboard_sessions')
        .find({ partner_id: partner.partner_id })
        .toArray();
      expect(stored).toHaveLength(1);
      expect(JSON.stringify(stored)).not.toContain(cookie.split('=')[1]);
      expect(JSON.stringify(stored)).not.toContain(partner.partner_key);
    } finally {
      await client.close();
    }
  });

  test.each([
    ['no key', undefined, 400, 'MISSING_FIELDS'],
    ['a blank key', ' ', 400, 'MISSING_FIELDS'],
    ['a number', 7, 400, 'INVALID_FIELD'],
    ['a malformed key', 'nonsense', 401, 'INVALID_PARTNER_KEY'],
    ['a connect token', `bmgc_${'a'.repeat(38)}`, 401, 'INVALID_PARTNER_KEY'],
  ])('is not opened by %s', async (_name, key, status, code) => {
    const answer = await logIn(key);
    expect(refused(answer)).toEqual([status, code]);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
  });

  test('is null for a browser that has none, instead of an error', async () => {
    const current = (headers: Record<string, string>) =>
      ask('GET', '/session/current', { headers });
    const browser = await browserOf(await mesh.createPartner({ name: 'Acme' }));
    const { status, body } = await current({ cookie: browser.cookie });
    expect([status, body.session.name]).toEqual([200, 'Acme']);
    expect(body.session.csrf_token).toBe(browser.csrf);
    await browser.call('DELETE', '/session');
    const wrong = `bmg_session=${randomBytes(32).toString('base64url')}`;
    for (const headers of [{}, { cookie: browser.cookie }, { cookie: wrong }]) {
      const none = await current(headers as Record<string, string>);
      const log_in = { passkeys: false, issuer: null };
      expect([none.status, none.body]).toEqual([200, { success: true, session: null, log_in }]);
    }
  });

  test('is required for every call; the partner key in a header does not replace it', async () => {
    const partner = await mesh.createPartner();
    const wrong = `bmg_session=${randomBytes(32).toString('base64url')}`;
    for (const headers of [{}, { 'x-partner-key': partner.partner_key }, { cookie: wrong }]) {
      const answer = await ask('GET', '/settings', { headers: headers as Record<string, string> });
      expect(refused(answer)).toEqual([401, 'UNAUTHORIZED']);
    }
  });

  test('ends when the browser logs out', async () => {
    const browser = await browserOf(await mesh.createPartner());
    const ended = await browser.call('DELETE', '/session');
    expect([ended.status, ended.body]).toEqual([200, { success: true }]);
    expect(ended.headers.get('set-cookie')).toMatch(/^bmg_session=; Max-Age=0;/);
    expect(refused(await browser.call('GET', '/session'))).toEqual([401, 'UNAUTHORIZED']);
  });
});

describe('a change', () => {
  const CHANGES: Array<[string, string, object | undefined]> = [
    ['DELETE', '/session', undefined],
    ['PATCH', '/settings', { webhook_url: null }],
    ['POST', '/webhook-secret/reveal', undefined],
    ['POST', '/webhook-secret/rotate', {}],
    ['POST', '/webhook-test', undefined],
  ];

  test.each(CHANGES)(
    '%s %s is accepted from the console’s own page only',
    async (method, path, body) => {
      const partner = await mesh.createPartner();
      const { cookie, csrf, call } = await browserOf(partner);
      const from = (headers: Record<string, string>) =>
        ask(method, path, { body, headers: { cookie, ...headers } });
      const token = { 'x-csrf-token': csrf };
      for (const headers of [
        { ...token },
        { ...token, origin: 'https://evil.example' },
        { ...token, origin: 'null' },
        { ...token, 'sec-fetch-site': 'cross-site' },
        { origin },
        { origin, 'x-csrf-token': randomBytes(32).toString('base64url') },
      ]) {
        expect(refused(await from(headers))).toEqual([401, 'UNAUTHORIZED']);
      }
      // Nothing has changed, and the session still works.
      const { body: shown } = await call('GET', '/settings');
      expect(shown.settings.webhook_url).toBe(partner.receiver.url);
      expect(partner.receiver.arrivals).toEqual([]);
      expect((await call(method, path, body)).status).toBe(200);
    },
  );

  test('from another site cannot log the browser in', async () => {
    const partner = await mesh.createPartner();
    const answer = await ask('POST', '/session', {
      body: { partner_key: partner.partner_key },
      headers: { origin: 'https://evil.example' },
    });
    expect(refused(answer)).toEqual([401, 'UNAUTHORIZED']);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('the partner settings', () => {
  test('show the partner’s own values', async () => {
    const partner = await mesh.createPartner({
      name: 'Acme',
      max_wabas: 5,
      rate_limit_per_sec: 7,
    });
    await partner.register(ONE);
    const { call } = await browserOf(partner);
    const { status, body } = await call('GET', '/settings');
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      settings: {
        partner_id: partner.partner_id,
        name: 'Acme',
        status: 'active',
        webhook_url: partner.receiver.url,
        extra_events: [],
        connect_origins: [],
        logo_url: null,
        logo_id: null,
        contacts: { technical: null, billing: null },
        rate_limit_per_sec: 7,
        key_hint: `bmgk_…${partner.partner_key.slice(-4)}`,
        plan: { max_wabas: 5, active_wabas: 1, slots: 1 },
        webhook_secret: {
          created_at: expect.stringMatching(/Z$/),
          previous_expires_at: null,
        },
        alerts: {
          spend_per_day: null,
          failure_rate: null,
          webhook_failures: null,
          quality_drops: null,
          unpaid_slots: null,
        },
        raised_alerts: [],
        notices: [],
      },
    });
  });

  test('redirect events to a new webhook URL at once', async () => {
    const partner = await mesh.createPartner();
    const elsewhere = await startPartner();
    try {
      await partner.register(ONE);
      const { call } = await browserOf(partner);
      const changed = await call('PATCH', '/settings', { webhook_url: elsewhere.url });
      expect([changed.status, changed.body.settings.webhook_url]).toEqual([200, elsewhere.url]);
      await mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, text: 'Hi' });
      await eventually(() => elsewhere.of('message.received').length === 1);
      expect(partner.receiver.of('message.received')).toEqual([]);
      const none = await call('PATCH', '/settings', { webhook_url: null });
      expect(none.body.settings.webhook_url).toBeNull();
    } finally {
      await elsewhere.close();
    }
  });

  test('name the extra events that the webhook URL gets beside those of the contract', async () => {
    const partner = await mesh.createPartner();
    await partner.register(ONE);
    const { call } = await browserOf(partner);
    const changed = await call('PATCH', '/settings', { extra_events: ['call.connect'] });
    expect([changed.status, changed.body.settings]).toEqual([
      200,
      expect.objectContaining({
        extra_events: ['call.connect'],
        webhook_url: partner.receiver.url,
      }),
    ]);
    await mesh.emulator.inboundCall({ phone_number_id: ONE.phone_number_id });
    await eventually(() => partner.receiver.of('call.connect').length === 1);
    await call('PATCH', '/settings', { extra_events: [] });
    await mesh.emulator.inboundCall({ phone_number_id: ONE.phone_number_id });
    await mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, text: 'Hi' });
    await eventually(() => partner.receiver.of('message.received').length === 1);
    expect(partner.receiver.of('call.connect')).toHaveLength(1);
  });

  test('list the origins to which a sign-up may lead', async () => {
    const partner = await mesh.createPartner();
    const { call } = await browserOf(partner);
    const link = (body: object) => partner.call('POST', '/connect/session', body);
    const failure_url = 'https://shop.example.com/failed?a=1';
    const none = await link({ failure_url });
    expect([none.status, none.body.error.details]).toEqual([400, { field: 'failure_url' }]);
    const connect_origins = ['https://shop.example.com', 'http://127.0.0.1:7001'];
    const changed = await call('PATCH', '/settings', { connect_origins });
    expect([changed.status, changed.body.settings]).toEqual([
      200,
      expect.objectContaining({ connect_origins }),
    ]);
    expect((await link({ failure_url, origin: connect_origins[1] })).status).toBe(201);
    for (const [field, value] of [
      ['origin', 'https://evil.example'],
      ['success_url', 'https://evil.example/'],
      ['success_url', `https://shop.example.com/${'x'.repeat(2_048)}`],
      ['success_url', ''],
    ] as const) {
      const { status, body } = await link({ failure_url, [field]: value });
      expect([status, body.error.code, body.error.details.field]).toEqual([
        400,
        'INVALID_FIELD',
        field,
      ]);
    }
  });

  test.each([
    ['a path', ['https://shop.example.com/path'], 'connect_origins[0]'],
    ['no list', 'https://shop.example.com', 'connect_origins'],
    ['a number', [1], 'connect_origins[0]'],
    [
      'too many',
      Array.from({ length: 21 }, (_none, at) => `https://s${at}.example`),
      'connect_origins',
    ],
  ])('refuse as origins of the sign-up: %s', async (_name, connect_origins, field) => {
    const answer = await browser.call('PATCH', '/settings', { connect_origins });
    expect(refused(answer)).toEqual([400, 'INVALID_FIELD']);
    expect(answer.body.error.details).toMatchObject({ field });
  });

  test.each([
    ['an unknown extra event', ['call.connect', 'call.eaten'], 'extra_events[1]'],
    ['an extra event that is no list', 'call.connect', 'extra_events'],
  ])('refuse %s', async (_name, extra_events, field) => {
    const answer = await browser.call('PATCH', '/settings', { extra_events });
    expect(refused(answer)).toEqual([400, 'INVALID_FIELD']);
    expect(answer.body.error.details).toMatchObject({ field });
    const { settings } = (await browser.call('GET', '/settings')).body;
    expect(settings.extra_events).toEqual([]);
  });

  test('keep the contacts, and refuse a wrong one together with the rest of the change', async () => {
    const change = async (contacts: object) =>
      browser.call('PATCH', '/settings', { contacts, webhook_url: owner.receiver.url });
    const contacts = { technical: 'ops@partner.example', billing: 'bills@partner.example' };
    await change(contacts);
    const changed = await change({ technical: ' On-Call@Partner.example ', billing: null });
    const kept = { technical: 'on-call@partner.example', billing: null };
    expect([changed.status, changed.body.settings.contacts]).toEqual([200, kept]);
    const wrong = await change({ technical: '', billing: 'bills' });
    expect(refused(wrong)).toEqual([400, 'INVALID_FIELD']);
    expect(wrong.body.error.details).toMatchObject({ field: 'contacts.billing' });
    expect((await browser.call('GET', '/settings')).body.settings.contacts).toEqual(kept);
  });

  // One browser for all of them, because log-ins are rate-limited.
  let owner: TestPartner;
  let browser: Browser;
  beforeAll(async () => {
    owner = await mesh.createPartner();
    browser = await browserOf(owner);
  });

  test.each([
    ['nothing', {}, 'MISSING_FIELDS'],
    ['an empty URL', { webhook_url: '' }, 'INVALID_FIELD'],
    ['a number', { webhook_url: 7 }, 'INVALID_FIELD'],
  ])('refuse %s', async (_name, body, code) => {
    const answer = await browser.call('PATCH', '/settings', body);
    expect(refused(answer)).toEqual([400, code]);
    expect(JSON.stringify(answer.body.error.details)).toContain('webhook_url');
    const { settings } = (await browser.call('GET', '/settings')).body;
    expect(settings.webhook_url).toBe(owner.receiver.url);
  });
});

describe('alerts', () => {
  /** A later time makes it another occurrence. */
  const flagged = async (later_s = 0): Promise<void> => {
    const { display_phone_number } = await mesh.emulator.number(ONE.phone_number_id);
    const value = { event: 'FLAGGED', display_phone_number, current_limit: 'TIER_2K' };
    const changes = [{ field: 'phone_number_quality_update', value }];
    const entry = [{ id: ONE.waba_id, time: Math.floor(Date.now() / 1_000) + later_s, changes }];
    await mesh.emulator.postWebhook({ body: { object: 'whatsapp_business_account', entry } });
  };

  test('are off by default, signed, and sent once a day for each cause', async () => {
    const [watching, silent] = [await mesh.createPartner(), await mesh.createPartner()];
    await watching.register(ONE);
    await silent.register(ONE);
    const { call } = await browserOf(watching);
    const thresholds = { quality_drops: true, spend_per_day: '50.00', failure_rate: 5 };
    const changed = await call('PATCH', '/settings', { alerts: thresholds });
    expect(changed.body.settings.alerts).toMatchObject({ ...thresholds, unpaid_slots: null });
    await flagged();
    const alert = await eventually(() => watching.receiver.of('partner.alert')[0]);
    expect(isSigned(alert, watching.webhook_secret)).toBe(true);
    expect(alert.body).toMatchObject({
      waba_id: null,
      phone_number_id: null,
      data: {
        cause: 'quality_drops',
        value: '1',
        threshold: 'true',
        phone_number_id: ONE.phone_number_id,
      },
      meta: { event_id: expect.stringMatching(/^evt_/) },
    });
    await flagged(5);
    await eventually(() => silent.receiver.of('waba.quality_updated').length >= 2);
    const { settings } = (await call('GET', '/settings')).body;
    expect(settings.raised_alerts).toMatchObject([{ cause: 'quality_drops', value: '1' }]);
    expect(watching.receiver.of('partner.alert')).toHaveLength(1);
    expect(silent.receiver.of('partner.alert')).toEqual([]);
    const ended = await call('PATCH', '/settings', { alerts: { quality_drops: null } });
    expect(ended.body.settings.alerts).toMatchObject({ quality_drops: null, failure_rate: 5 });
  });

  test('refuse a wrong threshold, name it and change nothing', async () => {
    const { call } = await browserOf(await mesh.createPartner());
    const wrong: Array<[object | number, string]> = [
      [{ spend_per_day: 'much' }, 'alerts.spend_per_day'],
      [{ spend_per_day: '0' }, 'alerts.spend_per_day'],
      [{ spend_per_day: 5 }, 'alerts.spend_per_day'],
      [{ failure_rate: 101 }, 'alerts.failure_rate'],
      [{ failure_rate: 1.5 }, 'alerts.failure_rate'],
      [{ webhook_failures: 0 }, 'alerts.webhook_failures'],
      [{ quality_drops: 'yes' }, 'alerts.quality_drops'],
      [{ unpaid_slots: true, webhook_failures: -1 }, 'alerts.webhook_failures'],
      [{ rain: true }, 'alerts'],
      [7, 'alerts'],
    ];
    for (const [alerts, field] of wrong) {
      const answer = await call('PATCH', '/settings', { alerts });
      expect([alerts, ...refused(answer)]).toEqual([alerts, 400, 'INVALID_FIELD']);
      expect(answer.body.error.details).toMatchObject({ field });
    }
    const { settings } = (await call('GET', '/settings')).body;
    expect(Object.values(settings.alerts).filter((one) => one !== null)).toEqual([]);
  });
});

describe('the webhook secret', () => {
  test('is revealed on request, and a rotated one signs at once', async () => {
    const partner = await mesh.createPartner();
    const { call } = await browserOf(partner);
    const shown = await call('POST', '/webhook-secret/reveal');
    expect(shown.body).toEqual({
      success: true,
      webhook_secret: partner.webhook_secret,
      created_at: expect.stringMatching(/Z$/),
    });
    const rotated = await call('POST', '/webhook-secret/rotate', { overlap_hours: 1 });
    expect(rotated.status).toBe(200);
    const fresh = rotated.body.webhook_secret as string;
    expect(fresh).not.toBe(partner.webhook_secret);
    await call('POST', '/webhook-test');
    const [arrival] = partner.receiver.of('webhook.test');
    if (!arrival) throw new Error('the test event did not arrive');
    expect(isSigned(arrival, fresh)).toBe(true);
    expect(isStandardSigned(arrival, fresh)).toBe(true);
    expect(isStandardSigned(arrival, partner.webhook_secret)).toBe(true);
    const { settings } = (await call('GET', '/settings')).body;
    expect(Date.parse(settings.webhook_secret.previous_expires_at)).toBeGreaterThan(Date.now());
  });

  test('is not rotated twice by a double click, nor with an overlap above the maximum', async () => {
    const { call } = await browserOf(await mesh.createPartner());
    const long = await call('POST', '/webhook-secret/rotate', { overlap_hours: 721 });
    expect(refused(long)).toEqual([400, 'INVALID_FIELD']);
    const several = await Promise.all(
      Array.from({ length: 5 }, () => call('POST', '/webhook-secret/rotate', {})),
    );
    const limited = several.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    expect(limited[0]?.headers.get('retry-after')).toBe('1');
  });
});

describe('a test of the webhook', () => {
  test('sends one signed event in the standard format', async () => {
    const partner = await mesh.createPartner();
    await partner.register(ONE);
    const { call } = await browserOf(partner);
    const { status, body } = await call('POST', '/webhook-test');
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      event_id: expect.stringMatching(/^evt_/),
      event: 'webhook.test',
      delivered: true,
      http_status: 200,
      duration_ms: expect.any(Number),
      error: null,
    });
    await mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, text: 'Hi' });
    const [real] = await eventually(() => {
      const found = partner.receiver.of('message.received');
      return found.length > 0 && found;
    });
    const [sent] = partner.receiver.of('webhook.test');
    if (!sent || !real) throw new Error('an event did not arrive');
    expect(isSigned(sent, partner.webhook_secret)).toBe(true);
    expect(isStandardSigned(sent, partner.webhook_secret)).toBe(true);
    expect(sent.headers['webhook-id']).toBe(body.event_id);
    expect(Object.keys(sent.body)).toEqual(Object.keys(real.body));
    expect(sent.body.meta).toEqual({ ...real.body.meta, event_id: body.event_id });
    expect(sent.body).toMatchObject({ waba_id: null, phone_number_id: null });
  });

  test('reports the receiver’s answer, stores nothing and does not retry', async () => {
    const partner = await mesh.createPartner();
    const { call } = await browserOf(partner);
    partner.receiver.behave((_arrival, response) => void response.writeHead(500).end());
    const { body } = await call('POST', '/webhook-test');
    expect(body).toMatchObject({ delivered: false, http_status: 500, error: 'HTTP 500' });
    expect((await partner.call('GET', '/webhooks/failed')).body.count).toBe(0);
    const retry = await partner.call('POST', `/webhooks/retry/${body.event_id}`);
    expect(retry.status).toBe(404);
    expect(partner.receiver.arrivals).toHaveLength(1);
  });

  test('reports a refused connection and a missing webhook URL', async () => {
    const partner = await mesh.createPartner({ webhook_url: 'http://127.0.0.1:3/none' });
    const { call } = await browserOf(partner);
    const { body } = await call('POST', '/webhook-test');
    expect(body).toMatchObject({ delivered: false, http_status: null, error: 'refused' });
    await call('PATCH', '/settings', { webhook_url: null });
    const without = await eventually(async () => {
      const answer = await call('POST', '/webhook-test');
      return answer.status !== 429 && answer;
    });
    expect(refused(without)).toEqual([400, 'MISSING_FIELDS']);
    expect(without.body.error.details).toEqual({ fields: ['webhook_url'] });
  });
});

test('shows billing without invoices and refuses a card when no processor is configured', async () => {
  const partner = await mesh.createPartner();
  const { call } = await browserOf(partner);
  const { status, body } = await call('GET', '/billing');
  expect([status, body.billing]).toEqual([
    200,
    {
      processor: 'none',
      state: 'active',
      card: null,
      card_known: true,
      invoices: [],
      waiting_waba_ids: [],
    },
  ]);
  expect(refused(await call('POST', '/card', {}))).toEqual([503, 'NOT_CONFIGURED']);
});

test('uses the client address that the proxy saw, not the one the client claims', async () => {
  const attempt = async (claimed: string, seen: string): Promise<number> => {
    const headers = { origin, 'x-forwarded-for': `${claimed}, ${seen}` };
    return (await ask('POST', '/session', { body: { partner_key: 'nonsense' }, headers })).status;
  };
  const statuses: number[] = [];
  for (let count = 0; count < 31; count += 1) {
    statuses.push(await attempt(`198.51.100.${count}`, '203.0.113.7'));
  }
  expect(statuses).toEqual([...Array.from({ length: 30 }, () => 401), 429]);
  expect(await attempt('203.0.113.7', '203.0.113.8')).toBe(401);
});

test('limits log-in attempts from one address', async () => {
  const attempts = await Promise.all(Array.from({ length: 60 }, () => logIn('nonsense')));
  const limited = attempts.filter(({ status }) => status === 429);
  expect(limited.length).toBeGreaterThanOrEqual(30);
  expect(refused(limited[0] as Answer)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
  expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('answers two people who open the overview at once', async () => {
  const browser = await browserOf(await mesh.createPartner(), '192.0.2.66');
  const paths = [
    '/settings',
    '/billing',
    '/notices',
    '/v1/clients',
    '/v1/webhooks/failed?limit=100',
  ];
  const statuses = async (count: number): Promise<number[]> => {
    const reads = Array.from({ length: count }, (_none, at) => paths[at % paths.length] as string);
    const answers = await Promise.all(reads.map((path) => browser.call('GET', path)));
    return answers.map(({ status }) => status);
  };
  // An overview makes 18 requests.
  expect(new Set(await statuses(2 * 18))).toEqual(new Set([200]));
});

describe('the endpoints below /dashboard/api/v1', () => {
  const ADDRESS = '192.0.2.77';

  test('serve a session under the rules of the endpoints, only for its own partner', async () => {
    const [partner, other] = await Promise.all([mesh.createPartner(), mesh.createPartner()]);
    await partner.register(ONE);
    const browser = await browserOf(partner, ADDRESS);
    const clients = await browser.call('GET', '/v1/clients');
    expect([clients.status, clients.body.total]).toEqual([200, 1]);
    expect(clients.headers.get('ratelimit-limit')).toBe('200');
    expect(clients.headers.get('cache-control')).toBe('no-store');
    expect((await (await browserOf(other, ADDRESS)).call('GET', '/v1/clients')).body.total).toBe(0);
    expect(refused(await browser.call('GET', '/v1/templates'))).toEqual([400, 'MISSING_WABA']);
    expect(refused(await browser.call('POST', '/v1/connect/session', { state: 7 }))).toEqual([
      400,
      'INVALID_FIELD',
    ]);
    const created = await browser.call('POST', '/v1/connect/session', { state: 'x' });
    expect(created.status).toBe(201);
    await eventually(async () => {
      const { body } = await partner.call('GET', '/usage');
      return body.endpoints.some(
        ({ endpoint, calls }: { endpoint: string; calls: number }) =>
          endpoint === '/connect/session' && calls >= 1,
      );
    });
    // Reads of the console's pages do not count as calls of the partner's programs.
    const { body } = await partner.call('GET', '/usage');
    const named = body.endpoints.map(({ endpoint }: { endpoint: string }) => endpoint);
    expect(named).toContain('console /clients');
    expect(named).not.toContain('/clients');
  });

  test('refuse a key without a session, another site, and a change without the CSRF token', async () => {
    const partner = await mesh.createPartner();
    const { cookie, csrf } = await browserOf(partner, ADDRESS);
    const create = (headers: Record<string, string>) =>
      ask('POST', '/v1/connect/session', { body: {}, headers });
    const wrong = [
      { 'x-partner-key': partner.partner_key, origin },
      { cookie, origin },
      { cookie, origin: 'https://elsewhere.example', 'x-csrf-token': csrf },
    ];
    for (const headers of wrong) {
      expect(refused(await create(headers))).toEqual([401, 'UNAUTHORIZED']);
    }
    expect((await create({ cookie, origin, 'x-csrf-token': csrf })).status).toBe(201);
  });
});

test.each(READS)('GET %s matches its schema', async (path) => {
  const browser = await browserOf(await mesh.createPartner(), '192.0.2.32');
  expect((await browser.call('GET', path)).status).toBe(200);
});

test('shows the calls with keys, without what people wrote, only to their partner', async () => {
  const [partner, other] = await Promise.all([mesh.createPartner(), mesh.createPartner()]);
  await partner.register(ONE);
  const browser = await browserOf(partner, '192.0.2.31');
  const number = { 'x-waba-id': ONE.waba_id };
  const message = { to: '15550100777' };
  const sent = await partner.call('POST', '/messages/send?q=quiet', message, number);
  expect(sent.status).toBe(400);
  const created = await partner.call('POST', '/keys', { name: 'Checkout', scopes: ['read'] });
  const { key, secret } = created.body;
  await partner.call('GET', '/broadcasts/4711', undefined, { 'x-partner-key': secret });
  await browser.call('GET', '/v1/usage');
  const read = async (query = ''): Promise<Array<Record<string, any>>> =>
    (await browser.call('GET', `/requests${query}`)).body.requests;
  const requests = await eventually(async () => {
    const found = await read();
    return found.length >= 4 ? found : undefined;
  });
  expect(requests).toEqual([
    expect.objectContaining({
      ...{ method: 'GET', path: '/broadcasts/{broadcast_id}', status: 404, key_id: key.key_id },
      parameters: '{"broadcast_id":"4711"}',
    }),
    expect.objectContaining({ method: 'POST', path: '/keys', status: 201, key_id: null }),
    {
      id: expect.any(String),
      at: expect.stringMatching(/Z$/),
      method: 'POST',
      path: '/messages/send',
      status: 400,
      code: sent.body.error.code,
      meaning: expect.any(String),
      action: expect.any(String),
      duration_ms: expect.any(Number),
      request_id: sent.body.error.request_id,
      ignored: 'q',
      upstream_code: null,
      key_id: null,
      waba_id: ONE.waba_id,
      phone_number_id: null,
      parameters: '{"q":"… (5 characters)"}',
      request_body: '{"to":"… (11 characters)"}',
      answer_body: expect.stringContaining('"details":{"fields":["text"]}'),
    },
    expect.objectContaining({ method: 'POST', path: '/clients/register', code: null }),
  ]);
  const all = JSON.stringify(requests);
  for (const hidden of ['quiet', '15550100777', 'Checkout', secret]) {
    expect(all).not.toContain(hidden);
  }
  const pathsOf = async (query: string) => (await read(query)).map(({ path }) => path);
  expect(await pathsOf('?status=failed&limit=1')).toEqual(['/broadcasts/{broadcast_id}']);
  expect(await pathsOf('?endpoint=POST%20/keys&key_id=partner_key')).toEqual(['/keys']);
  expect(await pathsOf(`?id=${requests[1]?.['id']}`)).toEqual(['/keys']);
  const theirs = await (await browserOf(other, '192.0.2.31')).call('GET', '/requests');
  expect(theirs.body).toMatchObject({ requests: [], after: null });
});

test('neither answers nor the stream have what a customer wrote', async () => {
  const partner = await mesh.createPartner();
  await partner.register(ONE);
  const browser = await browserOf(partner, '192.0.2.33');
  const { phone_number_id } = ONE;
  const text = 'Nobody in the console reads this';
  await mesh.emulator.inbound({ phone_number_id, from: '15550100779', text });
  const read = async (path: string) => JSON.stringify((await browser.call('GET', path)).body);
  const id = await eventually(async () => {
    const { body } = await partner.call('GET', '/events?limit=100');
    const events = body.events as Array<{ event_id: string }>;
    return events.find((one) => JSON.stringify(one).includes(text))?.event_id ?? false;
  });
  for (const path of ['/v1/events', `/v1/events/${id}`]) {
    const answer = await read(path);
    expect(answer).toContain(id);
    expect(answer).not.toContain(text);
  }
  const { cookie } = browser;
  const url = `${origin}/dashboard/api/events/stream?after=0`;
  const abort = new AbortController();
  const stream = await fetch(url, { headers: { cookie }, signal: abort.signal });
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
  let sent = '';
  while (!sent.includes(id)) sent += new TextDecoder().decode((await reader.read()).value);
  abort.abort();
  expect(sent).not.toContain(text);
});

test('streams new events to a session, resumes after the last one, and ends with the session', async () => {
  const partner = await mesh.createPartner();
  await partner.register(ONE);
  const browser = await browserOf(partner, '192.0.2.32');
  const path = `${origin}/dashboard/api/events/stream?after=0`;
  expect((await fetch(path)).status).toBe(401);
  const { cookie } = browser;
  const answer = await fetch(path, { headers: { cookie } });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  let text = '';
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const part of answer.body as never as AsyncIterable<Uint8Array>) {
      text += decoder.decode(part, { stream: true });
    }
  })();
  const number = { 'x-waba-id': ONE.waba_id };
  await partner.call('POST', '/messages/send', { to: '15550100777', text: 'Hello' }, number);
  await eventually(() => text.includes('"event":"message.delivered"'));
  const positions = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(positions).toEqual(positions.toSorted((one, other) => one - other));
  const abort = new AbortController();
  const resumed = await fetch(path, {
    headers: { cookie, 'last-event-id': String(positions[0]) },
    signal: abort.signal,
  });
  const reader = (resumed.body as ReadableStream<Uint8Array>).getReader();
  let rest = '';
  while (!/^id: \d+\n/m.test(rest)) rest += new TextDecoder().decode((await reader.read()).value);
  expect(/^id: (\d+)$/m.exec(rest)?.[1]).toBe(String(positions[1]));
  abort.abort();
  await browser.call('DELETE', '/session');
  await ended;
});

describe('the console', () => {
  test('is a page with a strict policy and hashed files that browsers keep', async () => {
    const page = await fetch(`${origin}/dashboard/numbers?find=x`);
    const text = await page.text();
    expect([page.status, text]).toEqual([200, expect.stringContaining('<!doctype html>')]);
    const policy = page.headers.get('content-security-policy') as string;
    const [, nonce] = /style-src 'self' 'nonce-([\w-]{22})'/.exec(policy) ?? [];
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(text).toContain(`nonce="${nonce}"`);
    expect(text).not.toMatch(/<script[^>]*>[^<]/);
    expect(page.headers.get('cache-control')).toBe('no-store');
    const [, file] = /src="\.\/(assets\/[^"]+\.js)"/.exec(text) ?? [];
    const script = await fetch(`${origin}/dashboard/${file}`);
    expect(script.headers.get('cache-control')).toContain('immutable');
    expect(script.headers.get('content-encoding')).toBe('gzip');
    expect((await fetch(`${origin}/dashboard/assets/none.js`)).status).toBe(404);
    expect((await fetch(`${origin}/dashboard/api/none`)).status).toBe(404);
  });
});
