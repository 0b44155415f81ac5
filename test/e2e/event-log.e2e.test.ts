// The event log as a partner reads it: every event at its position, with its envelope, its delivery
// and every attempt; for partners with and without a webhook URL.
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/shared-mesh';
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh);
const stranger = usePartner(mesh, []);

afterEach(() => partner.receiver.behave(undefined));

const inbound = (text: string): Promise<unknown> =>
  mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, from: '15550100777', text });
const setUrl = ({ partner_id }: { partner_id: string }, webhook_url: string) =>
  mesh.operator.updatePartner({ partner_id, webhook_url }, mesh.call());
const list = async (query = '', of = partner) => (await of.call('GET', `/events?${query}`)).body;
const posted = (text: string) =>
  partner.receiver.of('message.received').filter(({ body }) => body.data['text'] === text);

/** Waits for the event of the text, reading on from `after`. */
async function eventOf(text: string, after: number, of = partner): Promise<any> {
  return eventually(async () => {
    const { events } = await list(`after=${after}&wait=5&event=message.received`, of);
    return events.find((one: any) => one.envelope.data.text === text);
  });
}

test('has each event as it is posted, with its delivery and its attempt, for its partner only', async () => {
  const { newest } = await list();
  const { url } = partner.receiver;
  await setUrl(partner, `${url}?token=a-secret-token`);
  partner.receiver.behave((_arrival, response) => void response.end('long '.repeat(1_000)));
  await inbound('first of the log');
  const event = await eventOf('first of the log', newest);
  const [arrival] = await eventually(() => {
    const found = posted('first of the log');
    return found.length > 0 && found;
  });
  expect(event.envelope).toEqual(arrival?.body);
  expect(event.event_id).toBe(arrival?.headers['webhook-id']);
  const { body } = await eventually(async () => {
    const answer = await partner.call('GET', `/events/${event.event_id}`);
    // The attempt is recorded separately, a moment later.
    const { delivery, attempts } = answer.body;
    return delivery.status === 'delivered' && attempts.length > 0 && answer;
  });
  await setUrl(partner, url);
  expect(body).toMatchObject({
    seq: event.seq,
    delivery: { status: 'delivered', attempts: 1, last_http_status: 200 },
    attempts: [
      {
        ...{ number: 1, http_status: 200, error: null },
        url: `${url}?***`,
        secret: createHash('sha256').update(partner.webhook_secret).digest('hex').slice(0, 8),
        answer: 'long '.repeat(1_000).slice(0, 1_024),
      },
    ],
  });
  expect(await list('', stranger)).toMatchObject({ events: [], oldest: 1, newest: 0, next: 0 });
  const foreign = await stranger.call('GET', `/events/${event.event_id}`);
  expect(foreign.body.error.code).toBe('NOT_FOUND');
  const stolen = await stranger.call('POST', '/events/replay', { event_ids: [event.event_id] });
  expect(stolen.body.error.details).toMatchObject({ field: 'event_ids[0]' });
});

test('has the events of a partner without a webhook URL', async () => {
  const silent = await mesh.createPartner();
  await setUrl(silent, '');
  await silent.register(ONE);
  await inbound('polled');
  const { event_id } = await eventOf('polled', 0, silent);
  await eventually(async () => {
    const { body } = await silent.call('GET', `/events/${event_id}`);
    return body.delivery.status === 'dropped';
  });
  expect(silent.receiver.arrivals).toEqual([]);
  // The next test replays the events that are logged from its start on.
  await eventOf('polled', 0);
});

test('replays events with their own ids, by period and by id, and delivers live events meanwhile', async () => {
  const { newest } = await list();
  const from = new Date().toISOString();
  const texts = Array.from({ length: 12 }, (_one, index) => `again ${index}`);
  await Promise.all(texts.map(inbound));
  const logged = await eventually(async () => {
    const { events } = await list(`after=${newest}&event=message.received`);
    return events.length === texts.length && events;
  });
  const ids: string[] = logged.map(({ event_id }: any) => event_id);
  await eventually(() => texts.every((text) => posted(text).length === 1));

  const before = partner.receiver.arrivals.length;
  const held: ServerResponse[] = [];
  let is_open = false;
  partner.receiver.behave(({ body }, response) => {
    if (is_open || !texts.includes(body.data['text'] as string)) response.end('ok');
    else held.push(response);
  });
  const { body } = await partner.call('POST', '/events/replay', {
    from,
    event: 'message.received',
  });
  const show = async (of = partner) =>
    (await of.call('GET', `/events/replays/${body.replay_id}`)).body;
  await eventually(() => held.length > 0);
  await inbound('live');
  await eventually(() => posted('live').length > 0);
  const running = await show();
  expect(running).toMatchObject({ status: 'running', delivered: 0 });
  expect((await show(stranger)).error.code).toBe('NOT_FOUND');
  // Few at a time, although the receiver would get more of live events.
  expect(held.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(4);
  is_open = true;
  for (const response of held) response.end('ok');
  const ended = await eventually(async () => {
    const replay = await show();
    return replay.status !== 'running' && replay;
  });
  const delivered = texts.length;
  expect(ended).toMatchObject({ status: 'completed', delivered, position: running.last });
  const again = partner.receiver.arrivals.slice(before).map(({ headers }) => headers['webhook-id']);
  expect(again.filter((id) => ids.includes(String(id)))).toEqual(ids);

  await partner.call('POST', '/events/replay', { event_ids: [ids[0]] });
  await eventually(async () => {
    const answer = await partner.call('GET', `/events/${ids[0]}`);
    return answer.body.attempts.length === 3;
  });
});
