// Event delivery: to all owners, signed, in order and once; and retries when a receiver refuses.
import type { ServerResponse } from 'node:http';
import { eventually } from '../testkit/eventually';
import { ONE, type TestPartner } from '../harness/shared-mesh';
import { isSigned, isStandardSigned, type Arrival } from '../testkit/partner';
import { bodyOf, postRaw, statusChange } from '../testkit/upstream-webhooks';
import { arrivalOf, idOf, inboundTo, nextId, untilHas } from './receivers';
import { useMesh, usePartner } from './use-mesh';

/** The first delay of the schedule, 5 s, and with all of its jitter. */
const FIRST_DELAY_MS = 5_000;
const JITTERED_DELAY_MS = 6_000;
/** A timer may fire this much early. */
const TIMER_MS = 100;

const mesh = useMesh();
const partner = usePartner(mesh);
const other = usePartner(mesh, [ONE], { name: 'Another partner' });
const inbound = inboundTo(mesh);

afterEach(() => partner.receiver.behave(undefined));

const arrivals = ({ receiver }: TestPartner, ids: string[]): Arrival[] =>
  receiver.arrivals.filter((arrival) => ids.includes(idOf(arrival)));

test('delivers an event to every owner of the number, signed with each owner’s secret', async () => {
  const [id] = await inbound({});
  const mine = await arrivalOf(partner.receiver, id);
  const theirs = await arrivalOf(other.receiver, id);
  for (const [arrival, own, foreign] of [
    [mine, partner, other],
    [theirs, other, partner],
  ] as const) {
    expect(isSigned(arrival, own.webhook_secret)).toBe(true);
    expect(isStandardSigned(arrival, own.webhook_secret)).toBe(true);
    expect(isSigned(arrival, foreign.webhook_secret)).toBe(false);
    expect(arrival.headers['webhook-id']).toBe(arrival.body.meta.event_id);
    expect(arrival.headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    const age = Date.now() / 1_000 - Number(arrival.headers['webhook-timestamp']);
    expect(age).toBeLessThan(60);
  }
  expect(mine.body.meta.event_id).not.toBe(theirs.body.meta.event_id);
});

test('does not deliver a repeated upstream webhook again', async () => {
  const from = '15550100803';
  const id = nextId();
  await inbound({ from, id }, { from, id }, { from, id });
  await untilHas(partner.receiver, [id]);
  await inbound({ from, id });
  await untilHas(partner.receiver, await inbound({ from }));
  expect(arrivals(partner, [id])).toHaveLength(1);
});

test('delivers statuses in order of arrival and marks one that follows a higher status', async () => {
  const id = nextId();
  for (const status of ['delivered', 'sent', 'read']) {
    expect(await postRaw(mesh.ingress_url, bodyOf(ONE, [statusChange(ONE, id, status)]))).toBe(200);
  }
  await eventually(() => arrivals(partner, [id]).length === 3);
  const found = arrivals(partner, [id]).map(({ body }) => body);
  expect(found.map(({ event, data }) => [event, data['superseded'] ?? false])).toEqual([
    ['message.delivered', false],
    ['message.sent', true],
    ['message.read', false],
  ]);
});

test('isolates a receiver that hangs on one conversation from its others and other partners', async () => {
  const [slow, quick] = [nextId(), nextId()];
  const held: ServerResponse[] = [];
  partner.receiver.behave((arrival, response) => {
    if (idOf(arrival) === slow) held.push(response);
    else response.end('ok');
  });
  await inbound({ from: '15550100805', id: slow }, { from: '15550100806', id: quick });
  await eventually(() => held.length > 0);
  await untilHas(partner.receiver, [quick]);
  await untilHas(other.receiver, [slow, quick]);
  // All of them while the first attempt still waits for its answer.
  expect(held.map(({ destroyed }) => destroyed)).toEqual([false]);
  for (const response of held) response.end('ok');
});

test('a refused event is sent again after 5 s with the same ID, and later events wait behind it', async () => {
  const [first, second] = [nextId(), nextId()];
  let refusals = 1;
  partner.receiver.behave((arrival, response) => {
    refusals -= idOf(arrival) === first ? 1 : 0;
    response.writeHead(refusals >= 0 && idOf(arrival) === first ? 500 : 200).end();
  });
  const from = '15550100815';
  await inbound({ from, id: first }, { from, id: second });
  const failed = async () => (await partner.call('GET', '/webhooks/failed')).body;
  const [waiting] = await eventually(async () => {
    const { events } = await failed();
    return events[0]?.last_http_status === 500 && events;
  });
  const seen_at = Date.now();
  expect(waiting).toMatchObject({ status: 'retrying', attempts: 1, last_error: 'HTTP 500' });
  await untilHas(partner.receiver, [second]);
  const found = arrivals(partner, [first, second]);
  expect(found.map(idOf)).toEqual([first, first, second]);
  expect(found[0]?.headers['webhook-id']).toBe(found[1]?.headers['webhook-id']);
  const [refused_at = 0, retried_at] = found.map(({ at }) => at);
  const due_at = new Date(waiting.next_attempt_at).getTime();
  expect(due_at - refused_at).toBeGreaterThanOrEqual(FIRST_DELAY_MS);
  expect(due_at - seen_at).toBeLessThanOrEqual(JITTERED_DELAY_MS);
  expect(retried_at).toBeGreaterThanOrEqual(due_at - TIMER_MS);
  await eventually(async () => (await failed()).count === 0);
  await untilHas(other.receiver, [first, second]);
  expect(arrivals(other, [first, second])).toHaveLength(2);
});
