// POST /messages/check: the pre-flights of 500 random messages and some random broadcasts agree
// with the outcomes of the sends. Further cases cover outcomes that the emulator cannot show.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { createRpcClient } from '@bmg/common/rpc';
import { RatesDefinition } from '@bmg/proto/messaging';
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/shared-mesh';
import { untilCompleted } from './broadcast-support';
import { newAccount, offboard } from './endpoint-stage';
import { useDatabases, useMesh, usePartner } from './use-mesh';

const MESSAGES = 500;
const BROADCASTS = 24;
const AT_ONCE = 25;
const DAYS_MS = 3 * 86_400_000;

const WROTE = '15550100701';
const SILENT = '4915112345678';
const UNREACHABLE = '15550100703';
const BLOCKED = '15550100704';
/** Never sent to: no failure of this customer is known. */
const BLOCKED_UNTRIED = '15550100705';
const WROTE_BSUID = 'US.4Qm7Zr81Kd71';
const SILENT_BSUID = 'DE.4Qm7Zr81Kd72';

const mesh = useMesh();
const partner = usePartner(mesh, [ONE], { rate_limit_per_sec: 5_000 });
const db = useDatabases(mesh);
const headers = { 'x-waba-id': ONE.waba_id };
const post = (path: string, body: object) => partner.call('POST', path, body, headers);
const check = async (body: object) => (await post('/messages/check', body)).body;

/** Customers are known from the first event on; the tests start days later. */
async function backdate(): Promise<void> {
  const then = new Date(Date.now() - DAYS_MS);
  const { waba_id } = ONE;
  await db('onboarding')
    .collection('clients')
    .updateMany({ waba_id }, { $set: { registered_at: then } });
  await db('messaging')
    .collection<{ _id: string }>('contacts')
    .updateOne({ _id: '#started' }, { $set: { started_at: then } }, { upsert: true });
}

beforeAll(async () => {
  await backdate();
  await mesh.emulator.limits({ rate_per_sec: 'off', window_check: 'refuse' });
  await mesh.emulator.behaviour({
    service_billable: true,
    delays_ms: { sent: 5, delivered: 10, read: 15, failed: 10 },
    fail_status: [{ to: UNREACHABLE, code: 131_026 }],
  });
  const { phone_number_id } = ONE;
  await mesh.emulator.inbound({
    phone_number_id,
    from: WROTE,
    bsuid: 'US.4Qm7Zr81Kd70',
    text: 'a',
  });
  await mesh.emulator.inbound({ phone_number_id, bsuid: WROTE_BSUID, hide_phone: true, text: 'b' });
  const blocked = [BLOCKED, BLOCKED_UNTRIED];
  for (const from of blocked) {
    await mesh.emulator.inbound({ phone_number_id, from, text: 'c' });
  }
  expect((await post('/blocked', { users: blocked })).body).toMatchObject({ failed: [] });
  await post('/messages/template', {
    to: UNREACHABLE,
    template: { name: 'hello_world', language: 'en_US' },
  });
  await eventually(() => partner.receiver.of('message.failed')[0]);
  // Messaging stores facts about customers independently of the delivery of the events.
  const contacts = db('messaging').collection('contacts');
  const known = { [`numbers.${phone_number_id}`]: { $exists: true } };
  await eventually(async () => (await contacts.countDocuments(known)) >= 5);
  const text = { kind: 'text', text: 'Hello' };
  for (const to of [WROTE, WROTE_BSUID, ...blocked]) {
    await eventually(async () => (await check({ ...text, to })).window.state === 'open');
  }
  await eventually(async () => {
    const { reasons } = await check({ ...text, to: UNREACHABLE });
    return reasons.some((one: any) => one.upstream_code === 131_026);
  });
});

const HELLO = { name: 'Autumn', template_name: 'hello_world', template_language: 'en_US' };
const PATHS: Readonly<Record<string, string>> = { text: '/messages/send' };

const recipient = fc.constantFrom<object>(
  { to: WROTE },
  { to: SILENT },
  { to: UNREACHABLE },
  { to: BLOCKED },
  { to: '15550100001' },
  { to: WROTE_BSUID },
  { user_id: SILENT_BSUID },
  { to: 'no-number' },
  {},
);
const body = (...texts: string[]) => ({
  type: 'body',
  parameters: texts.map((text) => ({ type: 'text', text })),
});
const template = fc.record({
  name: fc.constantFrom(
    'hello_world',
    'order_update',
    'login_code',
    'sale_paused',
    'review_pending',
    'review_rejected',
    'welcome_named',
    'none',
  ),
  language: fc.constantFrom('en_US', 'en_US', 'en_US', 'es', 'ms'),
  components: fc.constantFrom<object[]>(
    [],
    [body('Ada')],
    [body('Ada', 'A-17')],
    [body('Ada', '')],
    [
      {
        type: 'body',
        parameters: [
          { type: 'text', parameter_name: 'shop', text: 'x' },
          { type: 'text', parameter_name: 'first_name', text: 'y' },
        ],
      },
    ],
    [
      body('123456'),
      {
        type: 'button',
        sub_type: 'url',
        index: '0',
        parameters: [{ type: 'text', text: '123456' }],
      },
    ],
  ),
});
const messages = fc.tuple(
  recipient,
  fc.oneof(
    fc.record({
      kind: fc.constant('text'),
      text: fc.constantFrom('Hello', 'Hello', ' ', 'x'.repeat(4_097)),
    }),
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('template'), template }) },
    fc.record({
      kind: fc.constant('location'),
      latitude: fc.constantFrom(1, 91),
      longitude: fc.constant(2),
    }),
    fc.record({
      kind: fc.constant('contacts'),
      contacts: fc.constantFrom<object[]>(
        [{ name: { formatted_name: 'Ada Lovelace', first_name: 'Ada' } }],
        [{ name: { formatted_name: 'Ada Lovelace' } }],
        [],
      ),
    }),
    fc.record({
      kind: fc.constant('reaction'),
      message_id: fc.constant('wamid.HBgLSEEN'),
      emoji: fc.constant('👍'),
    }),
    fc.record({
      kind: fc.constant('media'),
      type: fc.constant('image'),
      media: fc.constantFrom<object>({ id: '999' }, { id: '1', link: 'x' }, { id: '1', volume: 3 }),
    }),
    fc.record({
      kind: fc.constant('interactive'),
      interactive: fc.constant({
        type: 'button',
        body: { text: 'Monday?' },
        action: { buttons: [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }] },
      }),
    }),
  ),
);

interface Outcome {
  message: object;
  checked: any; // any: an answer, compared below
  sent: { status: number; body: any };
}

test('agrees with the outcomes of 500 random messages', async () => {
  const seed = Number(process.env['BMG_SEED'] ?? Date.now() % 1e9);
  const sample = fc.sample(messages, { numRuns: MESSAGES, seed });
  const outcomes: Outcome[] = [];
  for (let at = 0; at < sample.length; at += AT_ONCE) {
    const some = sample.slice(at, at + AT_ONCE).map(async ([to, content]) => {
      const message = { ...to, ...content };
      const { kind, ...rest } = message;
      const checked = await check(message);
      const sent = await post(PATHS[kind] ?? `/messages/${kind}`, rest);
      outcomes.push({ message, checked, sent });
    });
    await Promise.all(some);
  }
  const accepted = outcomes.filter(({ sent }) => sent.status === 200);
  const last = ({ sent, message }: Outcome) => {
    const final = 'message_id' in message ? 'message.sent' : 'message.delivered';
    return ['message.failed', final]
      .flatMap((event) => partner.receiver.of(event))
      .find(({ body: { data } }) => data.message_id === sent.body.message_id);
  };
  await eventually(() => accepted.every((one) => last(one)));

  const disagreements = outcomes.filter((one) => !agrees(one, last(one)?.body));
  expect({ seed, disagreements: disagreements.slice(0, 3) }).toEqual({ seed, disagreements: [] });
  expect(accepted.length).toBeGreaterThan(MESSAGES / 20);
  expect(accepted.length).toBeLessThan(MESSAGES);
});

/** True if a check predicted the refusal, the failure, or the delivery with its price. */
function agrees({ checked, sent }: Outcome, event: any): boolean {
  const { deliverable, reasons, price } = checked;
  const named = (code: string, upstream_code?: number): boolean =>
    reasons.some((one: any) => one.code === code && one.upstream_code === (upstream_code ?? null));
  if (sent.status !== 200) {
    const { code, upstream_code } = sent.body.error;
    return deliverable === 'no' && named(code, upstream_code);
  }
  if (event.event === 'message.failed') {
    const [{ code }] = event.data.errors;
    const upstream = named('UPSTREAM_ERROR', Number(code));
    return deliverable === 'no' && (upstream || named('RECIPIENT_BLOCKED', Number(code)));
  }
  const { billable, category } = event.data.pricing;
  return deliverable === 'yes' && price.billable === billable && price.category === category;
}

const contact = fc.constantFrom<unknown>(
  WROTE,
  SILENT,
  UNREACHABLE,
  BLOCKED,
  '15550100001',
  SILENT_BSUID,
  { to: '15550100002', params: ['Ada', 'A-17'] },
  { to: '15550100003', params: ['Ada', 'x'.repeat(1_100)] },
  { to: WROTE, params: { '1': 'Ada' } },
  '',
);
const broadcast = fc.record({
  name: fc.constant('Autumn'),
  template_name: fc.constantFrom(
    'hello_world',
    'hello_world',
    'order_update',
    'order_update',
    'login_code',
    'sale_paused',
    'none',
  ),
  template_language: fc.constantFrom('en_US', 'en_US', 'en_US', 'ms'),
  template_components: fc.constantFrom<object[]>(
    [],
    [],
    [body('{{1}}', '{{2}}')],
    [body('a', 'b')],
  ),
  contacts: fc.oneof(
    { weight: 4, arbitrary: fc.array(contact, { minLength: 1, maxLength: 6 }) },
    fc.constantFrom<unknown[]>(
      ['abc', WROTE],
      Array.from({ length: 3 }, (_, at) => ({ to: `1555010090${at}`, params: ['Ada', 'A-17'] })),
      [],
    ),
  ),
});

/** Few random ones are accepted. */
const GOOD = {
  name: 'Autumn',
  template_name: 'hello_world',
  template_language: 'en_US',
  template_components: [],
  contacts: [WROTE],
};

/** Failures of a broadcast's contacts by the upstream's code. */
function failuresOf(list: Array<[code: unknown, contacts: number]>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [code, contacts] of list) {
    counts[String(code)] = (counts[String(code)] ?? 0) + contacts;
  }
  return counts;
}

test('agrees with the outcomes of random broadcasts', async () => {
  const seed = Number(process.env['BMG_SEED'] ?? Date.now() % 1e9);
  const sample = [GOOD, ...fc.sample(broadcast, { numRuns: BROADCASTS, seed })];
  const outcomes = await Promise.all(
    sample.map(async (given) => {
      const checked = await check(given);
      const created = await post('/broadcasts', given);
      return { seed, given, checked, created };
    }),
  );
  for (const { seed, given, checked, created } of outcomes) {
    if (created.status !== 201) {
      const { code, upstream_code } = created.body.error;
      expect({ seed, given, checked }).toMatchObject({
        checked: {
          deliverable: 'no',
          reasons: expect.arrayContaining([
            expect.objectContaining({
              code,
              upstream_code: upstream_code ?? null,
              scope: 'broadcast',
            }),
          ]),
        },
      });
      continue;
    }
    const { total, skipped, duplicates, broadcast_id } = created.body;
    expect({ seed, given, checked }).toMatchObject({
      checked: { broadcast: { total, skipped, duplicates } },
    });
    expect(checked.reasons.filter(({ scope }: any) => scope === 'broadcast')).toEqual([]);
    const foretold = failuresOf(
      checked.reasons.map(({ upstream_code, contacts }: any) => [upstream_code, contacts]),
    );
    await eventually(async () => {
      const { broadcast } = (await partner.call('GET', `/broadcasts/${broadcast_id}`)).body;
      if (broadcast.status !== 'completed' || broadcast.sent - broadcast.delivered > 0)
        return false;
      expect({
        seed,
        given,
        failures: failuresOf(broadcast.failures.map(({ code, count }: any) => [code, count])),
      }).toEqual({ seed, given, failures: foretold });
      expect(checked.deliverable).toBe(broadcast.failed === total ? 'no' : 'yes');
      return true;
    });
  }
  const accepted = outcomes.filter(({ created }) => created.status === 201);
  expect(accepted.map(({ given }) => given)).toContain(GOOD);
  expect(accepted.length).toBeLessThan(sample.length);
});

test('checks a broadcast to 10,000 contacts quickly, and stores and sends nothing', async () => {
  const upstream = (await mesh.emulator.summary()).total;
  const { total } = (await partner.call('GET', '/broadcasts')).body;
  const contacts = Array.from({ length: 10_000 }, (_, at) => ({
    to: `4915${String(at).padStart(8, '0')}`,
    params: { '1': `Customer ${at}`, '2': `A-${at}` },
  }));
  const started = performance.now();
  const answer = await check({ ...HELLO, template_name: 'order_update', contacts });
  const took_ms = performance.now() - started;
  expect(answer).toMatchObject({
    deliverable: 'yes',
    reasons: expect.arrayContaining([
      expect.objectContaining({ code: 'MESSAGING_LIMIT', effect: 'note' }),
    ]),
    broadcast: { total: 10_000, failing: 0, duration_s: 506 },
  });
  // 2 s on a quiet machine.
  expect(took_ms).toBeLessThan(20_000);
  expect((await partner.call('GET', '/broadcasts')).body.total).toBe(total);
  expect((await mesh.emulator.summary()).total).toBe(upstream);
  const many = await check({ ...HELLO, contacts: [...contacts, WROTE] });
  expect(many.reasons).toMatchObject([{ code: 'TOO_MANY_CONTACTS', field: 'contacts' }]);
});

test('counts the customers of 24 hours and the contacts that are queued, until the number is offboarded', async () => {
  const other = await mesh.createPartner();
  const number = await newAccount(mesh);
  await other.register(number);
  const ask = async (method: string, path: string, body?: object) =>
    (await other.call(method, path, body, { 'x-waba-id': number.waba_id })).body;
  const text = { kind: 'text', to: SILENT, text: 'Hello' };
  const { messaging_limit: unused, pace: idle } = await ask('POST', '/messages/check', text);
  expect([unused.used, unused.left, idle.queued]).toEqual([0, unused.limit, 0]);
  for (const to of [SILENT, WROTE, SILENT]) {
    await ask('POST', '/messages/template', {
      to,
      template: { name: 'hello_world', language: 'en_US' },
    });
  }
  await eventually(async () => {
    const { messaging_limit } = await ask('POST', '/messages/check', text);
    return messaging_limit.used === 2 && messaging_limit.left === unused.limit - 2;
  });
  // More than a minute of work: still running while the tests look at it, on a slow machine too.
  const contacts = Array.from({ length: 6_000 }, (_, at) => `4915${String(at).padStart(8, '0')}`);
  const { broadcast_id } = await ask('POST', '/broadcasts', { ...HELLO, contacts });
  const queued = await eventually(async () => {
    const { pace } = await ask('POST', '/messages/check', text);
    return pace.queued > 0 && pace;
  });
  expect(queued.queued).toBeLessThanOrEqual(6_000);
  // A message of its own does not wait for the contacts of broadcasts.
  expect(Date.parse(queued.leaves_at)).toBeLessThan(Date.now() + 1_000);
  const { broadcast, checked_at } = await ask('POST', '/messages/check', {
    ...HELLO,
    contacts: [WROTE],
  });
  // Broadcasts of a number take turns: the last contact leaves behind those that are queued.
  expect(Date.parse(broadcast.ends_at)).toBeGreaterThan(Date.parse(checked_at) + 20_000);
  await offboard(mesh, number);
  const stopped = await eventually(async () => {
    const answer = await ask('POST', '/messages/check', text);
    return answer.deliverable === 'no' && answer;
  });
  expect(stopped.reasons).toContainEqual(expect.objectContaining({ code: 'NO_ACTIVE_WABA' }));
  await untilCompleted(other, broadcast_id as number, 60_000);
});

async function tellsWhatACategoryCosts(): Promise<void> {
  const template = { waba_id: ONE.waba_id, name: 'opening_hours' };
  await mesh.emulator.template({ ...template, category: 'UTILITY' });
  await mesh.emulator.template({ ...template, category: 'MARKETING' });
  const changed = await eventually(() => partner.receiver.of('template.category_updated')[0]);
  expect(changed.body.data).toMatchObject({
    template_name: template.name,
    new_category: 'MARKETING',
    cost: {
      from: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      currency: 'EUR',
      unit_prices: [{ market: 'Germany', previous: '0.0456', new: '0.1131' }],
      reason: null,
    },
  });
}

test('the operator’s rate card prices checks and changed categories; a faulty card changes nothing', async () => {
  const rates = createRpcClient(RatesDefinition, mesh.env['MESSAGING_ADDR'] as string);
  await rates.start(new AbortController().signal);
  const columns = 'currency,market,category,tier,valid_from,price';
  const load = (...lines: string[]) =>
    rates.rpc.loadRates({ csv: [columns, ...lines].join('\n') }, mesh.call());
  const price = async () =>
    (
      await check({
        kind: 'template',
        to: SILENT,
        template: { name: 'hello_world', language: 'en_US' },
      })
    ).price;
  expect(await load('EUR,Germany,utility,,2026-01-01,0.0456')).toMatchObject({
    currency: 'EUR',
    rates: 1,
  });
  const priced = { currency: 'EUR', unit_price: '0.0456', tier: '0:', market: 'Germany' };
  await eventually(async () => (await price()).unit_price !== null);
  expect(await price()).toMatchObject({ ...priced, billable: true, unit_price_reason: null });
  await expect(load('EUR,Atlantis,utility,,2026-01-01,1')).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { lines: [{ line: 2, problem: expect.stringContaining('Atlantis') }] },
  });
  expect(await rates.rpc.getRates({}, mesh.call())).toMatchObject({ currency: 'EUR', rates: 1 });
  await load('EUR,Germany,utility,,2026-01-01,0.0456', 'EUR,Germany,marketing,,2026-01-01,0.1131');
  await tellsWhatACategoryCosts();
  await db('messaging').collection('rate_cards').deleteMany({});
  await rates.stop();
});

const FILES: Readonly<Record<string, { type?: string; size?: number }>> = {
  '/photo.jpg': { type: 'image/jpeg', size: 60_000 },
  '/large.jpg': { type: 'image/jpeg', size: 6_000_000 },
  '/report.pdf': { type: 'application/pdf', size: 60_000 },
  '/untold': {},
};

test('checks the file behind a link without fetching it', async () => {
  const methods = new Set<string>();
  const server = createServer(({ method = '', url = '' }, response) => {
    methods.add(method);
    const { type, size } = FILES[url] ?? {};
    response.writeHead(FILES[url] ? 200 : 404, {
      ...(type && { 'content-type': type }),
      ...(size && { 'content-length': size }),
    });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const seen = async (path: string) => {
    const media = { link: `http://127.0.0.1:${port}${path}` };
    const { deliverable, reasons } = await check({
      kind: 'media',
      to: WROTE,
      type: 'image',
      media,
    });
    return [deliverable, ...reasons.map((one: any) => [one.code, one.upstream_code])];
  };
  expect(await seen('/photo.jpg')).toEqual(['yes']);
  expect(await seen('/large.jpg')).toEqual(['no', ['MEDIA_TOO_LARGE', 131_053]]);
  expect(await seen('/report.pdf')).toEqual(['no', ['UPSTREAM_ERROR', 131_053]]);
  expect(await seen('/untold')).toEqual(['unknown', ['MEDIA_UNKNOWN', null]]);
  expect(await seen('/missing.jpg')).toEqual(['unknown', ['MEDIA_UNKNOWN', null]]);
  expect([...methods]).toEqual(['HEAD']);
  server.close();
});

test('knows a paused or unpaid number and a refused token', async () => {
  const clients = db('onboarding').collection('clients');
  await mesh.emulator.fault({
    match: { method: 'POST', path: '/messages$' },
    error: { code: 190 },
    times: 1,
  });
  await post('/messages/send', { to: WROTE, text: 'Hello' });
  const reasons = await eventually(async () => {
    const answer = await check({ kind: 'text', to: WROTE, text: 'Hello' });
    return answer.deliverable === 'no' ? answer.reasons : undefined;
  });
  expect(reasons).toMatchObject([{ upstream_code: 190, fix: expect.stringContaining('refresh') }]);
  await db('messaging').collection('refused_tokens').deleteMany({});
  const stops = [
    { set: { health: 'paused' }, back: { health: 'connected' }, code: 'NO_ACTIVE_WABA' },
    { set: { billing: 'billing_failed' }, back: { billing: 'active' }, code: 'PAYMENT_FAILED' },
  ];
  for (const { set, back, code } of stops) {
    await clients.updateMany({ waba_id: ONE.waba_id }, { $set: set });
    await eventually(async () => {
      const answer = await check({ kind: 'text', to: WROTE, text: 'Hello' });
      return answer.reasons.some((one: { code: string }) => one.code === code);
    });
    await clients.updateMany({ waba_id: ONE.waba_id }, { $set: back });
  }
});
