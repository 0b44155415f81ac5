// The API behind the console, as a browser calls it: sessions, partner settings, the webhook
// secret, the test event and billing.
import { randomBytes } from 'node:crypto';
import { ONE, joinMesh, type TestPartner } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { isSigned, isStandardSigned } from '../testkit/partner';
import { READS } from './console-answers';
import { consoleOf, refused, type Console } from './people-support';
import { storedTexts } from './stored';
import { useMesh } from './use-mesh';

const mesh = useMesh(() => joinMesh({ PROXY_HOPS: '1' }, ['gateway']));
const web = {} as Console;
beforeAll(() => Object.assign(web, consoleOf(mesh)));

const ask: Console['ask'] = (...request) => web.ask(...request);
const logIn = (partner_key: unknown) => ask('POST', '/session', { body: { partner_key } });

/** A logged-in browser: it sends its cookie, its origin and the CSRF token of the page. */
async function browserOf({ partner_key }: Pick<TestPartner, 'partner_key'>) {
  const answer = await logIn(partner_key);
  expect(answer.status).toBe(201);
  const cookie = (answer.headers.get('set-cookie') as string).split(';')[0] as string;
  return { cookie, csrf: answer.body.csrf_token as string, call: web.browserOf(answer) };
}

describe('a session', () => {
  test('is opened by the partner key and names its partner', async () => {
    const partner = await mesh.createPartner({ name: 'Acme' });
    const { status, headers, body } = await logIn(partner.partner_key);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      partner_id: partner.partner_id,
      name: 'Acme',
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      person: null,
    });
    const cookie = headers.get('set-cookie') as string;
    expect(cookie).toMatch(/^bmg_session=[\w-]{43}; Max-Age=28800; Path=\/dashboard; HttpOnly; /);
    expect(cookie).toContain('SameSite=Strict');
    const [, token = ''] = /^bmg_session=([^;]+)/.exec(cookie) ?? [];
    expect((await storedTexts(mesh)).filter((text) => text.includes(token))).toEqual([]);
    expect(headers.get('cache-control')).toBe('no-store');
    const who = await ask('GET', '/session', {
      headers: { cookie: cookie.split(';')[0] as string },
    });
    expect([who.status, who.body]).toEqual([200, body]);
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
    const { cookie, csrf, call } = await browserOf(await mesh.createPartner({ name: 'Acme' }));
    const { session } = (await current({ cookie })).body;
    expect(session).toMatchObject({ name: 'Acme', csrf_token: csrf });
    await call('DELETE', '/session');
    const log_in = { passkeys: false, issuer: null };
    for (const headers of [{}, { cookie }] as Array<Record<string, string>>) {
      const none = await current(headers);
      expect([none.status, none.body]).toEqual([200, { success: true, session: null, log_in }]);
    }
  });

  test('is required for every call; the partner key in a header does not replace it', async () => {
    const { partner_key } = await mesh.createPartner();
    const wrong = `bmg_session=${randomBytes(32).toString('base64url')}`;
    for (const headers of [{ 'x-partner-key': partner_key }, { cookie: wrong }] as Array<
      Record<string, string>
    >) {
      const answer = await ask('GET', '/settings', { headers });
      expect(refused(answer)).toEqual([401, 'UNAUTHORIZED']);
    }
  });
});

describe('a change', () => {
  test.each([
    ['PATCH', '/settings', { webhook_url: null }],
    ['POST', '/v1/connect/session', {}],
  ])('%s %s is accepted from the console’s own page only', async (method, path, body) => {
    const partner = await mesh.createPartner();
    const { cookie, csrf, call } = await browserOf(partner);
    const from = (headers: Record<string, string>) =>
      ask(method, path, { body, headers: { origin: '', cookie, ...headers } });
    const token = { 'x-csrf-token': csrf };
    for (const headers of [
      { ...token, origin: 'https://evil.example' },
      { origin: web.origin },
      { origin: web.origin, 'x-csrf-token': randomBytes(32).toString('base64url') },
    ]) {
      expect(refused(await from(headers))).toEqual([401, 'UNAUTHORIZED']);
    }
    // Nothing has changed, and the session still works.
    const { body: shown } = await call('GET', '/settings');
    expect(shown.settings.webhook_url).toBe(partner.receiver.url);
    expect(partner.receiver.arrivals).toEqual([]);
    expect((await call(method, path, body)).status).toBeLessThan(300);
  });

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

test.each([
  ['nothing', {}, 'MISSING_FIELDS'],
  ['an empty URL', { webhook_url: '' }, 'INVALID_FIELD'],
  ['a number', { webhook_url: 7 }, 'INVALID_FIELD'],
])('the partner settings refuse %s', async (_name, change, code) => {
  const partner = await mesh.createPartner();
  const { call } = await browserOf(partner);
  const answer = await call('PATCH', '/settings', change);
  expect(refused(answer)).toEqual([400, code]);
  expect(JSON.stringify(answer.body.error.details)).toContain('webhook_url');
  const { settings } = (await call('GET', '/settings')).body;
  expect(settings.webhook_url).toBe(partner.receiver.url);
});

test('an alert is signed, sent once a day for each cause, and only to partners that watch it', async () => {
  /** A later time makes it another occurrence. */
  const flagged = async (later_s = 0): Promise<void> => {
    const { display_phone_number } = await mesh.emulator.number(ONE.phone_number_id);
    const value = { event: 'FLAGGED', display_phone_number, current_limit: 'TIER_2K' };
    const changes = [{ field: 'phone_number_quality_update', value }];
    const entry = [{ id: ONE.waba_id, time: Math.floor(Date.now() / 1_000) + later_s, changes }];
    await mesh.emulator.postWebhook({ body: { object: 'whatsapp_business_account', entry } });
  };
  const [watching, silent] = [await mesh.createPartner(), await mesh.createPartner()];
  for (const partner of [watching, silent]) await partner.register(ONE);
  const { call } = await browserOf(watching);
  await call('PATCH', '/settings', { alerts: { quality_drops: true } });
  await flagged();
  const alert = await eventually(() => watching.receiver.of('partner.alert')[0]);
  expect(isSigned(alert, watching.webhook_secret)).toBe(true);
  expect(alert.body).toMatchObject({
    waba_id: null,
    data: { cause: 'quality_drops', value: '1', phone_number_id: ONE.phone_number_id },
  });
  await flagged(5);
  await eventually(() => silent.receiver.of('waba.quality_updated').length >= 2);
  const { settings } = (await call('GET', '/settings')).body;
  expect(settings.raised_alerts).toMatchObject([{ cause: 'quality_drops', value: '1' }]);
  expect(watching.receiver.of('partner.alert')).toHaveLength(1);
  expect(silent.receiver.of('partner.alert')).toEqual([]);
});

test('the webhook secret is not rotated twice by a double click', async () => {
  const { call } = await browserOf(await mesh.createPartner());
  const rotations = Array.from({ length: 5 }, () => call('POST', '/webhook-secret/rotate', {}));
  const [limited] = (await Promise.all(rotations)).filter(({ status }) => status === 429);
  expect(limited?.headers.get('retry-after')).toBe('1');
});

describe('a test of the webhook', () => {
  test('sends one signed event in the standard format', async () => {
    const partner = await mesh.createPartner();
    await partner.register(ONE);
    const { call } = await browserOf(partner);
    const { body } = await call('POST', '/webhook-test');
    expect(body).toMatchObject({ delivered: true, http_status: 200, error: null });
    await mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, text: 'Hi' });
    const real = await eventually(() => partner.receiver.of('message.received')[0]);
    const [sent] = partner.receiver.of('webhook.test');
    if (!sent) throw new Error('an event did not arrive');
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
    const retry = await partner.call('POST', `/webhooks/retry/${body.event_id}`);
    expect(retry.status).toBe(404);
    expect(partner.receiver.arrivals).toHaveLength(1);
  });

  test('reports a missing webhook URL', async () => {
    const { call } = await browserOf(await mesh.createPartner());
    await call('PATCH', '/settings', { webhook_url: null });
    const without = await call('POST', '/webhook-test');
    expect(refused(without)).toEqual([400, 'MISSING_FIELDS']);
    expect(without.body.error.details).toEqual({ fields: ['webhook_url'] });
  });
});

test('shows billing without invoices and refuses a card when no processor is configured', async () => {
  const partner = await mesh.createPartner();
  const { call } = await browserOf(partner);
  const { billing } = (await call('GET', '/billing')).body;
  expect(billing).toMatchObject({ processor: 'none', state: 'active', card: null, invoices: [] });
  expect(refused(await call('POST', '/card', {}))).toEqual([503, 'NOT_CONFIGURED']);
});

test('uses the client address that the proxy saw, not the one the client claims', async () => {
  const attempt = async (claimed: string, seen: string): Promise<number> => {
    const headers = { 'x-forwarded-for': `${claimed}, ${seen}` };
    return (await ask('POST', '/session', { body: { partner_key: 'nonsense' }, headers })).status;
  };
  const statuses: number[] = [];
  for (let count = 0; count < 31; count += 1) {
    statuses.push(await attempt(`198.51.100.${count}`, '203.0.113.7'));
  }
  expect(statuses).toEqual([...Array.from({ length: 30 }, () => 401), 429]);
  expect(await attempt('203.0.113.7', '203.0.113.8')).toBe(401);
});

test('the endpoints below /dashboard/api/v1 serve a session, only for its own partner', async () => {
  const [partner, other] = await Promise.all([mesh.createPartner(), mesh.createPartner()]);
  await partner.register(ONE);
  const browser = await browserOf(partner);
  const clients = await browser.call('GET', '/v1/clients');
  expect([clients.status, clients.body.total]).toEqual([200, 1]);
  expect(clients.headers.get('ratelimit-limit')).toBe('200');
  expect(clients.headers.get('cache-control')).toBe('no-store');
  expect((await (await browserOf(other)).call('GET', '/v1/clients')).body.total).toBe(0);
  expect(refused(await browser.call('GET', '/v1/templates'))).toEqual([400, 'MISSING_WABA']);
  await browser.call('POST', '/v1/connect/session', {});
  // Reads of the console's pages do not count as calls of the partner's programs.
  const named = await eventually(async () => {
    const { endpoints } = (await partner.call('GET', '/usage')).body;
    const names = endpoints.map(({ endpoint }: { endpoint: string }) => endpoint);
    return names.includes('/connect/session') && names;
  });
  expect(named).toContain('console /clients');
  expect(named).not.toContain('/clients');
});

test.each(READS)('GET %s matches its schema', async (path) => {
  const browser = await browserOf(await mesh.createPartner());
  expect((await browser.call('GET', path)).status).toBe(200);
});

test('shows the calls with keys, without what people wrote, only to their partner', async () => {
  const [partner, other] = await Promise.all([mesh.createPartner(), mesh.createPartner()]);
  await partner.register(ONE);
  const browser = await browserOf(partner);
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
  expect(requests).toMatchObject([
    {
      ...{ method: 'GET', path: '/broadcasts/{broadcast_id}', status: 404, key_id: key.key_id },
      parameters: '{"broadcast_id":"4711"}',
    },
    { method: 'POST', path: '/keys', status: 201, key_id: null },
    {
      path: '/messages/send',
      status: 400,
      code: sent.body.error.code,
      request_id: sent.body.error.request_id,
      ignored: 'q',
      waba_id: ONE.waba_id,
      parameters: '{"q":"… (5 characters)"}',
      request_body: '{"to":"… (11 characters)"}',
      answer_body: expect.stringContaining('"details":{"fields":["text"]}'),
    },
    { method: 'POST', path: '/clients/register', code: null },
  ]);
  const all = JSON.stringify(requests);
  for (const hidden of ['quiet', '15550100777', 'Checkout', secret]) {
    expect(all).not.toContain(hidden);
  }
  const [newest] = await read('?status=failed&limit=1');
  expect(newest).toMatchObject({ path: '/broadcasts/{broadcast_id}' });
  const theirs = await (await browserOf(other)).call('GET', '/requests');
  expect(theirs.body).toMatchObject({ requests: [], after: null });
});

test('the console is a page with a strict policy and hashed files that browsers keep', async () => {
  const page = await fetch(`${web.origin}/dashboard/numbers?find=x`);
  const text = await page.text();
  expect([page.status, text]).toEqual([200, expect.stringContaining('<!doctype html>')]);
  const policy = page.headers.get('content-security-policy') as string;
  const [, nonce] = /style-src 'self' 'nonce-([\w-]{22})'/.exec(policy) ?? [];
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(text).toContain(`nonce="${nonce}"`);
  expect(text).not.toMatch(/<script[^>]*>[^<]/);
  expect(page.headers.get('cache-control')).toBe('no-store');
  const [, file] = /src="\.\/(assets\/[^"]+\.js)"/.exec(text) ?? [];
  const script = await fetch(`${web.origin}/dashboard/${file}`);
  expect(script.headers.get('cache-control')).toContain('immutable');
  expect(script.headers.get('content-encoding')).toBe('gzip');
  expect((await fetch(`${web.origin}/dashboard/assets/none.js`)).status).toBe(404);
  expect((await fetch(`${web.origin}/dashboard/api/none`)).status).toBe(404);
});
