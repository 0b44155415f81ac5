// The operator's command line, run as a process: its output streams and its exit code.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { PARTNER_STATUSES } from '@bmg/common/directory';
import { addressesOf, BMG, runBmg, type Ran } from '../testkit/bmg';
import { eventually } from '../testkit/eventually';
import { words } from '../testkit/words';
import { postRaw } from '../testkit/upstream-webhooks';
import { createBroadcast, people as contactsOf } from './broadcast-support';
import { consoleOf } from './people-support';
import { version } from '../../package.json';
import { callRest, ONE, TWO_A, TWO_B } from '../harness/shared-mesh';
import { useDatabases, useMesh } from './use-mesh';

const mesh = useMesh();
const db = useDatabases(mesh);

const bmg = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
  runBmg(args, { ...addressesOf(mesh.env), PUBLIC_URL: mesh.env['PUBLIC_URL'], ...env });

interface Letter {
  topic: string;
  partition: number;
  offset: string;
}

interface AppSubscription {
  missing: string[];
}

/** The command that the rows below give wrong options. */
const NEW = ['partner', 'create', '--name', 'A'];

const SAMPLE_RATES = join(__dirname, '../../deploy/local/sample-rates.csv');

/**
 * Runs the words of a command and further arguments with --json, and expects exactly one line on
 * standard output.
 */
async function json(command: string, ...args: string[]): Promise<any> {
  const { code, out, err } = await bmg(['--json', ...words(command), ...args]);
  expect([code, err]).toEqual([0, '']);
  expect(out.trim().split('\n')).toHaveLength(1);
  return JSON.parse(out);
}

/** Runs a command that is refused with this exit code, and expects its reason on standard error. */
async function refuses(exit: 1 | 2, reason: string, args: string[]): Promise<void> {
  const { code, out, err } = await bmg(args);
  expect([code, out, err]).toEqual([exit, '', expect.stringContaining(reason)]);
}

/** The records of a command in the audit log of a partner, newest first. */
const audited = async (partner_id: string, action: string) =>
  (await json(`audit --partner ${partner_id} --action`, action)).records;

test('loads a rate card, and refuses a faulty one whole with the number of each wrong line', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bmg-rates-'));
  const file = join(folder, 'rates.csv');
  const write = (...lines: string[]): void =>
    writeFileSync(file, ['currency,market,category,tier,valid_from,price', ...lines].join('\n'));
  try {
    write('USD,Germany,utility,,2026-01-01,0.0550', 'USD,Brazil,utility,,2026-01-01,0.0080');
    const loaded = await json('rates load', file);
    expect(loaded).toMatchObject({ currency: 'USD', rates: 2, markets: 2 });
    write('USD,Germany,utility,,2026-01-01,0.05', 'USD,Germany,utility,,2026-01-01,0.05');
    await refuses(1, `${file}:3: `, ['rates', 'load', file]);
    expect(await json('rates load', SAMPLE_RATES, '--if-none')).toEqual(loaded);
    const listed = await bmg(['rates', 'show', '--country', 'BR', '--date', '2026-09-30']);
    expect(listed.out).toBe(
      'On 2026-09-30, in USD:\n  Brazil, utility: 0.008, since 2026-01-01, free in an open window\n',
    );
  } finally {
    rmSync(folder, { recursive: true });
    // The mesh is shared, and the card counts for all partners.
    await db('messaging').collection('rate_cards').deleteMany({});
  }
});

test('closes a month that has ended, and no other, after a confirmation', async () => {
  const now = new Date();
  const monthOf = (date: Date): string => date.toISOString().slice(0, 7);
  const ended = monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)));
  await refuses(2, '--yes', ['ledger', 'close', ended]);
  // The next month in the last minute of this one.
  const running = monthOf(new Date(now.getTime() + 60_000));
  await refuses(1, 'month', ['ledger', 'close', running, '--yes']);
  // The service may have closed it already, because it ended some days ago.
  const closed = await bmg(['ledger', 'close', ended, '--yes']);
  if (closed.code !== 0) expect(closed.err).toContain('is closed already');
  expect((await json('ledger months')).months).toContainEqual(
    expect.objectContaining({ month: ended }),
  );
});

/** The status of a request with a key. */
const read = async (key: string): Promise<number> =>
  (await callRest(mesh.base_url, 'GET', '/clients', undefined, { 'x-partner-key': key })).status;

test('creates a partner, updates it, and rotates its secrets once that is confirmed', async () => {
  const { out } = await bmg(['partner', 'create', '--name', 'Acme']);
  const [, key = ''] = /^export KEY=(bmgk_\S+) WEBHOOK_SECRET=whsec_\S+$/m.exec(out) ?? [];
  const [, partner_id = ''] = /^partner +(ptn_\S+)$/m.exec(out) ?? [];
  await json(`partner update ${partner_id} --rate-limit-per-sec 7 --max-wabas 2`);
  const shown = await json('partner show', partner_id);
  expect(shown).toMatchObject({ name: 'Acme', rate_limit_per_sec: 7, max_wabas: 2 });
  expect(JSON.stringify(shown)).not.toMatch(/bmgk_\w{5}|whsec_/);
  expect((await json('partner list')).partners).toContainEqual(
    expect.objectContaining({ partner_id, status: 'active' }),
  );

  await refuses(1, '--yes', ['partner', 'rotate-key', partner_id]);
  expect(await read(key)).toBe(200);
  const rotated = await bmg(['partner', 'rotate-key', partner_id, '--yes']);
  const [, second = ''] = /^partner key +(bmgk_\S+)$/m.exec(rotated.out) ?? [];
  const third = await json(`partner rotate-key ${partner_id} --overlap-hours 1`);
  const keys = [key, second, third.partner_key as string];
  expect(await Promise.all(keys.map(read))).toEqual([401, 200, 200]);
  const { webhook_secret } = await json('partner rotate-webhook-secret', partner_id);
  expect(webhook_secret).toMatch(/^whsec_/);
  await json('partner update', partner_id, '--status', 'suspended');
  expect(await read(second)).toBe(403);
});

test('shows and changes the contacts of a partner, without their addresses in the audit log', async () => {
  const { partner_id } = await mesh.createPartner();
  const contact = (...args: string[]) => json('partner contact', partner_id, ...args);
  const kept = { technical: null, billing: 'bills@acme.example' };
  expect((await contact('--billing', 'bills@acme.example')).contacts).toEqual(kept);
  const wrong = ['partner', 'contact', partner_id, '--technical', 'ops'];
  await refuses(2, 'contacts.technical must be an e-mail address', wrong);
  expect(await contact()).toEqual({ partner_id, contacts: kept });
  expect((await bmg(['partner', 'show', partner_id])).out).toMatch(/^billing {6}bills@acme/m);
  const records = await audited(partner_id, 'bmg partner contact');
  expect(records).toMatchObject([
    { fields: ['contacts.technical'], outcome: 'failed' },
    { fields: ['contacts.billing'], outcome: 'succeeded' },
  ]);
  expect(JSON.stringify(records)).not.toContain('acme.example');
});

test('sends a notice to a partner, and names the contacts', async () => {
  const { partner_id, partner_key } = await mesh.createPartner();
  await json('partner contact', partner_id, '--technical', 'ops@acme.example');
  const notice = { subject: 'Receiver down', text: 'It answers 503.', severity: 'action_required' };
  const given = Object.entries(notice).flatMap(([name, value]) => [`--${name}`, value]);
  const { notice_id, contacts } = await json('partner notify', partner_id, ...given);
  expect(contacts).toEqual({ technical: 'ops@acme.example', billing: null });
  const long = ['--subject', 's'.repeat(121), '--text', 'x'];
  await refuses(2, 'subject', ['partner', 'notify', partner_id, ...long]);
  const { ask, browserOf } = consoleOf(mesh);
  const call = browserOf(await ask('POST', '/session', { body: { partner_key } }));
  const { settings } = (await call('GET', '/settings')).body;
  expect(settings.notices).toEqual([{ notice_id, ...notice, created_at: expect.any(String) }]);
  const records = await audited(partner_id, 'bmg partner notify');
  expect(records).toMatchObject([{ outcome: 'failed' }, { target: { notice_id } }]);
  expect(JSON.stringify(records)).not.toContain(notice.text);
});

test('creates, changes, rotates and revokes the API keys of a partner', async () => {
  const { partner_id } = await mesh.createPartner();
  const of = ['--partner', partner_id];
  const limits = ['--address', '127.0.0.0/8', '--expires-at', '2099-01-01T00:00:00Z'];
  const key = ['--name', 'Order system', '--scope', 'send', 'read'];
  const { key_id, secret, ...created } = await json('key create', ...of, ...key, ...limits);
  expect(created).toMatchObject({
    scopes: ['send', 'read'],
    waba_ids: null,
    addresses: ['127.0.0.0/8'],
    expires_at: '2099-01-01T00:00:00.000Z',
  });
  expect(await read(secret)).toBe(200);
  const opened = ['--any-address', '--never-expires', '--scope', 'send'];
  expect(await json('key update', key_id, ...of, ...opened)).toMatchObject({
    scopes: ['send'],
    addresses: null,
    expires_at: null,
  });
  const rotated = await json('key rotate', key_id, ...of, '--overlap-hours', '0');
  expect([await read(secret), await read(rotated.secret)]).toEqual([401, 403]);
  const { keys } = await json('key list', ...of);
  expect(keys).toMatchObject([{ key_id, name: 'Order system' }]);
  expect(JSON.stringify(keys)).not.toContain(rotated.secret);
  expect(await json('key revoke', key_id, ...of)).toEqual({ key_id, revoked: true });
  await refuses(2, '--scope is required', ['key', 'create', ...of, '--name', 'x']);
});

test('invites the first owner of a partner, changes roles and ends access, all of it recorded', async () => {
  const { partner_id } = await mesh.createPartner();
  const of = ['--partner', partner_id];
  const owner = ['--email', 'Ada@Example.com', '--role', 'owner'];
  const { invitation_url, ...ada } = await json('people invite', ...of, ...owner);
  const token = invitation_url.split('/dashboard/invitation#')[1] as string;
  const { body } = await consoleOf(mesh).ask('POST', '/invitation', { body: { token } });
  expect(body).toMatchObject({ email: 'ada@example.com', role: 'owner' });
  const { person_id } = ada;
  expect(await json('people list', ...of)).toEqual({ people: [ada], people_max: 100 });
  expect((await bmg(['people', 'list', ...of])).out).toBe(
    `${person_id}  owner      invited  never signed in  ada@example.com (not verified)\n`,
  );
  expect(await json('people update', person_id, ...of, '--role', 'support')).toMatchObject({
    person_id,
    role: 'support',
  });
  expect(await json('people remove', person_id, ...of)).toEqual({ person_id, removed: true });
  expect((await bmg(['people', 'remove', person_id, ...of])).code).toBe(1);

  const { records } = await json('audit', ...of);
  const target = { partner_id, person_id };
  expect(records).toMatchObject([
    { action: 'bmg people remove', outcome: 'failed', code: 'NOT_FOUND', before: null },
    { action: 'bmg people remove', target, before: { role: 'support', state: 'invited' } },
    { action: 'bmg people update', target, before: { role: 'owner' }, after: { role: 'support' } },
    { action: 'bmg people invite', target, after: { email: 'Ada@Example.com', role: 'owner' } },
  ]);
  expect(JSON.stringify(records)).not.toContain(token);

  const { records: erased } = await json('people erase', person_id, ...of);
  expect(erased).toBeGreaterThan(0);
  expect(await json('audit check')).toMatchObject({ ok: true, faults: [] });
});

test('lists the clients of a partner and restores a deleted account with all its numbers', async () => {
  const partner = await mesh.createPartner();
  for (const number of [TWO_A, TWO_B]) await partner.register(number);
  await partner.call('DELETE', `/clients/${TWO_A.waba_id}`);
  const of = ['--partner', partner.partner_id];
  const deleted = { waba_id: TWO_A.waba_id, status: 'deleted' };
  expect((await json('client list', ...of)).clients).toMatchObject([deleted, deleted]);
  expect(await json('client restore', TWO_A.waba_id, ...of)).toMatchObject({
    status: 'active',
    clients: [
      { phone_number_id: TWO_A.phone_number_id },
      { phone_number_id: TWO_B.phone_number_id },
    ],
  });
  await refuses(1, 'no deleted client', ['client', 'restore', TWO_A.waba_id, ...of]);
});

test('doctor inspects engines, topics and the subscriptions of accounts', async () => {
  const partner = await mesh.createPartner();
  await partner.register(TWO_A);
  const doctor = async () => {
    const { checks, warnings } = JSON.parse((await bmg(['--json', 'doctor'])).out);
    const of = (name: string) => checks.find((check: { name: string }) => check.name === name);
    return { of, warnings };
  };
  const healthy = await doctor();
  for (const name of ['gateway', 'mongo', 'redis', 'kafka', 'indexes', 'upstream']) {
    expect(healthy.of(name)).toMatchObject({ name, ok: true });
  }
  // Accounts of earlier files may have lost their subscription with their world.
  expect(healthy.of('subscriptions').detail).not.toContain(TWO_A.waba_id);
  expect(healthy.of('settings')).toMatchObject({ ok: true, status: 'warning' });
  expect(healthy.warnings).toBeGreaterThan(0);

  await mesh.emulator.patchAccount(TWO_A.waba_id, { subscribed: false });
  expect((await doctor()).of('subscriptions')).toMatchObject({
    ok: false,
    detail: expect.stringContaining(`${TWO_A.waba_id} is not subscribed`),
  });
  const text = (await bmg(['doctor'])).out;
  expect(text).toMatch(/^warn  settings: .*ENCRYPTION_KEYRING has the insecure local default/m);
});

test('upstream subscribe adds the missing fields, and keeps the address and all others', async () => {
  const subscribe = async (...args: string[]) => {
    const env = { UPSTREAM_VERIFY_TOKEN: 'verify-local' };
    const { code, out, err } = await bmg(['--json', 'upstream', 'subscribe', ...args], env);
    return { code, err, found: out === '' ? undefined : (JSON.parse(out) as AppSubscription) };
  };
  const app = async (method: string, body?: object) => {
    const authorization = 'Bearer app-local|app-secret-local';
    const path = '/v26.0/app-local/subscriptions';
    return (await callRest(mesh.emulator.url, method, path, body, { authorization })).body;
  };
  const callback_url = mesh.ingress_url;
  await app('POST', {
    ...{ object: 'whatsapp_business_account', callback_url },
    ...{ fields: 'messages,consumer_profile', verify_token: 'verify-local' },
  });
  const before = await subscribe('--check');
  expect(before).toMatchObject({
    code: 1,
    found: { callback_url, others: ['consumer_profile'], changed: false },
  });
  expect(before.found?.missing).toHaveLength(31);
  expect(before.found?.missing).not.toContain('messages');
  expect(await subscribe()).toMatchObject({ code: 0, found: { changed: true } });
  expect((await app('GET')).data[0]).toMatchObject({ callback_url, fields: { length: 33 } });
  const elsewhere = await subscribe('--callback', 'http://127.0.0.1:9/');
  expect(elsewhere).toMatchObject({ code: 1, err: expect.stringContaining('verification failed') });
  expect((await app('GET')).data[0].callback_url).toBe(callback_url);
});

test('status, lag and dead letters: a letter is listed, shown and published again', async () => {
  const { KAFKA_BROKERS = '', KAFKA_TOPIC_PREFIX = '' } = mesh.env;
  const bus = (...args: string[]) =>
    bmg(['--json', ...args], { KAFKA_BROKERS, KAFKA_TOPIC_PREFIX });
  const read = async (...args: string[]) => JSON.parse((await bus(...args)).out);
  /** The places of so many letters of a topic, once they are there. */
  const letters = (topic: string, count: number): Promise<Letter[]> =>
    eventually(async () => {
      const { dead_letters } = (await read('dead-letters', 'list')) as { dead_letters: Letter[] };
      const found = dead_letters.filter((letter) => letter.topic === topic);
      return found.length >= count && found;
    });
  const placeOf = ({ topic, partition, offset }: Letter) => [topic, String(partition), offset];

  const kafka = new Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING });
  const producer = kafka.producer();
  await producer.connect();
  const unreadable = { key: 'night', value: Buffer.from([0xff, 0xff]) };
  await producer.send({ topic: `${KAFKA_TOPIC_PREFIX}outage.v1`, messages: [unreadable] });
  await producer.disconnect();
  const [letter] = (await letters('outage.v1', 1)) as [Letter];
  expect(letter).toMatchObject({ reason: 'undecodable', bytes: 2 });
  expect(await read('dead-letters', 'show', ...placeOf(letter))).toMatchObject({ base64: '//8=' });
  expect((await bus('dead-letters', 'replay', ...placeOf(letter))).code).toBe(0);
  expect(await letters('outage.v1', 2)).toHaveLength(2);

  expect(await postRaw(mesh.ingress_url, '{"object":')).toBe(200);
  const [part] = (await letters('upstream-webhook.v2', 1)) as [Letter];
  expect(await bus('dead-letters', 'replay', ...placeOf(part))).toMatchObject({
    code: 1,
    err: expect.stringContaining('parts of a webhook cannot be published again'),
  });
  expect((await read('lag')).lags).toContainEqual({
    group: 'fanout-webhook',
    topic: 'upstream-webhook.v2',
    messages: expect.any(Number),
  });
  expect(await read('status')).toMatchObject({
    status: 'ok',
    dependencies: { kafka: 'ok', messaging: 'ok' },
    dead_letters: expect.any(Number),
    deliveries: { retrying: expect.any(Number), failed: expect.any(Number) },
  });
});

test.each([
  ['an unknown partner', ['partner', 'show', 'ptn_nobody'], 1, 'NOT_FOUND', 'ptn_nobody'],
  ['a malformed webhook URL', [...NEW, '--webhook-url', 'nowhere'], 2, 'USAGE', 'webhook_url'],
  ['a missing required option', ['partner', 'create'], 2, 'USAGE', '--name'],
  ['a malformed number', [...NEW, '--max-wabas', 'many'], 2, 'USAGE', 'max-wabas'],
  ['an unknown command', ['partner', 'destroy'], 2, 'USAGE', 'destroy'],
  ['an update of nothing', ['partner', 'update', 'ptn_x'], 2, 'USAGE', 'setting to change'],
  [
    'an unknown status',
    ['partner', 'update', 'ptn_x', '--status', 'gone'],
    2,
    'USAGE',
    'trial_expired',
  ],
])(
  'rejects %s as text, and as one JSON object with --json',
  async (_name, args, exit, code, reason) => {
    const [text, json] = await Promise.all([bmg(args), bmg([...args, '--json'])]);
    expect([text.code, text.out, json.code, json.out]).toEqual([exit, '', exit, '']);
    expect(text.err).toContain(reason);
    expect(json.err.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(json.err)).toEqual({
      error: { code, message: expect.stringContaining(reason) },
    });
  },
);

test('shows its version, and the statuses that a partner may have', async () => {
  expect((await bmg(['--version'])).out).toBe(`${version}\n`);
  const { out } = await bmg(['partner', 'update', '--help']);
  for (const status of PARTNER_STATUSES) expect(out).toContain(status);
});

test('ends without a stack trace when its reader ends first, as with `| head`', async () => {
  const child = spawn(process.execPath, [BMG, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let err = '';
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect([code, signal, err]).toEqual([0, null, '']);
});

test('lists a partner’s endpoints and shadow receivers without the query of their URLs', async () => {
  const partner = await mesh.createPartner();
  const of = ['--partner', partner.partner_id];
  expect((await bmg(['endpoints', 'list', ...of])).out).toContain('No endpoints');
  expect((await bmg(['endpoints', 'shadows', ...of])).out).toContain('No shadows');
  const url = `${partner.receiver.url}?token=of-the-partner`;
  await partner.call('POST', '/webhook-endpoints', { url, events: ['message.*'] });
  await partner.call('POST', '/webhook-shadows', { url });
  const { endpoints } = await json('endpoints list', ...of);
  expect(endpoints).toMatchObject([
    { url: partner.receiver.url, destination: null, events: ['message.*'] },
  ]);
  const shown = await bmg(['endpoints', 'show', endpoints[0].endpoint_id, ...of]);
  expect(shown.out).toContain('0 waiting');
  expect((await bmg(['endpoints', 'show', 'whe_none', ...of])).code).toBe(1);
  const { shadows } = await json('endpoints shadows', ...of);
  expect(shadows).toMatchObject([{ status: 'running', comparison: { compared: 0 } }]);
  const listed = await bmg(['endpoints', 'shadows', ...of]);
  expect(listed.out).toContain('0 compared, 0 different, 0 dropped');
  expect(JSON.stringify([endpoints, shown, shadows, listed])).not.toContain('of-the-partner');
});

test('shows and retries a partner’s failed events; shows usage and sign-ups', async () => {
  const partner = await mesh.createPartner();
  await partner.register(TWO_A);
  const of = ['--partner', partner.partner_id];
  partner.receiver.behave((_arrival, response) => void response.writeHead(410).end());
  await mesh.emulator.inbound({ phone_number_id: TWO_A.phone_number_id, text: 'Private words' });
  const { events } = await eventually(async () => {
    const found = await json('events failed', ...of, '--status', 'failed');
    expect(found).toMatchObject({ events: { length: 1 }, total: 1 });
    return found;
  });
  expect(JSON.stringify(events)).not.toContain('Private words');
  const [{ event_id }] = events;
  expect((await bmg(['events', 'failed', ...of])).out).toContain('1 of 1 events');
  partner.receiver.behave(undefined);
  expect(await json('events retry', event_id, ...of)).toEqual({
    event_id,
    status: 'delivered',
    http_status: 200,
  });
  expect(await json('events retry', ...of)).toEqual({ queued: 0 });
  await partner.call('POST', '/messages/send', {}, { 'x-waba-id': TWO_A.waba_id });
  const shown = await eventually(async () => {
    const { out } = await bmg(['usage', ...of]);
    expect(out).toMatch(/^calls .*: 1, 1 error$/m);
    return out;
  });
  expect(shown).toContain('1 slot, at most 1 account, USD 10\n');
  expect((await bmg(['onboarding', ...of])).code).toBe(0);
});

test('shows a paused broadcast as paused, until it is cancelled', async () => {
  const partner = await mesh.createPartner();
  await partner.register(ONE);
  const id = await createBroadcast(partner, ONE, contactsOf(400, 7_000), { name: 'Winter sale' });
  await eventually(
    async () => (await partner.call('POST', `/broadcasts/${id}/pause`)).status === 200,
  );
  const of = ['--partner', partner.partner_id];
  const line = async (): Promise<string> => (await bmg(['broadcasts', ...of])).out;
  expect(await line()).toMatch(/  paused +\d+ sent, .* of 400  Winter sale\n$/);
  expect((await json('broadcasts', ...of)).broadcasts).toMatchObject([
    { id, status: 'processing', paused_at: expect.any(String) },
  ]);
  await partner.call('POST', `/broadcasts/${id}/cancel`);
  expect(await line()).toMatch(/  cancelled +\d+ sent, .* of 400  Winter sale\n$/);
});

describe('bmg listen', () => {
  const listen = (args: string[]) => {
    const child = spawn(process.execPath, [BMG, 'listen', '--port', '0', ...args], {
      env: { PATH: process.env['PATH'], ONBOARDING_ADDR: mesh.env['ONBOARDING_ADDR'] },
    });
    let out = '';
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    child.stderr.on('data', (chunk) => (out += String(chunk)));
    return {
      child,
      says: (text: string | RegExp) =>
        eventually(() => {
          expect(out).toMatch(text);
          return out;
        }),
      async stop() {
        child.kill('SIGINT');
        await once(child, 'exit');
        return child.exitCode;
      },
    };
  };

  test('creates a partner, checks signatures, and refuses on purpose', async () => {
    const listener = listen(['--refuse', '1']);
    const out = await listener.says('listening at');
    const key = /export KEY=(\S+)/.exec(out)?.[1] as string;
    await callRest(mesh.base_url, 'POST', '/clients/register', TWO_B, { 'x-partner-key': key });
    await mesh.emulator.inbound({ phone_number_id: TWO_B.phone_number_id, text: 'Hi there' });
    await listener.says(/message\.received {3}signature ok, answered 503\n.*Hi there/);
    await listener.says(/message\.received {3}signature ok, answered 200\n.*Hi there/);
    expect(await listener.stop()).toBe(0);
  });

  test.each([
    ['a signal', false],
    ['the end of its output’s reader', true],
  ])('restores the webhook URL of an existing partner after %s', async (_end, by_reader) => {
    const { partner_id, call, register } = await mesh.createPartner();
    const url = async () => (await json('partner show', partner_id)).webhook_url;
    const before = await url();
    await register(TWO_B);
    const { child, says, stop } = listen(['--partner', partner_id]);
    await says('signatures are not checked');
    expect(await url()).not.toBe(before);
    if (by_reader) {
      child.stdout.destroy();
      const ended = once(child, 'exit');
      await mesh.emulator.inbound({ phone_number_id: TWO_B.phone_number_id, text: 'Unread' });
      expect(await ended).toEqual([0, null]);
    } else expect(await stop()).toBe(0);
    expect(await url()).toBe(before);
    await call('DELETE', `/clients/${TWO_B.waba_id}`);
  });
});

/** The lines of a command that concern the collection of the test. */
const linesOf = ({ out }: Ran): string[] =>
  out.split('\n').filter((line) => line.startsWith('templates.request_claims'));

describe('bmg indexes', () => {
  test('shows and applies a differing and an obsolete index', async () => {
    const claims = db('templates').collection('request_claims');
    await claims.dropIndex('at_1');
    await claims.createIndexes([{ key: { at: 1 }, sparse: true }, { key: { old: 1 } }]);

    const shown = await bmg(['indexes', 'show']);
    expect([shown.code, shown.err]).toEqual([0, '']);
    const obsolete = 'templates.request_claims  { old: 1 }  obsolete (old_1)';
    expect(linesOf(shown)).toEqual([
      'templates.request_claims  { at: 1 }  different (at_1); sparse is true, declared absent; ' +
        'expireAfterSeconds is absent, declared 86400',
      obsolete,
    ]);

    const applied = await bmg(['indexes', 'apply']);
    expect([applied.code, applied.err]).toEqual([1, '']);
    expect(linesOf(applied)).toEqual(['templates.request_claims  { at: 1 }  replaced', obsolete]);

    const dropped = await bmg(['indexes', 'apply', '--drop-obsolete']);
    expect([dropped.code, dropped.err]).toEqual([0, '']);
    expect(linesOf(dropped)).toEqual(['templates.request_claims  { old: 1 }  dropped']);
    expect((await bmg(['indexes', 'show'])).out).toBe('All indexes are as declared.\n');

    const { records } = await json('audit --action', 'bmg indexes apply');
    expect(records).toMatchObject([
      { outcome: 'succeeded', after: { drop_obsolete: true } },
      { outcome: 'succeeded' },
    ]);
  });

  test('names a service that does not answer, and still shows the others', async () => {
    const { code, out } = await bmg(['indexes', 'show'], { TEMPLATES_ADDR: '127.0.0.1:9' });
    expect(code).toBe(1);
    expect(out).toMatch(/^templates  does not answer at 127\.0\.0\.1:9: /);
  });
});
