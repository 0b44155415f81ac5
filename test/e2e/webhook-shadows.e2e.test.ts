// Shadow receivers on the wire: copies of live events and of the last day's, the comparison,
// and that nothing about the first receiver changes, whatever the shadow does.
import { eventually } from '../testkit/eventually';
import { ONE, type TestPartner } from '../harness/shared-mesh';
import {
  chosenSecret,
  isSigned,
  isStandardSigned,
  type Arrival,
  type PartnerReceiver,
} from '../testkit/partner';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { createReceivers } from './receivers';
import { storedTexts } from './stored';
import { useMesh } from './use-mesh';

/** More than wait for a shadow that hangs. */
const CROWD = 130;
/**
 * What the first receiver may take for an event beside a shadow that hangs: less than the shadow's
 * timeout.
 */
const DELAY_MAX_MS = 5_000;
const HANG_MS = 11_000;

const mesh = useMesh();
let count = 0;
const receivers = createReceivers();

afterAll(() => receivers.close());

async function newPartner(): Promise<TestPartner> {
  const partner = await mesh.createPartner();
  await partner.register(ONE);
  return partner;
}

interface Shadow {
  shadow_id: string;
  secret: string;
  receiver: PartnerReceiver;
}

async function startShadow(partner: TestPartner, settings: object = {}): Promise<Shadow> {
  const receiver = await receivers.add();
  const { status, body } = await partner.call('POST', '/webhook-shadows', {
    url: `${receiver.url}?token=of-the-url`,
    ...settings,
  });
  expect([status, body.error]).toEqual([201, undefined]);
  // The events of the last day may follow it at once.
  expect(receiver.arrivals.shift()?.body.event).toBe('webhook.test');
  return { shadow_id: body.shadow.shadow_id, secret: body.secret, receiver };
}

const shown = async (partner: TestPartner, { shadow_id }: Pick<Shadow, 'shadow_id'>) =>
  (await partner.call('GET', `/webhook-shadows/${shadow_id}`)).body.shadow;
const nextId = (): string => `wamid.S${(count += 1)}`;
const idOf = ({ body }: Arrival): string => String(body.data['message_id']);
const messagesAt = (receiver: PartnerReceiver): string[] =>
  receiver.of('message.received').map(idOf);
const has = (receiver: PartnerReceiver, ...ids: string[]): Promise<unknown> =>
  eventually(() => ids.every((id) => messagesAt(receiver).includes(id)));
async function inbound(id: string, from = '15550100811'): Promise<void> {
  expect(await postRaw(mesh.ingress_url, inboundBody(ONE, { from, id }))).toBe(200);
}
/** The comparison once so many events are in it. */
const comparisonOf = (partner: TestPartner, shadow: Shadow, events: number) =>
  eventually(async () => {
    const { comparison } = await shown(partner, shadow);
    return comparison.compared + comparison.dropped >= events && comparison;
  });

test('a shadow of another partner is unknown', async () => {
  const [partner, other] = [await newPartner(), await newPartner()];
  const shadow = await startShadow(other);
  const path = `/webhook-shadows/${shadow.shadow_id}`;
  for (const [method, rest] of [
    ['GET', ''],
    ['POST', '/stop'],
  ] as const) {
    const refused = await partner.call(method, path + rest);
    expect([refused.status, refused.body.error.code]).toEqual([404, 'NOT_FOUND']);
  }
  expect((await shown(other, shadow)).status).toBe('running');
});

test('a shadow gets each live event once, signed with its own secret, and is compared', async () => {
  const partner = await newPartner();
  const shadow = await startShadow(partner, { headers: { 'X-Token': 'of-the-header' } });
  shadow.receiver.behave(
    ({ body }, response) => void response.writeHead(body.data['text'] === 'No' ? 500 : 204).end(),
  );
  const [good, bad] = [nextId(), nextId()];
  await inbound(good);
  const refused = inboundBody(ONE, { from: '15550100812', id: bad, text: 'No' });
  expect(await postRaw(mesh.ingress_url, refused)).toBe(200);
  for (const receiver of [partner.receiver, shadow.receiver]) await has(receiver, good, bad);
  const [arrival] = shadow.receiver.arrivals.filter((one) => idOf(one) === good) as [Arrival];
  const [own] = partner.receiver.arrivals.filter((one) => idOf(one) === good) as [Arrival];
  expect([isSigned(arrival, shadow.secret), isStandardSigned(arrival, shadow.secret)]).toEqual([
    true,
    true,
  ]);
  expect(isSigned(arrival, partner.webhook_secret)).toBe(false);
  expect([arrival.raw, arrival.headers['webhook-id']]).toEqual([
    own.raw,
    own.headers['webhook-id'],
  ]);
  expect(arrival.headers['x-token']).toBe('of-the-header');
  const event_id = partner.receiver.arrivals.find((one) => idOf(one) === bad)?.headers[
    'webhook-id'
  ];
  const { differences, answers, ...counts } = await eventually(async () => {
    const { comparison } = await shown(partner, shadow);
    return comparison.different >= 1 && comparison.compared >= 2 && comparison;
  });
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
  const shadow = await startShadow(partner, { max_per_second: 100 });
  shadow.receiver.behave(
    (_arrival, response) => void setTimeout(() => response.end(), HANG_MS).unref(),
  );
  const ids = Array.from({ length: CROWD }, nextId);
  const sent = new Map<string, number>();
  for (const [index, id] of ids.entries()) {
    sent.set(id, Date.now());
    await inbound(id, `155501${String(20_000 + index)}`);
  }
  await has(partner.receiver, ...ids);
  const delays = partner.receiver
    .of('message.received')
    .map((one) => one.at - (sent.get(idOf(one)) ?? one.at));
  expect(Math.max(...delays)).toBeLessThan(DELAY_MAX_MS);
  const dropped = await eventually(async () => {
    const { comparison } = await shown(partner, shadow);
    return comparison.dropped > 0 && comparison.dropped;
  });
  expect(dropped).toBeLessThan(CROWD);
  await eventually(async () => {
    const { answers } = (await shown(partner, shadow)).comparison;
    return (answers as Array<{ shadow: string }>).some((one) => one.shadow === 'timeout');
  });
  expect((await partner.call('GET', '/webhooks/failed')).body.events).toEqual([]);
});

test('the shadow of an endpoint gets its events in its format, and only these', async () => {
  const partner = await newPartner();
  const first = await receivers.add();
  const { body } = await partner.call('POST', '/webhook-endpoints', {
    url: first.url,
    secret: chosenSecret(),
    events: ['message.received'],
    format: 'cloudevents-binary',
  });
  const { endpoint_id } = body.endpoint;
  const shadow = await startShadow(partner, { endpoint_id });
  first.behave((_arrival, response) => void response.writeHead(503).end());
  const id = nextId();
  await inbound(id);
  await has(shadow.receiver, id);
  expect(shadow.receiver.arrivals[0]?.headers['ce-type']).toBe('message.received');
  // The first receiver fails and is tried again: the shadow gets nothing more.
  await eventually(() => first.of('message.received').length >= 2);
  expect(messagesAt(shadow.receiver)).toEqual([id]);
  expect(await comparisonOf(partner, shadow, 1)).toMatchObject({
    compared: 1,
    different: 1,
    answers: [{ first: '5xx', shadow: '2xx', events: 1 }],
  });
  expect(shadow.receiver.arrivals.map((one) => one.body.event)).toEqual(['message.received']);
});

test('a shadow gets the events of the last day once, in their order, and ends by itself', async () => {
  const partner = await newPartner();
  const ids = Array.from({ length: 12 }, nextId);
  for (const id of ids) await inbound(id);
  await has(partner.receiver, ...ids);
  const all = await eventually(async () => {
    const { events } = (await partner.call('GET', '/events?limit=1000')).body;
    const list = events as Array<{ event: string; delivery: { status: string } }>;
    const is_logged = list.filter(({ event }) => event === 'message.received').length;
    const is_done = list.every(({ delivery }) => delivery.status === 'delivered');
    return is_logged === ids.length && is_done && list.length;
  });
  const before = partner.receiver.arrivals.length;
  const shadow = await startShadow(partner, { source: 'last_day', max_per_second: 50 });
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
