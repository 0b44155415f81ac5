// The message log as a partner reads it: the list of its sends, and the timeline of one message
// on both sides. A partner sees only its own messages.
import { eventually } from '../testkit/eventually';
import { joinMesh, ONE, TWO_A, TWO_B, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { bodyOf, postRaw, statusChange } from '../testkit/upstream-webhooks';
import { createBroadcast, people, scopeOf, untilCompleted } from './broadcast-support';

let mesh: Mesh;
let partner: TestPartner;
/** Owns the same number, and has sent nothing. */
let stranger: TestPartner;

beforeAll(async () => {
  mesh = await joinMesh();
  partner = await mesh.createPartner();
  stranger = await mesh.createPartner();
  for (const number of [ONE, TWO_A]) await partner.register(number);
  await stranger.register(ONE);
});
afterAll(() => mesh.stop());

const send = async (body: object, headers: Record<string, string> = {}) => {
  const own = { 'x-waba-id': ONE.waba_id, ...headers };
  const answer = await partner.call('POST', '/messages/send', body, own);
  expect(answer.status).toBe(200);
  return answer.body;
};
const timeline = async (id: string, query = '', of = partner) =>
  of.call('GET', `/messages/${encodeURIComponent(id)}/timeline?${query}`);
const list = async (query: string, of = partner) =>
  (await of.call('GET', `/messages?${query}`)).body;

/**
 * Waits until the timeline has everything: events, attempts and statuses are recorded on their own.
 */
const complete = (id: string, { events = 3, statuses = 3, query = '' } = {}): Promise<any> =>
  eventually(async () => {
    const { body } = await timeline(id, query);
    const count = (type: string): number =>
      (body.entries ?? []).filter((one: any) => one.type === type).length;
    if (count('event') !== events || count('status') !== statuses) return false;
    return count('attempt') >= events && body;
  });

test('shows a send from its request to the delivery of its last event', async () => {
  const sent = await send(
    { to: '15550100777', text: 'A secret text' },
    { 'idempotency-key': 'order-4711', 'x-request-id': 'my-request-1' },
  );
  const { message_id, timeline_url } = sent;
  expect(timeline_url).toBe(`${mesh.base_url}/messages/${encodeURIComponent(message_id)}/timeline`);
  const body = await complete(message_id);
  expect(body.message).toMatchObject({
    message_id,
    direction: 'outbound',
    kind: 'text',
    contact: '15550100777',
    status: 'read',
    waba_id: ONE.waba_id,
    pricing: { category: expect.any(String), billable: expect.any(Boolean) },
    broadcast: false,
  });
  expect(body).toMatchObject({ broadcast: null, missing: [] });
  const [accepted, upstream] = body.entries;
  expect(accepted).toMatchObject({
    type: 'accepted',
    request_id: 'my-request-1',
    idempotency_key: 'order-4711',
  });
  expect(upstream).toMatchObject({ type: 'upstream', http_status: 200 });
  const of = (type: string) => body.entries.filter((one: any) => one.type === type);
  expect(of('status').map((one: any) => one.status)).toEqual(['sent', 'delivered', 'read']);
  for (const one of of('status')) {
    expect(one).toMatchObject({ superseded: false, source: 'webhook' });
    expect(Date.parse(one.received_at)).toBeGreaterThan(0);
  }
  const positions = of('event').map(({ seq }: any) => seq);
  expect(positions).toEqual([...positions].sort((one, other) => one - other));
  for (const one of of('attempt')) expect(one).toMatchObject({ number: 1, http_status: 200 });
  for (const one of body.entries) expect(one.trace_id).toMatch(/^[0-9a-f]{32}$/);
  const { events } = (await partner.call('GET', `/events?after=${positions[0] - 1}&limit=1`)).body;
  expect(of('event')[0]).toMatchObject({ event_id: events[0].event_id, event: 'message.sent' });
  expect(JSON.stringify(body)).not.toContain('A secret text');
});

test('shows the statuses of each participant of a group, with their events', async () => {
  const { message_id } = await send({ to: '15550100780', text: 'To a group' });
  await complete(message_id);
  const told = ['15550100791', '15550100792'].flatMap((participant) =>
    ['delivered', 'read'].map((status) => ({ participant, status })),
  );
  const value = {
    messaging_product: 'whatsapp',
    metadata: { phone_number_id: ONE.phone_number_id },
    statuses: told.map(({ participant, status }) => ({
      id: message_id,
      status,
      timestamp: String(Math.floor(Date.now() / 1_000)),
      recipient_type: 'group',
      recipient_id: 'Y2FwaV9ncm91cDpJTlZFTlRFRA==',
      recipient_participant_id: participant,
    })),
  };
  const entry = [{ id: ONE.waba_id, changes: [{ field: 'messages', value }] }];
  await mesh.emulator.postWebhook({ body: { object: 'whatsapp_business_account', entry } });
  const body = await complete(message_id, {
    events: 3 + told.length,
    statuses: 3 + told.length,
  });
  for (const { participant, status } of told) {
    for (const entry of [
      { type: 'status', status },
      { type: 'event', event: `message.${status}` },
    ]) {
      expect(body.entries).toContainEqual(expect.objectContaining({ ...entry, participant }));
    }
  }
});

test('shows a message that was received, whether or not the partner names its number', async () => {
  const { phone_number_id } = ONE;
  const text = 'Hello from a customer';
  const { message_id } = await mesh.emulator.inbound({
    phone_number_id,
    from: '15550100778',
    text,
  });
  const query = `phone_number_id=${phone_number_id}`;
  const body = await complete(message_id, { events: 1, statuses: 0, query });
  expect(body.message).toMatchObject({
    direction: 'inbound',
    kind: 'text',
    contact: '15550100778',
    status: null,
  });
  expect(body.entries.map(({ type }: any) => type)).toEqual(['event', 'attempt']);
  for (const one of body.entries) expect(one.trace_id).toMatch(/^[0-9a-f]{32}$/);
  expect(JSON.stringify(body)).not.toContain(text);
  expect((await timeline(message_id)).body).toEqual(body);
  const account = (waba_id: string) =>
    partner.call('GET', `/messages/${encodeURIComponent(message_id)}/timeline`, undefined, {
      'x-waba-id': waba_id,
    });
  expect((await account(ONE.waba_id)).body).toEqual(body);
  const wrong = `phone_number_id=${TWO_A.phone_number_id}`;
  for (const answer of [await timeline(message_id, wrong), await account(TWO_A.waba_id)]) {
    expect([answer.status, answer.body.error.code]).toEqual([404, 'NOT_FOUND']);
  }
});

test('names the broadcast of a message and the state of its contact', async () => {
  const template_name = 'timeline_news';
  await mesh.emulator.template({ waba_id: TWO_A.waba_id, name: template_name });
  const broadcast = {
    name: 'News',
    template_name,
    template_language: 'en_US',
    contacts: ['15550100779'],
  };
  const headers = { 'x-waba-id': TWO_A.waba_id, 'x-phone-number-id': TWO_A.phone_number_id };
  const created = await partner.call('POST', '/broadcasts', broadcast, headers);
  expect(created.status).toBe(201);
  const [message] = await eventually(async () => {
    const { messages } = await list('recipient=15550100779&status=read');
    return messages.length === 1 && messages;
  });
  expect(message).toMatchObject({ kind: 'template', broadcast: true });
  await eventually(async () => {
    const { body } = await timeline(message.message_id);
    const { broadcast_id } = created.body;
    const told = { broadcast_id, name: 'News', contact_state: 'delivered' };
    return JSON.stringify(body.broadcast) === JSON.stringify(told);
  });
});

test('lists sends by recipient, state, kind, number and time, page by page', async () => {
  const from = new Date().toISOString();
  const ids: string[] = [];
  for (const to of ['15550100781', '15550100782', '15550100781']) {
    ids.push((await send({ to, text: 'Listed' })).message_id);
  }
  const found = async (query: string) =>
    (await list(query)).messages.map(({ message_id }: any) => message_id);
  const newest = [...ids].reverse();
  expect(await found(`from=${from}`)).toEqual(newest);
  expect(await found('recipient=%2B1%20555%20010%200781')).toEqual([newest[0], newest[2]]);
  expect(await found(`from=${from}&kind=text&phone_number_id=${ONE.phone_number_id}`)).toEqual(
    newest,
  );
  expect(await found(`from=${from}&phone_number_id=${TWO_A.phone_number_id}`)).toEqual([]);
  expect(await found(`message_id=${encodeURIComponent(ids[1] as string)}`)).toEqual([ids[1]]);
  await eventually(async () => (await found(`from=${from}&status=read`)).length === 3);
  const first = await list(`from=${from}&limit=2`);
  const { after } = first.paging.cursors;
  const second = await list(`from=${from}&limit=2&cursor=${after}`);
  const paged = [...first.messages, ...second.messages].map(({ message_id }: any) => message_id);
  expect(paged).toEqual(newest);
  expect(second.paging.cursors.after).toBeNull();
});

test('lists and adds up the messages of one broadcast, for its own partner only', async () => {
  const [first, second] = [people(3, 700_000), people(2, 710_000)];
  const ids = await Promise.all(
    [first, second].map((contacts) => createBroadcast(partner, ONE, contacts)),
  );
  for (const id of ids) await untilCompleted(partner, id, 60_000);
  const [id] = ids as [number, number];
  const contacts = async (query: string) =>
    (await list(query)).messages.map(({ contact }: any) => contact).sort();
  expect(await contacts(`broadcast_id=${id}`)).toEqual(first);
  expect(await contacts(`broadcast_id=${ids[1]}`)).toEqual(second);
  const ledger = (query: string, of = partner) => of.call('GET', `/usage/ledger?${query}`);
  const charged = await eventually(async () => {
    const { body } = await ledger(`broadcast_id=${id}`);
    return body.totals.charged === 3 && body;
  });
  expect(charged.totals).toMatchObject({ messages: 3, by_category: [{ charged: 3 }] });
  expect(charged.entries.map(({ recipient }: any) => recipient).sort()).toEqual(first);
  const refused = [
    await partner.call('GET', '/messages?broadcast_id=999999'),
    await ledger('broadcast_id=999999'),
    await ledger(`broadcast_id=${id}`, stranger),
    await partner.call('GET', `/messages?broadcast_id=${id}`, undefined, scopeOf(TWO_A)),
  ];
  for (const { status, body } of refused) {
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  }
  const bad = await ledger('broadcast_id=x');
  expect(bad.body.error).toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'broadcast_id' },
  });
});

test('shows a partner nothing of another, also on a number that both own', async () => {
  const { message_id } = await send({ to: '15550100784', text: 'Mine' });
  await complete(message_id);
  const own = `phone_number_id=${ONE.phone_number_id}`;
  const outsider = await mesh.createPartner();
  await outsider.register(TWO_A);
  for (const query of ['', own]) {
    const blind = await timeline(message_id, query, outsider);
    expect([blind.status, blind.body.error.code]).toEqual([404, 'NOT_FOUND']);
  }
  for (const query of ['', 'recipient=15550100784', `message_id=${message_id}`, own]) {
    expect((await list(query, stranger)).messages).toEqual([]);
  }
  // Its status events are the stranger's too: it owns the number. The send and its record are not.
  for (const query of ['', own]) {
    const types = await eventually(async () => {
      const { entries = [] } = (await timeline(message_id, query, stranger)).body;
      const told = new Set<string>(entries.map(({ type }: any) => type));
      return told.has('event') && told;
    });
    for (const type of ['accepted', 'upstream', 'status']) expect(types.has(type)).toBe(false);
  }
  const foreign = await partner.call('GET', '/messages', undefined, { 'x-waba-id': '900999' });
  expect(foreign.body.messages).toEqual([]);
});

test('a status with the request id of another partner’s message changes nothing of it', async () => {
  const to = '15550100799';
  const scope = scopeOf(TWO_A);
  const { message_id } = (await partner.call('POST', '/messages/send', { to, text: 'Mine' }, scope))
    .body;
  await complete(message_id);
  const { phone_number_id } = TWO_A;
  const [sent] = await mesh.emulator.messages({ phone_number_id, to });
  const opaque = String(sent?.biz_opaque_callback_data);
  const request_id = opaque.replace(`bmg1:${partner.partner_id}:`, '');
  const today = new Date().toISOString().slice(0, 10);
  const read = async () => ({
    timeline: (await timeline(message_id)).body.entries.filter(
      ({ type }: any) => type !== 'attempt',
    ),
    messages: (await list(`limit=200&phone_number_id=${phone_number_id}`)).messages,
    ledger: (
      await partner.call('GET', `/usage/ledger?from=${today}&phone_number_id=${phone_number_id}`)
    ).body.entries,
    on_other: (await list(`limit=200&phone_number_id=${ONE.phone_number_id}`)).messages.length,
  });
  const before = await read();
  const pricing = { billable: true, category: 'marketing', pricing_model: 'PMP', type: 'regular' };
  const own = `bmg1:${stranger.partner_id}:msg_own_of_the_forger`;
  const forged = [`bmg1:${stranger.partner_id}:${request_id}`, opaque].flatMap((data) =>
    ['failed', 'read'].map((status, index) =>
      statusChange(ONE, `wamid.forged.${index}`, status, {
        biz_opaque_callback_data: data,
        pricing,
      }),
    ),
  );
  const last = statusChange(ONE, 'wamid.of.the.forger', 'read', { biz_opaque_callback_data: own });
  expect(await postRaw(mesh.ingress_url, bodyOf(ONE, [...forged, last]))).toBe(200);
  // Statuses of one number are applied in their order: with the last one, all of them are.
  await eventually(async () => {
    const { messages } = await list('limit=200', stranger);
    return messages.some((one: any) => one.message_id === 'wamid.of.the.forger');
  });
  expect(await read()).toEqual(before);
});

test('a status that arrives after the deletion of its client makes no record', async () => {
  const [former, next] = [await mesh.createPartner(), await mesh.createPartner()];
  await former.register(TWO_B);
  const post = async (of: TestPartner, message_id: string): Promise<void> => {
    const biz_opaque_callback_data = `bmg1:${of.partner_id}:msg_of_${message_id}`;
    const change = statusChange(TWO_B, message_id, 'delivered', { biz_opaque_callback_data });
    expect(await postRaw(mesh.ingress_url, bodyOf(TWO_B, [change]))).toBe(200);
  };
  const listed = async (of: TestPartner): Promise<string[]> =>
    (await list('', of)).messages.map((one: any) => one.message_id);
  await post(former, 'wamid.before');
  await eventually(async () => (await listed(former)).includes('wamid.before'));
  expect((await former.call('DELETE', `/clients/${TWO_B.waba_id}`)).status).toBe(200);
  await post(former, 'wamid.deleted');
  await next.register(TWO_B);
  // Statuses of one number are applied in their order.
  await post(next, 'wamid.next');
  await eventually(async () => (await listed(next)).includes('wamid.next'));
  expect([await listed(former), await listed(next)]).toEqual([['wamid.before'], ['wamid.next']]);
});
