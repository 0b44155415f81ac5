// Shadow receivers on the wire: copies of live events and of the last day's, the comparison,
// and that nothing about the first receiver changes, whatever the shadow does.
import { eventually } from '../testkit/eventually';
import { ONE, type TestPartner } from '../harness/shared-mesh';
import { isSigned, isStandardSigned } from '../testkit/partner';
import {
  arrivalOf,
  idOf,
  inboundTo,
  messagesAt,
  nextId,
  untilHas,
  untilLogged,
  useReceivers,
  type Shadow,
} from './receivers';
import { storedTexts } from './stored';
import { useMesh } from './use-mesh';

/** More than wait for a shadow that hangs. */
const CROWD = 130;
/**
 * What the first receiver may take for an event beside a shadow that hangs: less than the shadow's
 * timeout.
 */
const DELAY_MAX_MS = 5_000;

const mesh = useMesh();
const receivers = useReceivers();
const { addShadow } = receivers;
const inbound = inboundTo(mesh);

async function newPartner(): Promise<TestPartner> {
  const partner = await mesh.createPartner();
  await partner.register(ONE);
  return partner;
}

const shown = async (partner: TestPartner, { shadow_id }: Pick<Shadow, 'shadow_id'>) =>
  (await partner.call('GET', `/webhook-shadows/${shadow_id}`)).body.shadow;
/** The comparison once so many events are in it. */
const comparisonOf = (partner: TestPartner, shadow: Shadow, events: number) =>
  eventually(async () => {
    const { comparison } = await shown(partner, shadow);
    return comparison.compared >= events && comparison;
  });

test('a shadow gets each live event once, signed with its own secret, and is compared', async () => {
  const partner = await newPartner();
  const shadow = await addShadow(partner, { headers: { 'X-Token': 'of-the-header' } });
  shadow.receiver.behave(
    ({ body }, response) => void response.writeHead(body.data['text'] === 'No' ? 500 : 204).end(),
  );
  const [good, bad] = (await inbound({}, { from: '15550100812', text: 'No' })) as [string, string];
  for (const receiver of [partner.receiver, shadow.receiver]) await untilHas(receiver, [good, bad]);
  const arrival = await arrivalOf(shadow.receiver, good);
  const own = await arrivalOf(partner.receiver, good);
  expect(isSigned(arrival, shadow.secret)).toBe(true);
  expect(isStandardSigned(arrival, shadow.secret)).toBe(true);
  expect(isSigned(arrival, partner.webhook_secret)).toBe(false);
  expect([arrival.raw, arrival.headers['webhook-id']]).toEqual([
    own.raw,
    own.headers['webhook-id'],
  ]);
  expect(arrival.headers['x-token']).toBe('of-the-header');
  const event_id = (await arrivalOf(partner.receiver, bad)).headers['webhook-id'];
  const { differences, answers, ...counts } = await comparisonOf(partner, shadow, 2);
  expect(counts).toMatchObject({
    different: 1,
    dropped: 0,
    shadow: { p50_ms: expect.any(Number) },
  });
  expect(answers).toContainEqual({ first: '2xx', shadow: '5xx', events: 1 });
  expect(differences).toMatchObject([
    { event_id, first: { http_status: 200 }, shadow: { http_status: 500, error: 'HTTP 500' } },
  ]);
  expect(messagesAt(shadow.receiver).sort()).toEqual([good, bad].sort());

  const stranger = await mesh.createPartner();
  const path = `/webhook-shadows/${shadow.shadow_id}`;
  for (const refused of [
    await stranger.call('GET', path),
    await stranger.call('POST', `${path}/stop`),
  ]) {
    expect([refused.status, refused.body.error.code]).toEqual([404, 'NOT_FOUND']);
  }
  expect((await shown(partner, shadow)).status).toBe('running');

  // Nothing of it is in the failed list, in the log or in an answer.
  expect((await partner.call('GET', '/webhooks/failed')).body.events).toEqual([]);
  const logged = await eventually(async () => {
    const { status, body } = await partner.call('GET', `/events/${String(event_id)}`);
    return status === 200 && body.delivery.status === 'delivered' && body;
  });
  expect(logged.attempts).toHaveLength(1);
  const list = (await partner.call('GET', '/webhook-shadows')).body;
  const audit = (await partner.call('GET', '/audit')).body;
  expect(audit.records[0]).toMatchObject({
    action: 'POST /webhook-shadows',
    target: { shadow_id: shadow.shadow_id },
    after: { source: 'live', hours: 24, max_per_second: 20 },
  });
  for (const text of [
    JSON.stringify([list, audit, await shown(partner, shadow)]),
    ...(await storedTexts(mesh)),
  ]) {
    expect(text).not.toContain('of-the-header');
    expect(text).not.toContain(shadow.secret.slice('whsec_'.length));
  }
  expect(JSON.stringify([list, audit])).not.toContain('of-the-url');
});

test('a shadow that hangs delays nothing, and what it cannot take is dropped and counted', async () => {
  const partner = await newPartner();
  const shadow = await addShadow(partner, { max_per_second: 100 });
  shadow.receiver.behave(() => undefined);
  const sent = new Map<string, number>();
  for (let at = 0; at < CROWD; at += 1) {
    const id = nextId();
    sent.set(id, Date.now());
    await inbound({ id, from: String(15_550_120_000 + at) });
  }
  await untilHas(partner.receiver, [...sent.keys()]);
  const delays = partner.receiver
    .of('message.received')
    .map((one) => one.at - (sent.get(idOf(one)) ?? one.at));
  expect(Math.max(...delays)).toBeLessThan(DELAY_MAX_MS);
  const dropped = await eventually(async () => {
    const { comparison } = await shown(partner, shadow);
    return comparison.dropped > 0 && comparison.dropped;
  });
  expect(dropped).toBeLessThan(CROWD);
  expect((await partner.call('GET', '/webhooks/failed')).body.events).toEqual([]);
});

test('the shadow of an endpoint gets its events in its format, and only these', async () => {
  const partner = await newPartner();
  const { endpoint_id, receiver: first } = await receivers.addEndpoint(partner, {
    ...{ events: ['message.received'], format: 'cloudevents-binary' },
  });
  const shadow = await addShadow(partner, { endpoint_id });
  first.behave((_arrival, response) => void response.writeHead(503).end());
  const ids = await inbound({});
  await untilHas(shadow.receiver, ids);
  expect(shadow.receiver.arrivals[0]?.headers['ce-type']).toBe('message.received');
  // The first receiver fails and is tried again: the shadow gets nothing more.
  await eventually(() => first.of('message.received').length >= 2);
  expect(await comparisonOf(partner, shadow, 1)).toMatchObject({
    compared: 1,
    different: 1,
    answers: [{ first: '5xx', shadow: '2xx', events: 1 }],
  });
  expect(shadow.receiver.arrivals.map(idOf)).toEqual(ids);
});

test('a shadow gets the events of the last day once, in their order, and ends by itself', async () => {
  const partner = await newPartner();
  const ids = await inbound(...Array<object>(12).fill({}));
  const all = await untilLogged(partner, ids.length);
  const before = partner.receiver.arrivals.length;
  const shadow = await addShadow(partner, { source: 'last_day', max_per_second: 50 });
  const statuses = new Set<string>();
  const ended = await eventually(async () => {
    const found = await shown(partner, shadow);
    statuses.add(found.status as string);
    return found.ended_at !== null && found;
  });
  // Between the two writes of its end it does not look like one that the partner stopped.
  expect(statuses).not.toContain('stopped');
  expect(ended).toMatchObject({
    status: 'completed',
    comparison: { dropped: 0, answers: [{ first: '2xx', shadow: '2xx', events: all }] },
  });
  expect(messagesAt(shadow.receiver)).toEqual(ids);
  expect(partner.receiver.arrivals).toHaveLength(before);
});
