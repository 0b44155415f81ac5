// Every answer of the page Answers is correct: each test creates the situation of its question,
// runs the commands below it as they are printed, and checks what the answer promises.
import { ONE, type TestPartner } from '../harness/shared-mesh';
import { aBroadcast, detailOf, people, untilCompleted } from '../e2e/broadcast-support';
import { loadSampleRates, removeRates } from '../e2e/rates-support';
import { eventually } from '../testkit/eventually';
import { isSigned } from '../testkit/partner';
import { readGuide, runCommands, useGuideShell } from './guide-shell';
import { codeBlocks } from './receiving/page';

const LIMIT_MS = 120_000;
const CUSTOMER = '15550100777';
const OF_NUMBER = { 'x-waba-id': ONE.waba_id };

let partner: TestPartner;
const shell = useGuideShell();
beforeEach(async () => {
  partner = await shell.newPartner();
});
afterEach(async () => {
  await shell.mesh.emulator.clearFaults();
  await shell.mesh.emulator.behaviour({ fail_status: null });
  await shell.mesh.emulator.limits({ window_check: 'off' });
});

type Json = any; // any: tests read arbitrary answers

const SECTIONS = new Map(
  readGuide('answers')
    .split(/^## /m)
    .slice(1)
    .map((section): [string, string] => {
      const [question = '', ...lines] = section.split('\n');
      return [question, codeBlocks(lines.join('\n'), 'sh').join('\n')];
    }),
);

/** Runs the commands below the question; returns their answers. */
async function ask(question: string, env: Record<string, string> = {}): Promise<Json[]> {
  const script = SECTIONS.get(question);
  if (!script) throw new Error(`the page has no commands below “${question}”`);
  const stdout = await runCommands(script, { ...shell, partner, env });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Json);
}

const send = (body: object = {}, headers: Record<string, string> = {}) =>
  partner.call(
    'POST',
    '/messages/send',
    { to: CUSTOMER, text: 'Hi', ...body },
    { ...OF_NUMBER, ...headers },
  );

const check = async (body: object): Promise<Json> =>
  (await partner.call('POST', '/messages/check', body, OF_NUMBER)).body;

const writesIn = (from = CUSTOMER) =>
  shell.mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, from, text: 'Hello' });

const arrival = (event: string): Promise<Json> =>
  eventually(() => partner.receiver.of(event)[0]?.body);

const createKey = async (): Promise<{ key_id: string; secret: string }> => {
  const { body } = await partner.call('POST', '/keys', { name: 'Orders', scopes: ['read'] });
  return { key_id: body.key.key_id, secret: body.secret };
};

const sentTo = (to: string) => shell.mesh.emulator.messages({ to });

/** A recipient that no other test writes to. */
let next_recipient = 15_559_000_000 + Math.floor(Math.random() * 900_000);
const stranger = (): string => String((next_recipient += 1));

const TESTS: Readonly<Record<string, (question: string) => Promise<void>>> = {
  'My receiver was down for three hours. What did I miss?': async (question) => {
    partner.receiver.behave((_arrival, response) => void response.writeHead(410).end());
    await writesIn();
    const missed = await eventually(async () => {
      const { body } = await partner.call('GET', '/webhooks/failed');
      return body.events.find((one: Json) => one.event === 'message.received')?.event_id;
    });
    partner.receiver.behave(undefined);
    partner.receiver.arrivals.length = 0;
    const [failed, retried] = await ask(question);
    expect(failed.events.map((one: Json) => one.event_id)).toContain(missed);
    expect(retried.queued).toBeGreaterThan(0);
    expect((await arrival('message.received')).meta.event_id).toBe(missed);
  },
  'A send timed out. May I send it again?': async (question) => {
    const to = stranger();
    const key = { 'idempotency-key': `order-${to}` };
    const match = { method: 'POST', path: '/messages$' };
    await shell.mesh.emulator.fault({ match, times: 1, drop: 'after' });
    const first = await send({ to }, key);
    expect([first.status, first.body.error.details.outcome]).toEqual([502, 'unknown']);
    const again = await eventually(async () => {
      const { status, body } = await send({ to }, key);
      return status === 200 && body;
    });
    expect(await sentTo(to)).toHaveLength(1);
    const [list] = await ask(question);
    expect(list.messages).toEqual([]);
    const { body } = await partner.call('GET', `/messages?recipient=${to}`);
    expect(body.messages.map((one: Json) => one.message_id)).toEqual([again.message_id]);
  },
  'How do I avoid sending a message twice?': async () => {
    const to = stranger();
    const key = { 'idempotency-key': `order-${to}-shipped` };
    const [first, second] = [await send({ to }, key), await send({ to }, key)];
    expect(second.body.message_id).toBe(first.body.message_id);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    const contact = stranger();
    const broadcast = aBroadcast([contact, `+${contact}`]);
    const { body } = await partner.call('POST', '/broadcasts', broadcast, OF_NUMBER);
    await untilCompleted(partner, body.broadcast_id, LIMIT_MS);
    for (const one of [to, contact]) expect(await sentTo(one)).toHaveLength(1);
  },
  'Is a customer `to`, `recipient` or `contact`?': async () => {
    const [written, other] = ['5511987650001', '551187650001'];
    const { message_id } = (await send({ to: written })).body as Json;
    const list = await partner.call('GET', `/messages?recipient=${other}`);
    expect(list.body).toMatchObject({ messages: [{ message_id, contact: written }] });
    const sent = await eventually<Json>(async () => {
      const log = await partner.call('GET', `/events?contact=${other}`);
      return (log.body as Json).events.find(
        ({ envelope: { event, data } }: Json) =>
          event === 'message.sent' && data.message_id === message_id,
      );
    });
    expect(sent.envelope.data.recipient).toBe(written);
  },
  'What does a message cost in Brazil, Germany or India?': async (question) => {
    await loadSampleRates(shell.mesh);
    try {
      const [list] = await ask(question);
      expect(list.prices).toMatchObject([{ market: 'Brazil', category: 'marketing' }]);
      const template = { name: 'hello_world', language: 'en_US' };
      const { price } = await check({ kind: 'template', to: CUSTOMER, template });
      expect(price).toMatchObject({ market: 'North America', unit_price: expect.any(String) });
    } finally {
      await removeRates(shell.mesh);
    }
  },
  'Why was a message charged as marketing?': async () => {
    const template = { waba_id: ONE.waba_id, name: 'order_update', language: 'en_US' };
    await partner.call('GET', '/templates', undefined, OF_NUMBER);
    await shell.mesh.emulator.template({ ...template, category: 'MARKETING' });
    try {
      const { data } = await arrival('template.category_updated');
      expect(data).toMatchObject({ template_name: 'order_update', cost: expect.anything() });
      const parameters = [
        { type: 'text', text: 'Ada' },
        { type: 'text', text: '4711' },
      ];
      const components = [{ type: 'body', parameters }];
      const body = { to: CUSTOMER, template: { ...template, components } };
      await partner.call('POST', '/messages/template', body, OF_NUMBER);
      const entry = await eventually(async () => {
        const { body: ledger } = await partner.call('GET', '/usage/ledger');
        return ledger.entries.find(({ template_name, category }: Json) => {
          return template_name === 'order_update' && category !== null;
        });
      });
      expect(entry).toMatchObject({ category_asked: 'utility', category: 'marketing' });
      expect(Date.parse(entry.category_changed_since)).toBeGreaterThan(0);
    } finally {
      await shell.mesh.emulator.template({ ...template, category: 'UTILITY' });
    }
  },
  'A number stopped sending. Why?': async (question) => {
    const match = { method: 'POST', path: '/messages$' };
    await shell.mesh.emulator.fault({ match, times: 1, error: { code: 131_031 } });
    expect((await send()).body.error.upstream_code).toBe(131_031);
    const [account] = await ask(question);
    expect(account.waba.health_status).toMatchObject({ can_send_message: 'AVAILABLE' });
    const { body } = await partner.call('GET', '/phone-status', undefined, OF_NUMBER);
    expect(body.phone).toMatchObject({ status: 'CONNECTED' });
  },
  'Why did the message not arrive?': async (question) => {
    const to = stranger();
    await shell.mesh.emulator.behaviour({ fail_status: { to, code: 131_026 } });
    const { body } = await send({ to });
    expect((await arrival('message.failed')).data.errors[0].code).toBe(131_026);
    const steps = await eventually(async () => {
      const [timeline] = await ask(question, { MESSAGE_ID: body.message_id });
      const types = new Set(timeline.entries.map((one: Json) => one.type));
      return ['accepted', 'upstream', 'status', 'event', 'attempt'].every((one) => types.has(one));
    });
    expect(steps).toBe(true);
  },
  'Can I write to a customer who has not written to me?': async () => {
    const to = stranger();
    await shell.mesh.emulator.limits({ window_check: 'fail_later' });
    await send({ to });
    expect((await arrival('message.failed')).data.errors[0].code).toBe(131_047);
    const template = { name: 'hello_world', language: 'en_US' };
    await partner.call('POST', '/messages/template', { to, template }, OF_NUMBER);
    await arrival('message.delivered');
    await writesIn(to);
    await eventually(async () => {
      const { window } = await check({ kind: 'text', to, text: 'Hi' });
      return window.state === 'open';
    });
  },
  'Why is the signature of my webhook wrong?': async () => {
    await writesIn();
    await arrival('message.received');
    const [one] = partner.receiver.of('message.received');
    if (!one) throw new Error('there is no event');
    expect(isSigned(one, partner.webhook_secret)).toBe(true);
    const serialised = { ...one, raw: JSON.stringify(one.body, null, 2) };
    expect(isSigned(serialised, partner.webhook_secret)).toBe(false);
    expect(isSigned(one, partner.webhook_secret.replace('whsec_', ''))).toBe(false);
  },
  'How do I read events without a public address?': async () => {
    const waits = partner.call('GET', '/events?after=0&event=message.received&wait=20');
    await writesIn();
    expect((await waits).body.events).toMatchObject([
      { event: 'message.received', seq: expect.any(Number) },
    ]);
  },
  'My requests get 429. How many may I send?': async () => {
    partner = await shell.mesh.createPartner({ rate_limit_per_sec: 1 });
    const allowed = await partner.call('GET', '/clients');
    expect(allowed.headers.get('ratelimit-remaining')).toBe('0');
    const refused = await eventually(async () => {
      const answer = await partner.call('GET', '/clients');
      return answer.status === 429 && answer;
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  },
  "The client's sign-up failed. Where do I look?": async () => {
    const number = { ...ONE, access_token: 'EMULATED-TOKEN-INVALID' };
    expect((await partner.register(number)).status).toBe(502);
    const { body } = await partner.call('GET', '/onboarding/events');
    expect(body.events[0]).toMatchObject({
      current_step: 'REGISTRATION',
      error_code: expect.any(String),
    });
  },
  'Why did some contacts of a broadcast fail?': async (question) => {
    const [reached, missed] = [stranger(), stranger()];
    await shell.mesh.emulator.behaviour({ fail_status: { to: missed, code: 131_026 } });
    const broadcast = aBroadcast([reached, missed]);
    const { body } = await partner.call('POST', '/broadcasts', broadcast, OF_NUMBER);
    const BROADCAST_ID = String(body.broadcast_id);
    await untilCompleted(partner, body.broadcast_id, LIMIT_MS);
    const [detail, list] = await eventually(async () => {
      const answers = await ask(question, { BROADCAST_ID });
      return answers[0].broadcast.failures.length > 0 && answers[1].count !== 0 && answers;
    });
    expect(detail.broadcast.failures).toMatchObject([{ code: '131026', count: 1 }]);
    expect(detail.broadcast.failures[0].example_recipient).not.toBe(missed);
    expect(list.messages).toMatchObject([{ contact: missed, error_code: '131026' }]);
  },
  'A broadcast goes to the wrong people. How do we stop it?': async (question) => {
    const contacts = people(200, 730_000);
    const { body } = await partner.call('POST', '/broadcasts', aBroadcast(contacts), OF_NUMBER);
    const id = body.broadcast_id as number;
    await eventually(async () => (await detailOf(partner, id)).sent > 0);
    const [, , { messages }] = await ask(question, { BROADCAST_ID: String(id) });
    const { status, sent } = await detailOf(partner, id);
    expect([status, sent < contacts.length]).toEqual(['cancelled', true]);
    expect(messages.length).toBeGreaterThan(0);
    expect(contacts).toEqual(expect.arrayContaining(messages.map((one: Json) => one.contact)));
  },
  'We restored an old backup. How do we get the events since then?': async (question) => {
    const BACKUP_AT = new Date().toISOString();
    await writesIn();
    const { event_id } = (await arrival('message.received')).meta;
    await eventually(async () => {
      const { body } = await partner.call('GET', '/events?event=message.received');
      return body.events.length > 0;
    });
    partner.receiver.arrivals.length = 0;
    const [log, replay] = await ask(question, { BACKUP_AT, POSITION: '0' });
    expect(log.events.map((one: Json) => one.event_id)).toContain(event_id);
    expect(replay.replay_id).toMatch(/^rpl_/);
    expect((await arrival('message.received')).meta.event_id).toBe(event_id);
  },
  'How do I replace an API key without downtime?': async (question) => {
    const { key_id, secret } = await createKey();
    const [rotated] = await ask(question, { KEY_ID: key_id });
    for (const key of [secret, rotated.secret]) {
      const { status } = await partner.call('GET', '/clients', undefined, { 'x-partner-key': key });
      expect(status).toBe(200);
    }
  },
  'Who changed our webhook address?': async (question) => {
    const origin = new URL(shell.mesh.base_url).origin;
    const api = `${origin}/dashboard/api`;
    const json = { 'content-type': 'application/json', origin };
    const session = await fetch(`${api}/session`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ partner_key: partner.partner_key }),
    });
    const { csrf_token } = (await session.json()) as { csrf_token: string };
    const cookie = String(session.headers.get('set-cookie')).split(';')[0] as string;
    const changed = await fetch(`${api}/settings`, {
      method: 'PATCH',
      headers: { ...json, cookie, 'x-csrf-token': csrf_token },
      body: JSON.stringify({ webhook_url: `${partner.receiver.url}/private/path` }),
    });
    expect(changed.status).toBe(200);
    const [log] = await ask(question);
    expect(log.records).toMatchObject([
      { actor: { type: 'console' }, action: 'console PATCH /settings', outcome: 'succeeded' },
    ]);
    expect(log.records[0].after.webhook_url).toContain(new URL(partner.receiver.url).host);
    expect(JSON.stringify(log.records)).not.toContain('private/path');
  },
  'A customer wants no more messages. How do I stop them?': async (question) => {
    await writesIn();
    await arrival('message.received');
    try {
      const [blocked] = await ask(question);
      expect(blocked).toMatchObject({ blocked: [{ wa_id: CUSTOMER }], failed: [] });
      await send();
      expect((await arrival('message.failed')).data.errors[0].code).toBe(131_026);
      expect((await writesIn()).reason).toBe('blocked');
    } finally {
      await partner.call('DELETE', '/blocked', { users: [CUSTOMER] }, OF_NUMBER);
    }
  },
};

test('every question of the page has a test', () => {
  expect([...SECTIONS.keys()]).toEqual(Object.keys(TESTS));
});

test.each(Object.entries(TESTS))('%s', (question, run) => run(question));
