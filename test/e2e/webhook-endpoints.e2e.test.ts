// Webhook endpoints beside the webhook URL, on the wire: input, filters, signatures, formats,
// rotation, pauses, isolation of a hung endpoint, recovery, and a restart in between.
import { HTTP, type CloudEvent } from 'cloudevents';
import { eventually } from '../testkit/eventually';
import { ONE, TWO_A, type Answer, type TestPartner } from '../harness/shared-mesh';
import {
  chosenSecret,
  isSigned,
  isStandardSigned,
  type Arrival,
  type PartnerReceiver,
} from '../testkit/partner';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { createReceivers, type Endpoint } from './receivers';
import { useMesh } from './use-mesh';

/** The time that a receiver has for its answer. */
const HANG_LIMIT_MS = 10_000;
const ENDPOINTS_MAX = 10;

const mesh = useMesh();
let count = 0;
const receivers = createReceivers();
const { addEndpoint } = receivers;

afterAll(() => receivers.close());

async function newPartner(): Promise<TestPartner> {
  const partner = await mesh.createPartner();
  for (const number of [ONE, TWO_A]) await partner.register(number);
  return partner;
}

const change = (partner: TestPartner, { endpoint_id }: Endpoint, settings: object) =>
  partner.call('PATCH', `/webhook-endpoints/${endpoint_id}`, settings);
const shown = async (partner: TestPartner, { endpoint_id }: Endpoint) =>
  (await partner.call('GET', `/webhook-endpoints/${endpoint_id}`)).body.endpoint;
const nextId = (): string => `wamid.E${(count += 1)}`;
const idOf = ({ body }: Arrival): string => String(body.data['message_id']);
const idsAt = ({ arrivals }: PartnerReceiver): string[] => arrivals.map(idOf);
const deliveryIds = ({ arrivals }: PartnerReceiver): string[] =>
  arrivals.map(({ headers }) => String(headers['webhook-id']));

async function inbound(id: string, from = '15550100801', number = ONE): Promise<void> {
  expect(await postRaw(mesh.ingress_url, inboundBody(number, { from, id }))).toBe(200);
}
const has = (receiver: PartnerReceiver, ...ids: string[]): Promise<unknown> =>
  eventually(() => ids.every((id) => idsAt(receiver).includes(id)));
const refusal = ({ status, body }: Answer) => [
  status,
  body.error?.code,
  body.error?.details?.field ?? body.error?.details?.fields,
];

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
  const before = nextId();
  await inbound(before);
  await eventually(() => partner.receiver.of('message.received')[0]);
  await eventually(async () => (await shown(partner, body.endpoint)).status === 'active');
  const id = nextId();
  await inbound(id);
  await has(receiver, id);
  expect(idsAt(receiver)).not.toContain(before);
});

describe('an endpoint with a secret of its partner', () => {
  let partner: TestPartner;
  beforeAll(async () => {
    partner = await newPartner();
  });
  const create = (url: string, secret = chosenSecret()) =>
    partner.call('POST', '/webhook-endpoints', { url, secret });

  test.each([
    ['refuses connections', undefined, { reason: 'refused' }],
    ['answers 500 to the test event', 500, { reason: 'HTTP 500', http_status: 500 }],
  ])('is refused by its field if its receiver %s', async (_what, status, details) => {
    const receiver = await receivers.add();
    receiver.behave((_arrival, response) => void response.writeHead(status ?? 200).end());
    const answer = await create(status ? receiver.url : 'http://127.0.0.1:3/none');
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', 'url']);
    expect(answer.body.error.details).toMatchObject(details);
    const tested = receiver.arrivals.map(({ body }) => body.event);
    expect(tested).toEqual(status ? ['webhook.test'] : []);
    expect((await partner.call('GET', '/webhook-endpoints')).body.endpoints).toEqual([]);
  });

  test('is active at once if its receiver verifies the signature', async () => {
    const receiver = await receivers.add();
    const secret = chosenSecret();
    receiver.behave((arrival, response) => {
      response.writeHead(isStandardSigned(arrival, secret) ? 200 : 401).end();
    });
    expect((await create(receiver.url)).status).toBe(400);
    const { body } = await create(receiver.url, secret);
    expect(body).toMatchObject({ secret, endpoint: { status: 'active' } });
  });

  test('is unknown to another partner', async () => {
    const { endpoint_id } = await addEndpoint(await newPartner());
    for (const [method, rest, body] of [
      ['GET', ''],
      ['PATCH', '', { status: 'paused' }],
      ['POST', '/test'],
      ['GET', '/attempts'],
    ] as const) {
      const refused = await partner.call(method, `/webhook-endpoints/${endpoint_id}${rest}`, body);
      expect(refusal(refused).slice(0, 2)).toEqual([404, 'NOT_FOUND']);
    }
  });
});

test('each endpoint gets what its filter lets through, signed with its own secret', async () => {
  const partner = await newPartner();
  const all = await addEndpoint(partner, { headers: { 'X-Token': 'of-the-partner' } });
  const templates = await addEndpoint(partner, { events: ['template.*', 'message.failed'] });
  const second = await addEndpoint(partner, { waba_ids: [TWO_A.waba_id] });
  const [first, other] = [nextId(), nextId()];
  await inbound(first);
  await inbound(other, '15550100802', TWO_A);
  for (const { receiver } of [partner, all]) await has(receiver, first, other);
  await has(second.receiver, other);
  expect(idsAt(second.receiver)).not.toContain(first);
  expect(templates.receiver.of('message.received')).toEqual([]);

  const [arrival] = all.receiver.arrivals.filter((one) => idOf(one) === first) as [Arrival];
  const [own] = partner.receiver.arrivals.filter((one) => idOf(one) === first) as [Arrival];
  expect([isSigned(arrival, all.secret), isStandardSigned(arrival, all.secret)]).toEqual([
    true,
    true,
  ]);
  expect(isSigned(own, partner.webhook_secret)).toBe(true);
  expect(arrival.headers['x-token']).toBe('of-the-partner');
  expect(own.headers['x-token']).toBeUndefined();
  expect([arrival.raw, arrival.headers['webhook-id']]).toEqual([
    own.raw,
    own.headers['webhook-id'],
  ]);
});

test('secrets overlap during a rotation, and the attempts are listed', async () => {
  const partner = await newPartner();
  const endpoint = await addEndpoint(partner);
  const path = `/webhook-endpoints/${endpoint.endpoint_id}`;
  const { body } = await partner.call('POST', `${path}/rotate-secret`, { overlap_hours: 1 });
  const id = nextId();
  await inbound(id);
  await has(endpoint.receiver, id);
  const [arrival] = endpoint.receiver.arrivals as [Arrival];
  expect(isSigned(arrival, body.secret)).toBe(true);
  expect(isStandardSigned(arrival, body.secret)).toBe(true);
  expect(isStandardSigned(arrival, endpoint.secret)).toBe(true);
  const attempts = await eventually(async () => {
    const list = (await partner.call('GET', `${path}/attempts`)).body.attempts;
    return list.length > 0 && list;
  });
  expect(attempts[0]).toMatchObject({
    event_id: arrival.headers['webhook-id'],
    event: 'message.received',
    number: 1,
    delivered: true,
    http_status: 200,
    error: null,
  });
});

test('events of a paused endpoint wait, and arrive in order when it resumes', async () => {
  const partner = await newPartner();
  const endpoint = await addEndpoint(partner);
  expect((await change(partner, endpoint, { status: 'paused' })).body.endpoint.status).toBe(
    'paused',
  );
  const ids = [nextId(), nextId(), nextId()];
  for (const id of ids) await inbound(id);
  await has(partner.receiver, ...ids);
  await eventually(async () => (await shown(partner, endpoint)).health.retrying >= ids.length);
  expect(endpoint.receiver.arrivals).toEqual([]);
  await change(partner, endpoint, { status: 'active' });
  await has(endpoint.receiver, ...ids);
  expect(idsAt(endpoint.receiver).filter((id) => ids.includes(id))).toEqual(ids);
  await eventually(async () => (await shown(partner, endpoint)).health.retrying === 0);
});

test('a failed delivery is listed with its endpoint, retried, and replayed to one endpoint', async () => {
  const partner = await newPartner();
  const endpoint = await addEndpoint(partner);
  const other = await addEndpoint(partner);
  const header = { 'retry-after': '3600' };
  endpoint.receiver.behave((_arrival, response) => void response.writeHead(500, header).end());
  const id = nextId();
  await inbound(id);
  await has(other.receiver, id);
  const row = await eventually(async () => {
    const { events } = (await partner.call('GET', '/webhooks/failed?limit=100')).body;
    return (events as Array<Record<string, any>>).find(
      (one) => one['payload'].data.message_id === id,
    );
  });
  expect(row).toMatchObject({ endpoint_id: endpoint.endpoint_id, last_http_status: 500 });
  const path = `/webhooks/retry/${row['event_id']}`;
  const unknown = await partner.call('POST', path);
  expect(refusal(unknown).slice(0, 2)).toEqual([404, 'NOT_FOUND']);
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
    await inbound(id);
    const arrival = await eventually(() =>
      endpoint.receiver.arrivals.find(({ headers, raw }) => raw.includes(id) && headers),
    );
    const { headers, raw } = arrival;
    const event = HTTP.toEvent({ headers, body: raw }) as CloudEvent;
    expect(event.validate()).toBe(true);
    const own = await eventually(() => partner.receiver.arrivals.find((one) => idOf(one) === id));
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
  const ids = Array.from({ length: 60 }, nextId);
  for (const [index, id] of ids.entries()) await inbound(id, `1555010${1000 + (index % 20)}`);
  for (const { receiver } of [partner, ...healthy]) await has(receiver, ...ids);
  const arrivedAt = (receiver: PartnerReceiver) =>
    new Map([...receiver.arrivals].reverse().map((one) => [idOf(one), one.at]));
  const own = arrivedAt(partner.receiver);
  for (const { receiver } of healthy) {
    const arrived = arrivedAt(receiver);
    // An event that waited for the hung endpoint would be late by its time limit of ten seconds.
    const late = ids.map((id) => (arrived.get(id) ?? Infinity) - (own.get(id) ?? -Infinity));
    expect(Math.max(...late)).toBeLessThan(HANG_LIMIT_MS);
    expect(new Set(deliveryIds(receiver)).size).toBe(receiver.arrivals.length);
  }
});

test('a deleted endpoint gets nothing more', async () => {
  const partner = await newPartner();
  const { endpoint_id, receiver } = await addEndpoint(partner);
  const path = `/webhook-endpoints/${endpoint_id}`;
  expect((await partner.call('DELETE', path)).status).toBe(200);
  const id = nextId();
  await inbound(id);
  await has(partner.receiver, id);
  expect((await partner.call('GET', path)).status).toBe(404);
  expect(receiver.arrivals).toEqual([]);
});
