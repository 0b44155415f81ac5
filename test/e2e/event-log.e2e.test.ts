// The event log as a partner reads it: every event at its position, with its envelope, its delivery
// and every attempt; for partners with and without a webhook URL.
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { eventually } from '../testkit/eventually';
import { ONE, TWO_A } from '../harness/shared-mesh';
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh, [ONE, TWO_A]);
const stranger = usePartner(mesh, []);

afterEach(() => partner.receiver.behave(undefined));

const inbound = (text: string, { phone_number_id } = ONE): Promise<unknown> =>
  mesh.emulator.inbound({ phone_number_id, from: '15550100777', text });

const list = async (query = '', headers: Record<string, string> = {}, of = partner) =>
  (await of.call('GET', `/events?${query}`, undefined, headers)).body;

/** Waits for the event of the text, reading on from `after`. */
async function eventOf(text: string, after: number): Promise<any> {
  return eventually(async () => {
    const { events } = await list(`after=${after}&wait=5&event=message.received`);
    return events.find((one: any) => one.envelope.data.text === text);
  });
}

test('has each event as it is posted, with its delivery and its attempt', async () => {
  const { newest } = await list();
  await inbound('first of the log');
  const event = await eventOf('first of the log', newest);
  const posted = await eventually(() =>
    partner.receiver
      .of('message.received')
      .find(({ body }) => body.data.text === 'first of the log'),
  );
  expect(event.envelope).toEqual(posted.body);
  expect(event.event_id).toBe(posted.headers['webhook-id']);
  const { body } = await eventually(async () => {
    const answer = await partner.call('GET', `/events/${event.event_id}`);
    // The attempt is recorded separately, a moment later.
    const { delivery, attempts } = answer.body;
    return delivery.status === 'delivered' && attempts.length > 0 && answer;
  });
  expect(body).toMatchObject({
    seq: event.seq,
    delivery: { status: 'delivered', attempts: 1, last_http_status: 200 },
    attempts: [{ number: 1, http_status: 200, error: null, url: partner.receiver.url }],
  });
  expect(body.attempts[0].secret).toMatch(/^[0-9a-f]{8}$/);
});

test('narrows down to one account, and shows a partner nothing of another', async () => {
  const { newest } = await list();
  await inbound('to the first');
  await inbound('to the second', TWO_A);
  const { event_id } = await eventOf('to the second', newest);
  await eventOf('to the first', newest);
  // The sync of an account's contacts and history may come as late as this.
  const query = `after=${newest}&event=message.received`;
  const own = await list(query, { 'x-waba-id': TWO_A.waba_id });
  expect(own.events.map((one: any) => one.envelope.waba_id)).toEqual([TWO_A.waba_id]);
  expect(await list('', {}, stranger)).toMatchObject({ events: [], oldest: 1, newest: 0, next: 0 });
  expect((await stranger.call('GET', `/events/${event_id}`)).body.error.code).toBe('NOT_FOUND');
  const foreign = { 'x-waba-id': ONE.waba_id };
  expect(await list('', foreign, stranger)).toMatchObject({ events: [] });
});

test('shows an attempt’s address without the query, the secret that signed, and 1 KiB of the answer', async () => {
  const { newest } = await list();
  const { url } = partner.receiver;
  const { partner_id } = partner;
  const address = (webhook_url: string) =>
    mesh.operator.updatePartner({ partner_id, webhook_url }, mesh.call());
  await address(`${url}?token=a-secret-token`);
  partner.receiver.behave((_arrival, response) => void response.end('long '.repeat(1_000)));
  await inbound('to a masked address');
  const { event_id } = await eventOf('to a masked address', newest);
  const [attempt] = await eventually(async () => {
    const { body } = await partner.call('GET', `/events/${event_id}`);
    return body.attempts.length > 0 && body.attempts;
  });
  await address(url);
  expect(attempt).toMatchObject({
    url: `${url}?***`,
    http_status: 200,
    secret: createHash('sha256').update(partner.webhook_secret).digest('hex').slice(0, 8),
    answer: 'long '.repeat(1_000).slice(0, 1_024),
  });
});

test('has the events of a partner without a webhook URL', async () => {
  const silent = await mesh.createPartner();
  const { partner_id } = silent;
  await mesh.operator.updatePartner({ partner_id, webhook_url: '' }, mesh.call());
  await silent.register(ONE);
  const { newest } = await list();
  await inbound('polled');
  const event = await eventually(async () => {
    const { events } = await list('wait=5&event=message.received', {}, silent);
    return events[0];
  });
  expect(event).toMatchObject({ envelope: { data: { text: 'polled' } } });
  await eventually(async () => {
    const { body } = await silent.call('GET', `/events/${event.event_id}`);
    return body.delivery.status === 'dropped';
  });
  expect(silent.receiver.arrivals).toEqual([]);
  // The next test replays the events that are logged from its start on.
  await eventOf('polled', newest);
});

const ended = (replay_id: string): Promise<any> =>
  eventually(async () => {
    const { body } = await partner.call('GET', `/events/replays/${replay_id}`);
    return body.status !== 'running' && body;
  });

test('replays events with their own ids and in their order, by period and by id', async () => {
  const { newest } = await list();
  const from = new Date().toISOString();
  for (const text of ['one', 'two', 'three']) await inbound(text);
  const { event_id } = await eventOf('three', newest);
  const filter = { event: 'message.received' };
  const posted = () =>
    partner.receiver.of('message.received').map(({ body }) => body.data.text as string);
  await eventually(() => posted().includes('three'));
  const before = partner.receiver.of('message.received').length;
  const { body } = await partner.call('POST', '/events/replay', { from, ...filter });
  expect(await ended(body.replay_id)).toMatchObject({ status: 'completed', delivered: 3 });
  const again = partner.receiver.of('message.received').slice(before);
  expect(again.map(({ body }) => body.data.text)).toEqual(['one', 'two', 'three']);
  expect(again.at(-1)?.headers['webhook-id']).toBe(event_id);
  const single = await partner.call('POST', '/events/replay', { event_ids: [event_id] });
  expect(await ended(single.body.replay_id)).toMatchObject({ status: 'completed', delivered: 1 });
  await eventually(async () => {
    const answer = await partner.call('GET', `/events/${event_id}`);
    return answer.body.attempts.length === 3;
  });
  const foreign = await stranger.call('GET', `/events/replays/${body.replay_id}`);
  expect(foreign.body.error.code).toBe('NOT_FOUND');
  const stolen = await stranger.call('POST', '/events/replay', { event_ids: [event_id] });
  expect(stolen.body.error.details).toMatchObject({ field: 'event_ids[0]' });
});

test('delivers live events while a receiver keeps a replay waiting, and shows its progress', async () => {
  const { newest } = await list();
  const from = new Date().toISOString();
  const texts = Array.from({ length: 12 }, (_one, index) => `again ${index}`);
  await Promise.all(texts.map((text) => inbound(text)));
  const known = (): Set<string> =>
    new Set(partner.receiver.of('message.received').map(({ body }) => body.data.text as string));
  await eventually(() => texts.every((text) => known().has(text)));
  await eventually(async () => {
    const { events } = await list(`after=${newest}&event=message.received`);
    return events.length === texts.length;
  });

  const held: ServerResponse[] = [];
  let is_open = false;
  partner.receiver.behave(({ body }, response) => {
    if (is_open || !texts.includes(body.data.text as string)) response.end('ok');
    else held.push(response);
  });
  const filter = { event: 'message.received' };
  const { body } = await partner.call('POST', '/events/replay', { from, ...filter });
  await eventually(() => held.length > 0);
  await inbound('live');
  await eventually(() => known().has('live'));
  // The next test reads on from the newest position.
  await eventOf('live', newest);
  const running = await partner.call('GET', `/events/replays/${body.replay_id}`);
  expect(running.body).toMatchObject({ status: 'running', delivered: 0 });
  // Few at a time, although the receiver would get more of live events.
  expect(held.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(4);
  is_open = true;
  for (const response of held) response.end('ok');
  expect(await ended(body.replay_id)).toMatchObject({
    status: 'completed',
    delivered: texts.length,
    position: running.body.last,
  });
});
