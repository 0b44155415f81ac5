// The audit log on the wire: every kind of actor, what a change keeps, who may read it, and that no
// change is made without its record: a gateway that is killed, or that does not reach onboarding.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { loadConfig } from '@bmg/common/config';
import { startService, type Running } from '@bmg/common/lifecycle';
import { createLogger } from '@bmg/common/telemetry';
import { freePort } from '../../deploy/local/src/ports';
import { settings as gatewaySettings } from '../../gateway/src/config';
import { createGateway } from '../../gateway/src/service';
import {
  callRest,
  joinMesh,
  ONE,
  TWO_A,
  type Answer,
  type Mesh,
  type TestPartner,
} from '../harness/shared-mesh';
import { runBmg } from '../testkit/bmg';
import { eventually } from '../testkit/eventually';
import { forward, type Forwarder } from '../testkit/forwarder';
import { ADA, newAccount } from './endpoint-stage';

const GATEWAY = resolve(__dirname, '../../gateway/dist/main.js');
const TELEMETRY = resolve(__dirname, '../../services/common/dist/telemetry/register.js');
const NUMBER = { 'x-waba-id': ONE.waba_id };

let mesh: Mesh;
let partner: TestPartner;

beforeAll(async () => {
  mesh = await joinMesh();
  partner = await mesh.createPartner({ rate_limit_per_sec: 10_000 });
  for (const number of [ONE, TWO_A]) await partner.register(number);
});
afterAll(() => mesh.stop());

interface AuditRecord {
  id: string;
  at: string;
  actor: { type: string; id: string | null; name: string | null };
  action: string;
  target: Record<string, string>;
  fields: string[];
  before: object | null;
  after: object | null;
  outcome: string;
  code: string | null;
  request_id: string;
  address: string;
  ended_at: string | null;
}

async function read(query: Record<string, string> = {}, headers = {}): Promise<AuditRecord[]> {
  const path = `/audit?${new URLSearchParams(query).toString()}`;
  const { status, body } = await partner.call('GET', path, undefined, headers);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.records as AuditRecord[];
}
const newest = async (query: Record<string, string> = {}): Promise<AuditRecord> => {
  const [record] = await read({ limit: '1', ...query });
  if (!record) throw new Error('there is no record');
  return record;
};
const createKey = async (body: object): Promise<{ key_id: string; secret: string }> => {
  const answer = await partner.call('POST', '/keys', { name: 'A key', ...body });
  expect(answer.status).toBe(201);
  return { key_id: answer.body.key.key_id as string, secret: answer.body.secret as string };
};

describe('a change names who made it, what it changed, and how it ended', () => {
  test('with the partner key', async () => {
    const answer = await partner.call('POST', '/keys', { name: 'Shop', scopes: ['read'] });
    const record = await newest({ action: 'POST /keys' });
    expect(record).toEqual({
      id: expect.stringMatching(/^aud_/),
      at: expect.stringMatching(/Z$/),
      actor: { type: 'partner_key', id: null, name: expect.stringMatching(/^bmgk_…\w{4}$/) },
      action: 'POST /keys',
      target: { key_id: answer.body.key.key_id },
      fields: ['name', 'scopes'],
      before: null,
      after: { name: 'Shop', scopes: ['read'] },
      outcome: 'succeeded',
      code: null,
      request_id: answer.headers.get('x-request-id'),
      address: expect.stringMatching(/127\.0\.0\.1$/),
      ended_at: expect.stringMatching(/Z$/),
      count: 1,
    });
    expect(JSON.stringify(await read())).not.toContain(answer.body.secret);
  });

  test('with an API key, with the values before and after', async () => {
    const by = await createKey({ name: 'Admin', scopes: ['send', 'read', 'manage'] });
    const { key_id } = await createKey({ scopes: ['read'] });
    const change = { scopes: ['send', 'read'], addresses: ['203.0.113.0/24'] };
    const header = { 'x-partner-key': by.secret };
    await partner.call('PATCH', `/keys/${key_id}`, { scopes: ['billing'] }, header);
    expect(await newest({ actor: by.key_id })).toMatchObject({
      outcome: 'failed',
      code: 'SCOPE_MISSING',
    });
    await partner.call('PATCH', `/keys/${key_id}`, change, header);
    expect(await newest({ target: key_id })).toMatchObject({
      fields: ['scopes', 'addresses'],
      before: { scopes: ['read'], addresses: null },
      after: change,
      outcome: 'succeeded',
    });
    await partner.call('DELETE', `/keys/${key_id}`, undefined, header);
    expect(await newest({ actor: by.key_id })).toMatchObject({
      actor: { type: 'api_key', id: by.key_id, name: 'Admin' },
      action: 'DELETE /keys/{key_id}',
      target: { key_id },
      before: { scopes: ['send', 'read'] },
    });
  });

  test('beyond the rights of a key, once for each kind and from wherever it comes', async () => {
    const narrow = await createKey({ scopes: ['read'], waba_ids: [ONE.waba_id] });
    const bound = await createKey({ scopes: ['read'], addresses: ['203.0.113.0/24'] });
    const ask = (path: string, secret: string) =>
      partner.call(path === '/keys' ? 'POST' : 'GET', path, undefined, { 'x-partner-key': secret });
    for (const path of ['/keys', '/keys', '/webhooks/failed']) await ask(path, narrow.secret);
    await ask('/clients', bound.secret);
    const refused = (id: string, count: number) =>
      eventually(async () => {
        const records = await read({ actor: id });
        return records.length === count && records;
      });
    const [restricted, missing] = await refused(narrow.key_id, 2);
    expect(missing).toMatchObject({
      actor: { type: 'api_key', id: narrow.key_id, name: 'A key' },
      action: 'POST /keys',
      outcome: 'failed',
      code: 'SCOPE_MISSING',
      count: 1,
    });
    expect(restricted).toMatchObject({ action: 'GET /webhooks/failed', code: 'KEY_RESTRICTED' });
    expect(await refused(bound.key_id, 1)).toMatchObject([
      { action: 'GET /clients', code: 'ADDRESS_NOT_ALLOWED', address: expect.any(String) },
    ]);
  });

  test('also if it was refused, with the reason', async () => {
    await partner.call('DELETE', '/keys/key_none');
    expect(await newest()).toMatchObject({
      action: 'DELETE /keys/{key_id}',
      target: { key_id: 'key_none' },
      outcome: 'failed',
      code: 'NOT_FOUND',
    });
  });

  test('in the console, log-in included; a webhook address without what may be secret', async () => {
    const own = await mesh.createPartner();
    const { origin } = new URL(mesh.base_url);
    const ask = (method: string, path: string, body?: object, headers = {}) =>
      fetch(`${origin}/dashboard/api${path}`, {
        method,
        headers: { origin, 'content-type': 'application/json', ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
    const opened = await ask('POST', '/session', { partner_key: own.partner_key });
    const { csrf_token } = (await opened.json()) as { csrf_token: string };
    const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] as string;
    const session = { cookie, 'x-csrf-token': csrf_token };
    const webhook_url = `${mesh.emulator.url}/T0/hidden?token=hidden`;
    const change = { webhook_url, contacts: { technical: 'hidden@example.com' } };
    expect((await ask('PATCH', '/settings', change, session)).status).toBe(200);
    expect((await ask('POST', '/webhook-secret/reveal', undefined, session)).status).toBe(200);
    const key = { name: 'From the console', scopes: ['read'] };
    expect((await ask('POST', '/v1/keys', key, session)).status).toBe(201);
    expect((await ask('DELETE', '/session', undefined, session)).status).toBe(200);
    const { body } = await own.call('GET', '/audit?actor=console');
    const records = body.records as AuditRecord[];
    expect(records.map(({ action }) => action).reverse()).toEqual([
      'console POST /session',
      'console PATCH /settings',
      'console POST /webhook-secret/reveal',
      'POST /keys',
      'console DELETE /session',
    ]);
    const ids = new Set(records.map(({ actor }) => actor.id));
    expect([...ids]).toEqual([expect.stringMatching(/^ses_[0-9a-f]{16}$/)]);
    const host = new URL(mesh.emulator.url).host;
    expect(records[3]).toMatchObject({
      fields: ['webhook_url', 'contacts'],
      before: { webhook_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/…$/) as string },
      after: { webhook_url: `http://${host}/…` },
    });
    expect(JSON.stringify(records)).not.toMatch(/hidden/);
    expect(JSON.stringify(records)).not.toContain(cookie.split('=')[1]);
  });

  test('a log-in that failed, which the operator sees', async () => {
    const { origin } = new URL(mesh.base_url);
    const body = { partner_key: `bmgk_${'x'.repeat(43)}` };
    const answer = await callRest(origin, 'POST', '/dashboard/api/session', body, { origin });
    expect(answer.status).toBe(401);
    const request_id = answer.headers.get('x-request-id') as string;
    const env = { ONBOARDING_ADDR: mesh.env['ONBOARDING_ADDR'] };
    const record = await eventually(async () => {
      const listed = await runBmg(['--json', 'audit', '--action', 'console POST /session'], env);
      const { records } = JSON.parse(listed.out) as { records: AuditRecord[] };
      return records.find((one) => one.request_id === request_id);
    });
    expect(record).toMatchObject({ outcome: 'failed', code: 'INVALID_PARTNER_KEY' });
    expect(JSON.stringify(record)).not.toContain(body.partner_key);
  });

  test('with a sign-up link', async () => {
    const own = await mesh.createPartner();
    const { waba_id, phone_number_id, access_token } = await newAccount(mesh, {
      is_on_biz_app: true,
    });
    const { code } = await mesh.emulator.code({ token: access_token });
    const { body } = await own.call('POST', '/connect/session', { origin: 'https://shop.example' });
    const answer = await callRest(
      mesh.base_url,
      'POST',
      '/clients/register-from-code',
      { code, waba_id, phone_number_id },
      { 'x-connect-token': body.token as string },
    );
    expect([answer.status, answer.body.error]).toEqual([201, undefined]);
    const { records } = (await own.call('GET', '/audit')).body as { records: AuditRecord[] };
    expect(records).toMatchObject([
      {
        actor: { type: 'sign_up_link', id: expect.any(String) },
        action: 'POST /clients/register-from-code',
        target: { waba_id, phone_number_id },
        fields: ['code', 'waba_id', 'phone_number_id'],
      },
      { action: 'POST /connect/session', after: { origin: 'https://shop.example/…' } },
    ]);
    expect(JSON.stringify(records)).not.toContain(code);
    expect(JSON.stringify(records)).not.toContain(body.token);
  });

  test('by the operator, whose name only operators see', async () => {
    const env = { ONBOARDING_ADDR: mesh.env['ONBOARDING_ADDR'] };
    const bmg = (...args: string[]) => runBmg(['--json', ...args], env);
    const created = await bmg(
      'partner',
      'create',
      '--name',
      'Audited',
      '--webhook-url',
      'https://acme.example/hidden',
    );
    expect([created.code, created.err]).toEqual([0, '']);
    const { partner_id, partner_key } = JSON.parse(created.out) as Record<string, string>;
    await bmg('partner', 'update', partner_id as string, '--rate-limit-per-sec', '77');
    await bmg('key', 'revoke', 'key_none', '--partner', partner_id as string);
    await bmg('partner', 'show', partner_id as string);
    const listed = await bmg('audit', '--partner', partner_id as string);
    const { records } = JSON.parse(listed.out) as { records: AuditRecord[] };
    expect(records).toMatchObject([
      {
        action: 'bmg key revoke',
        target: { key_id: 'key_none' },
        outcome: 'failed',
        code: 'NOT_FOUND',
      },
      {
        action: 'bmg partner update',
        before: { rate_limit_per_sec: 200 },
        after: { rate_limit_per_sec: 77 },
      },
      {
        action: 'bmg partner create',
        after: { name: 'Audited', webhook_url: 'https://acme.example/…' },
      },
    ]);
    expect(records.every(({ actor }) => actor.type === 'operator' && actor.id !== null)).toBe(true);
    const own = await callRest(mesh.base_url, 'GET', '/audit', undefined, {
      'x-partner-key': partner_key as string,
    });
    expect(own.body.records).toHaveLength(3);
    for (const { actor } of own.body.records as AuditRecord[]) {
      expect(actor).toEqual({ type: 'operator', id: null, name: null });
    }
    expect(listed.out + JSON.stringify(own.body)).not.toContain(partner_key);
    expect(listed.out).not.toContain('hidden');
  });
});

test('sends and reads are not recorded; a broadcast is', async () => {
  const before = await newest();
  await partner.call('POST', '/messages/send', { to: ADA, text: 'Hello' }, NUMBER);
  await partner.call('GET', '/clients');
  await partner.call('POST', '/keys', {});
  expect((await newest()).id).toBe(before.id);
  const broadcast = { name: 'Autumn', template_name: 'none', template_language: 'en_US' };
  const contacts = [{ recipient: ADA, params: { '1': 'hidden' } }];
  await partner.call('POST', '/broadcasts', { ...broadcast, contacts }, NUMBER);
  const record = await newest();
  expect(record).toMatchObject({
    action: 'POST /broadcasts',
    target: { waba_id: ONE.waba_id, phone_number_id: ONE.phone_number_id },
    after: broadcast,
  });
  expect(JSON.stringify(record)).not.toMatch(new RegExp(`hidden|${ADA}`));
});

describe('a reader', () => {
  test('needs the scope manage, and sees only its partner and its accounts', async () => {
    await partner.call('POST', '/commerce-settings', { is_cart_enabled: true }, NUMBER);
    const { secret } = await createKey({ scopes: ['read', 'billing', 'send'] });
    const refused = await partner.call('GET', '/audit', undefined, { 'x-partner-key': secret });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'SCOPE_MISSING']);
    const limited = await createKey({ scopes: ['manage'], waba_ids: [ONE.waba_id] });
    const key = { 'x-partner-key': limited.secret };
    const all = await partner.call('GET', '/audit', undefined, key);
    expect([all.status, all.body.error.code]).toEqual([400, 'MISSING_WABA']);
    const records = await read({}, { ...key, ...NUMBER });
    expect(records.length).toBeGreaterThan(0);
    expect(new Set(records.map(({ target }) => target['waba_id']))).toEqual(new Set([ONE.waba_id]));
    const other = await mesh.createPartner();
    expect((await other.call('GET', '/audit')).body.records).toEqual([]);
  });

  test('pages without gaps, and gets the same records as CSV', async () => {
    const whole = (await read({ limit: '100' })).map(({ id }) => id);
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const query = new URLSearchParams({ limit: '3', ...(cursor && { cursor }) });
      const { body } = await partner.call('GET', `/audit?${query.toString()}`);
      paged.push(...(body.records as AuditRecord[]).map(({ id }) => id));
      cursor = (body.paging.cursors.after as string | null) ?? undefined;
    } while (cursor !== undefined);
    expect(paged).toEqual(whole);
    const csv = await fetch(`${mesh.base_url}/audit`, {
      headers: { 'x-partner-key': partner.partner_key, accept: 'text/csv' },
    });
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect((await csv.text()).match(/^aud_\w+/gm)).toEqual(whole);
  });
});

test('GET /keys/{key_id} shows one key without its secret, and no revoked one', async () => {
  const { key_id, secret } = await createKey({ scopes: ['read'] });
  const { body } = await partner.call('GET', `/keys/${key_id}`);
  const listed = (await partner.call('GET', '/keys')).body.keys as Array<{ key_id: string }>;
  expect(body.key).toEqual(listed.find((one) => one.key_id === key_id));
  expect(JSON.stringify(body)).not.toContain(secret);
  await partner.call('DELETE', `/keys/${key_id}`);
  const gone = await partner.call('GET', `/keys/${key_id}`);
  expect([gone.status, gone.body.error.code]).toEqual([404, 'NOT_FOUND']);
  const other = await mesh.createPartner();
  expect((await other.call('GET', `/keys/${key_id}`)).status).toBe(404);
});

describe('no change is made without its record', () => {
  const QR = { prefilled_message: 'Hi' };
  const codesMade = async (): Promise<number> =>
    (
      await mesh.emulator.requests({
        path: `/${ONE.phone_number_id}/message_qrdls`,
        method: 'POST',
      })
    ).length;
  const at = (port: number, method: string, path: string, body?: unknown): Promise<Answer> =>
    callRest(`http://127.0.0.1:${port}/v1`, method, path, body, {
      'x-partner-key': partner.partner_key,
      ...NUMBER,
    });
  const ready = (port: number): Promise<unknown> =>
    eventually(async () => (await at(port, 'GET', '/health')).status === 200);

  test('when the gateway is killed while it makes the change', async () => {
    const port = await freePort();
    const env = { ...mesh.env, GATEWAY_PORT: String(port), METRICS_PORT: '0' };
    const gateway = spawn(process.execPath, ['--require', TELEMETRY, GATEWAY], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
    try {
      await ready(port);
      const before = await codesMade();
      await mesh.emulator.fault({ match: { path: '/message_qrdls' }, times: 1, delay_ms: 1_500 });
      const lost = at(port, 'POST', '/qr-codes', QR).catch(() => 'no answer');
      await eventually(async () => (await codesMade()) === before + 1);
      gateway.kill('SIGKILL');
      await once(gateway, 'exit');
      expect(await lost).toBe('no answer');
      expect(await newest({ action: 'POST /qr-codes' })).toMatchObject({
        outcome: 'unknown',
        ended_at: null,
        target: { waba_id: ONE.waba_id },
      });
    } finally {
      await mesh.emulator.clearFaults();
      gateway.kill('SIGKILL');
    }
  });

  describe('when onboarding is unreachable', () => {
    let forwarder: Forwarder;
    let gateway: Running;
    let port: number;
    beforeAll(async () => {
      port = await freePort();
      const onboarding = await freePort();
      forwarder = await forward(onboarding, mesh.env['ONBOARDING_ADDR'] as string);
      const env = {
        ...mesh.env,
        GATEWAY_PORT: String(port),
        METRICS_PORT: '0',
        ONBOARDING_ADDR: `127.0.0.1:${onboarding}`,
      };
      const config = loadConfig(gatewaySettings, env);
      gateway = await startService(createGateway(config), createLogger('gateway'));
      await ready(port);
    });
    afterAll(async () => {
      await gateway.stop();
      await forwarder.close().catch(() => undefined);
    });

    test('changes are refused and sends continue', async () => {
      const text = { to: ADA, text: 'Hello' };
      expect((await at(port, 'POST', '/qr-codes', QR)).status).toBe(201);
      expect((await at(port, 'POST', '/messages/send', text)).status).toBe(200);
      const before = await codesMade();
      await forwarder.close();
      const refused = await at(port, 'POST', '/qr-codes', QR);
      expect(refused.body.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
      expect(await codesMade()).toBe(before);
      expect((await at(port, 'POST', '/messages/send', text)).status).toBe(200);
    });
  });
});
