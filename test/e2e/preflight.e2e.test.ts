// POST /messages/check: the pre-flights of 500 random messages and some random broadcasts agree
// with the outcomes of the sends. Further cases cover outcomes that the emulator cannot show.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { createRpcClient } from '@bmg/common/rpc';
import { RatesDefinition } from '@bmg/proto/messaging';
import { eventually } from '../testkit/eventually';
import { words } from '../testkit/words';
import { ONE } from '../harness/shared-mesh';
import { people, untilCompleted } from './broadcast-support';
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
  const wrote = { from: WROTE, bsuid: 'US.4Qm7Zr81Kd70' };
  await mesh.emulator.inbound({ phone_number_id, ...wrote, text: 'a' });
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
  const hello = { kind: 'text', text: 'Hello' };
  for (const to of [WROTE, WROTE_BSUID, ...blocked]) {
    await eventually(async () => (await check({ ...hello, to })).window.state === 'open');
  }
  await eventually(async () => {
    const { reasons } = await check({ ...hello, to: UNREACHABLE });
    return reasons.some((one: any) => one.upstream_code === 131_026);
  });
});

const HELLO = { name: 'Autumn', template_name: 'hello_world', template_language: 'en_US' };
const PATHS: Readonly<Record<string, string>> = { text: '/messages/send' };

const recipient = fc.constantFrom<object>(
  ...[WROTE, SILENT, UNREACHABLE, BLOCKED, '15550100001', WROTE_BSUID, 'no-number'].map((to) => ({
    to,
  })),
  { user_id: SILENT_BSUID },
  {},
);
const text = (value: string) => ({ type: 'text', text: value });
const body = (...texts: string[]) => ({ type: 'body', parameters: texts.map(text) });
const named = (parameter_name: string, value: string) => ({ ...text(value), parameter_name });
const template = fc.record({
  name: fc.constantFrom(
    ...words(`
      hello_world order_update login_code sale_paused review_pending review_rejected welcome_named
      none
    `),
  ),
  language: fc.constantFrom('en_US', 'en_US', 'en_US', 'es', 'ms'),
  components: fc.constantFrom<object[]>(
    [],
    [body('Ada')],
    [body('Ada', 'A-17')],
    [body('Ada', '')],
    [{ type: 'body', parameters: [named('shop', 'x'), named('first_name', 'y')] }],
    [body('123456'), { type: 'button', sub_type: 'url', index: '0', parameters: [text('123456')] }],
  ),
});
/** Messages of a kind; each field has one of its values. */
const kind = (name: string, fields: Record<string, unknown[]>) =>
  fc.record({
    kind: fc.constant(name),
    ...Object.fromEntries(
      Object.entries(fields).map(([field, values]) => [field, fc.constantFrom(...values)]),
    ),
  });
const messages = fc.tuple(
  recipient,
  fc.oneof(
    kind('text', { text: ['Hello', 'Hello', ' ', 'x'.repeat(4_097)] }),
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('template'), template }) },
    kind('location', { latitude: [1, 91], longitude: [2] }),
    kind('contacts', {
      contacts: [
        [{ name: { formatted_name: 'Ada Lovelace', first_name: 'Ada' } }],
        [{ name: { formatted_name: 'Ada Lovelace' } }],
        [],
      ],
    }),
    kind('reaction', { message_id: ['wamid.HBgLSEEN'], emoji: ['👍'] }),
    kind('media', {
      type: ['image'],
      media: [{ id: '999' }, { id: '1', link: 'x' }, { id: '1', volume: 3 }],
    }),
    kind('interactive', {
      interactive: [
        {
          type: 'button',
          body: { text: 'Monday?' },
          action: { buttons: [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }] },
        },
      ],
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
    ...words('hello_world hello_world order_update order_update login_code sale_paused none'),
  ),
  template_language: fc.constantFrom('en_US', 'en_US', 'en_US', 'ms'),
  template_components: fc.constantFrom([], [], [body('{{1}}', '{{2}}')], [body('a', 'b')]),
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
const GOOD = { ...HELLO, template_components: [], contacts: [WROTE] };

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
  const contacts = people(10_000).map((to, at) => ({
    to,
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
  const template = { name: 'hello_world', language: 'en_US' };
  for (const to of [SILENT, WROTE, SILENT])
    await ask('POST', '/messages/template', { to, template });
  await eventually(async () => {
    const { messaging_limit } = await ask('POST', '/messages/check', text);
    return messaging_limit.used === 2 && messaging_limit.left === unused.limit - 2;
  });
  // More than a minute of work: still running while the tests look at it, on a slow machine too.
  const contacts = people(6_000);
  const { broadcast_id } = await ask('POST', '/broadcasts', { ...HELLO, contacts });
  const queued = await eventually(async () => {
    const { pace } = await ask('POST', '/messages/check', text);
    return pace.queued > 0 && pace;
  });
  // A message of its own does not wait for the contacts of broadcasts.
  expect(Date.parse(queued.leaves_at)).toBeLessThan(Date.now() + 1_000);
  const { broadcast, checked_at } = await ask('POST', '/messages/check', {
    ...HELLO,
    contacts: [WROTE],
  });
  // Broadcasts of a number take turns: the last contact leaves behind those that are queued.
  expect(Date.parse(broadcast.ends_at)).toBeGreaterThan(Date.parse(checked_at) + 20_000);
  await offboard(mesh, number);
  await eventually(async () => {
    const { reasons } = await ask('POST', '/messages/check', text);
    return reasons.some(({ code }: { code: string }) => code === 'NO_ACTIVE_WABA');
  });
  await untilCompleted(other, broadcast_id as number, 60_000);
});

test('the operator’s rate card prices checks and changed categories', async () => {
  const rates = createRpcClient(RatesDefinition, mesh.env['MESSAGING_ADDR'] as string);
  await rates.start(new AbortController().signal);
  const csv = `currency,market,category,tier,valid_from,price
EUR,Germany,utility,,2026-01-01,0.0456
EUR,Germany,marketing,,2026-01-01,0.1131
`;
  await rates.rpc.loadRates({ csv }, mesh.call());
  const template = { name: 'hello_world', language: 'en_US' };
  const price = await eventually(async () => {
    const answer = await check({ kind: 'template', to: SILENT, template });
    return answer.price.unit_price !== null && answer.price;
  });
  expect(price).toMatchObject({ currency: 'EUR', unit_price: '0.0456', market: 'Germany' });
  const changing = { waba_id: ONE.waba_id, name: 'opening_hours' };
  await mesh.emulator.template({ ...changing, category: 'UTILITY' });
  await mesh.emulator.template({ ...changing, category: 'MARKETING' });
  const changed = await eventually(() => partner.receiver.of('template.category_updated')[0]);
  expect(changed.body.data).toMatchObject({
    template_name: changing.name,
    cost: { unit_prices: [{ market: 'Germany', previous: '0.0456', new: '0.1131' }] },
  });
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
  for (const [path, deliverable, ...reasons] of [
    ['/photo.jpg', 'yes'],
    ['/large.jpg', 'no', { code: 'MEDIA_TOO_LARGE', upstream_code: 131_053 }],
    ['/report.pdf', 'no', { code: 'UPSTREAM_ERROR', upstream_code: 131_053 }],
    ['/untold', 'unknown', { code: 'MEDIA_UNKNOWN', upstream_code: null }],
    ['/missing.jpg', 'unknown', { code: 'MEDIA_UNKNOWN', upstream_code: null }],
  ]) {
    const media = { link: `http://127.0.0.1:${port}${String(path)}` };
    const seen = await check({ kind: 'media', to: WROTE, type: 'image', media });
    expect(seen).toMatchObject({ deliverable, reasons });
  }
  expect([...methods]).toEqual(['HEAD']);
  server.close();
});

test('knows a paused or unpaid number and a refused token', async () => {
  const text = { to: WROTE, text: 'Hello' };
  const untilRefused = (reason: object) =>
    eventually(async () => {
      const { reasons } = await check({ kind: 'text', ...text });
      expect(reasons).toContainEqual(expect.objectContaining(reason));
      return true;
    });
  const match = { method: 'POST', path: '/messages$' };
  await mesh.emulator.fault({ match, error: { code: 190 }, times: 1 });
  await post('/messages/send', text);
  await untilRefused({ upstream_code: 190, fix: expect.stringContaining('refresh') });
  await db('messaging').collection('refused_tokens').deleteMany({});
  const clients = db('onboarding').collection('clients');
  for (const [changed, former, code] of [
    [{ health: 'paused' }, { health: 'connected' }, 'NO_ACTIVE_WABA'],
    [{ billing: 'billing_failed' }, { billing: 'active' }, 'PAYMENT_FAILED'],
  ] as const) {
    await clients.updateMany({ waba_id: ONE.waba_id }, { $set: changed });
    await untilRefused({ code });
    await clients.updateMany({ waba_id: ONE.waba_id }, { $set: former });
  }
});
