// Webhook endpoints beside the webhook URL, on the wire: the first test, filters, signatures,
// formats, pauses, retries, replays, and isolation of a hung endpoint.
import { HTTP, type CloudEvent } from 'cloudevents';
import { eventually } from '../testkit/eventually';
import { ONE, TWO_A, type Answer, type TestPartner } from '../harness/shared-mesh';
import { chosenSecret, isSigned, isStandardSigned, type PartnerReceiver } from '../testkit/partner';
import {
  arrivalOf,
  idOf,
  inboundTo,
  messagesAt,
  nextId,
  untilHas,
  useReceivers,
  type Endpoint,
} from './receivers';
import { useMesh } from './use-mesh';

/** The time that a receiver has for its answer. */
const HANG_LIMIT_MS = 10_000;
const ENDPOINTS_MAX = 10;

const mesh = useMesh();
const receivers = useReceivers();
const { addEndpoint } = receivers;
const inbound = inboundTo(mesh);

async function newPartner(): Promise<TestPartner> {
  const partner = await mesh.createPartner();
  for (const number of [ONE, TWO_A]) await partner.register(number);
  return partner;
}

const pathOf = ({ endpoint_id }: Pick<Endpoint, 'endpoint_id'>): string =>
  `/webhook-endpoints/${endpoint_id}`;
const shown = async (partner: TestPartner, endpoint: Pick<Endpoint, 'endpoint_id'>) =>
  (await partner.call('GET', pathOf(endpoint))).body.endpoint;
const codeOf = ({ status, body }: Answer) => [status, body.error?.code];

test('an endpoint without a secret of its partner is tested after the answer, and gets events from then on', async () => {
  const partner = await newPartner();
  const receiver = await receivers.add();
  // Its receiver gets the secret a while after the answer.
  const known: { secret?: string } = {};
  receiver.behave((arrival, response) => {
    const { secret } = known;
    const is_signed = secret !== undefined && isStandardSigned(arrival, secret);
    response.writeHead(is_signed ? 200 : 401).end();
  });
  const { status, body } = await partner.call('POST', '/webhook-endpoints', { url: receiver.url });
  expect([status, body.endpoint.status, receiver.arrivals]).toEqual([201, 'untested', []]);
  known.secret = body.secret as string;
  const before = await inbound({});
  await untilHas(partner.receiver, before);
  await eventually(async () => (await shown(partner, body.endpoint)).status === 'active');
  await untilHas(receiver, await inbound({}));
  expect(messagesAt(receiver)).toHaveLength(1);
});

test.each([
  ['refuses connections', undefined, { reason: 'refused' }],
  ['answers 500 to the test event', 500, { reason: 'HTTP 500', http_status: 500 }],
  ['expects another signature', 401, { reason: 'HTTP 401', http_status: 401 }],
])(
  'an endpoint with a secret of its partner is refused by its field if its receiver %s',
  async (_what, status, details) => {
    const partner = await newPartner();
    const receiver = await receivers.add();
    receiver.behave((_arrival, response) => void response.writeHead(status ?? 200).end());
    const url = status ? receiver.url : 'http://127.0.0.1:3/none';
    const answer = await partner.call('POST', '/webhook-endpoints', {
      url,
      secret: chosenSecret(),
    });
    expect(codeOf(answer)).toEqual([400, 'INVALID_FIELD']);
    expect(answer.body.error.details).toMatchObject({ field: 'url', ...details });
    const tested = receiver.arrivals.map(({ body }) => body.event);
    expect(tested).toEqual(status ? ['webhook.test'] : []);
    expect((await partner.call('GET', '/webhook-endpoints')).body.endpoints).toEqual([]);
  },
);

test('each endpoint gets what its filter lets through, signed with its own secret, for its partner only', async () => {
  const partner = await newPartner();
  const all = await addEndpoint(partner, { headers: { 'X-Token': 'of-the-partner' } });
  const templates = await addEndpoint(partner, { events: ['template.*', 'message.failed'] });
  const second = await addEndpoint(partner, { waba_ids: [TWO_A.waba_id] });
  const [first] = await inbound({});
  const others = await inboundTo(mesh, TWO_A)({ from: '15550100802' });
  await untilHas(second.receiver, others);
  expect(messagesAt(second.receiver)).toEqual(others);
  const arrival = await arrivalOf(all.receiver, first);
  const own = await arrivalOf(partner.receiver, first);
  expect(templates.receiver.of('message.received')).toEqual([]);
  expect(isSigned(arrival, all.secret)).toBe(true);
  expect(isStandardSigned(arrival, all.secret)).toBe(true);
  expect(isSigned(own, partner.webhook_secret)).toBe(true);
  expect(arrival.headers['x-token']).toBe('of-the-partner');
  expect(own.headers['x-token']).toBeUndefined();
  expect([arrival.raw, arrival.headers['webhook-id']]).toEqual([
    own.raw,
    own.headers['webhook-id'],
  ]);
  const stranger = await mesh.createPartner();
  for (const [method, rest, body] of [
    ['GET', ''],
    ['PATCH', '', { status: 'paused' }],
    ['POST', '/test'],
    ['GET', '/attempts'],
  ] as const) {
    const refused = await stranger.call(method, pathOf(all) + rest, body);
    expect(codeOf(refused)).toEqual([404, 'NOT_FOUND']);
  }
});

test('events of a paused endpoint wait, and arrive in order when it resumes; a deleted one gets nothing', async () => {
  const partner = await newPartner();
  const endpoint = await addEndpoint(partner);
  const change = (status: string) => partner.call('PATCH', pathOf(endpoint), { status });
  expect((await change('paused')).body.endpoint.status).toBe('paused');
  const ids = await inbound({}, {}, {});
  await untilHas(partner.receiver, ids);
  await eventually(async () => (await shown(partner, endpoint)).health.retrying >= ids.length);
  expect(endpoint.receiver.arrivals).toEqual([]);
  await change('active');
  await untilHas(endpoint.receiver, ids);
  expect(messagesAt(endpoint.receiver)).toEqual(ids);
  await eventually(async () => (await shown(partner, endpoint)).health.retrying === 0);
  expect((await partner.call('DELETE', pathOf(endpoint))).status).toBe(200);
  await untilHas(partner.receiver, await inbound({}));
  expect((await partner.call('GET', pathOf(endpoint))).status).toBe(404);
  expect(messagesAt(endpoint.receiver)).toEqual(ids);
});

test('a failed delivery is listed with its endpoint, retried, and replayed to one endpoint', async () => {
  const partner = await newPartner();
  const endpoint = await addEndpoint(partner);
  const other = await addEndpoint(partner);
  const header = { 'retry-after': '3600' };
  endpoint.receiver.behave((_arrival, response) => void response.writeHead(500, header).end());
  const [id] = await inbound({});
  await arrivalOf(other.receiver, id);
  const row = await eventually(async () => {
    const { events } = (await partner.call('GET', '/webhooks/failed?limit=100')).body;
    return (events as Array<Record<string, any>>).find(
      (one) => one['payload'].data.message_id === id,
    );
  });
  expect(row).toMatchObject({ endpoint_id: endpoint.endpoint_id, last_http_status: 500 });
  const path = `/webhooks/retry/${row['event_id']}`;
  expect(codeOf(await partner.call('POST', path))).toEqual([404, 'NOT_FOUND']);
  endpoint.receiver.behave(undefined);
  const retried = await partner.call('POST', `${path}?endpoint_id=${endpoint.endpoint_id}`);
  expect(retried.body).toMatchObject({ status: 'delivered', http_status: 200 });

  // The log is written beside the deliveries.
  await eventually(
    async () => (await partner.call('GET', `/events/${row['event_id']}`)).status === 200,
  );
  const counts = () => [endpoint, other, partner].map(({ receiver }) => receiver.arrivals.length);
  const before = counts();
  const replay = await partner.call('POST', '/events/replay', {
    event_ids: [row['event_id']],
    endpoint_id: other.endpoint_id,
  });
  expect([replay.status, replay.body.error]).toEqual([200, null]);
  await eventually(() => other.receiver.arrivals.length === (before[1] as number) + 1);
  expect(counts()).toEqual([before[0], (before[1] as number) + 1, before[2]]);
  // Attempts are recorded in the background.
  const { body } = await eventually(async () => {
    const answer = await partner.call('GET', `/events/${row['event_id']}`);
    return answer.body.attempts.length === 5 && answer;
  });
  const attempted = (body.attempts as Array<{ endpoint_id: string | null }>)
    .map(({ endpoint_id }) => endpoint_id)
    .sort();
  const [one, two] = [endpoint.endpoint_id, other.endpoint_id];
  expect(attempted).toEqual([one, one, two, two, null].sort());
  expect(body.delivery).toMatchObject({ status: 'delivered', attempts: 1 });
});

test.each(['cloudevents-structured', 'cloudevents-binary'])(
  '%s is read by the official library and signed as posted',
  async (format) => {
    const partner = await newPartner();
    const endpoint = await addEndpoint(partner, { format, events: ['message.*'] });
    const id = nextId();
    await inbound({ id });
    const arrival = await eventually(() =>
      endpoint.receiver.arrivals.find(({ raw }) => raw.includes(id)),
    );
    const { headers, raw } = arrival;
    const event = HTTP.toEvent({ headers, body: raw }) as CloudEvent;
    expect(event.validate()).toBe(true);
    const own = await arrivalOf(partner.receiver, id);
    expect(event).toMatchObject({
      id: own.headers['webhook-id'],
      type: 'message.received',
      source: `/accounts/${ONE.waba_id}`,
      subject: ONE.phone_number_id,
      datacontenttype: 'application/json',
      data: own.body,
    });
    expect(isStandardSigned(arrival, endpoint.secret)).toBe(true);
  },
);

test('an endpoint that hangs delays neither the webhook URL nor nine others', async () => {
  const partner = await newPartner();
  const healthy = await Promise.all(
    Array.from({ length: ENDPOINTS_MAX - 1 }, () => addEndpoint(partner)),
  );
  const hung = await addEndpoint(partner);
  hung.receiver.behave(() => undefined);
  const customers = Array.from({ length: 60 }, (_none, at) => `1555010${1000 + (at % 20)}`);
  const ids = await inbound(...customers.map((from) => ({ from })));
  for (const { receiver } of [partner, ...healthy]) await untilHas(receiver, ids);
  const arrivedAt = (receiver: PartnerReceiver) =>
    new Map([...receiver.arrivals].reverse().map((one) => [idOf(one), one.at]));
  const own = arrivedAt(partner.receiver);
  for (const { receiver } of healthy) {
    const arrived = arrivedAt(receiver);
    // An event that waited for the hung endpoint would be late by its time limit of ten seconds.
    const late = ids.map((id) => (arrived.get(id) ?? Infinity) - (own.get(id) ?? -Infinity));
    expect(Math.max(...late)).toBeLessThan(HANG_LIMIT_MS);
    expect(messagesAt(receiver)).toHaveLength(ids.length);
  }
});
