// Event delivery: to all owners, signed, in order and once; and retries when a receiver refuses.
import type { ServerResponse } from 'node:http';
import { eventually } from '../testkit/eventually';
import { ONE, type TestPartner } from '../harness/shared-mesh';
import { isSigned, isStandardSigned, type Arrival } from '../testkit/partner';
import { bodyOf, inboundBody, postRaw, statusChange } from '../testkit/upstream-webhooks';
import { useMesh, usePartner } from './use-mesh';

const RETRY_LIMIT_MS = 60_000;
/** The first delay of the schedule, 5 s, and with all of its jitter. */
const FIRST_DELAY_MS = 5_000;
const JITTERED_DELAY_MS = 6_000;
/** A timer may fire this much early. */
const TIMER_MS = 100;

const mesh = useMesh();
const partner = usePartner(mesh);
const other = usePartner(mesh, [ONE], { name: 'Another partner' });
let count = 0;

afterEach(() => {
  partner.receiver.behave(undefined);
  other.receiver.behave(undefined);
});

const nextId = (): string => `wamid.E${(count += 1)}`;
const idOf = ({ body }: Arrival): string => String(body.data['message_id']);
const arrivals = (who: TestPartner, ids: string[]): Arrival[] =>
  who.receiver.arrivals.filter((arrival) => ids.includes(idOf(arrival)));
const arrived = (who: TestPartner, ids: string[], limit_ms?: number): Promise<Arrival[]> =>
  eventually(() => {
    const found = arrivals(who, ids);
    return new Set(found.map(idOf)).size === ids.length && found;
  }, limit_ms);
const inbound = async (from: string, ids: string[]): Promise<void> => {
  for (const id of ids) {
    expect(await postRaw(mesh.ingress_url, inboundBody(ONE, { from, id }))).toBe(200);
  }
};
const failedList = async (who: TestPartner, query = '') =>
  (await who.call('GET', `/webhooks/failed${query}`)).body;

test('delivers an event to every owner of the number, signed with each owner’s secret', async () => {
  const id = nextId();
  await inbound('15550100801', [id]);
  const [mine] = await arrived(partner, [id]);
  const [theirs] = await arrived(other, [id]);
  for (const [arrival, own, foreign] of [
    [mine, partner, other],
    [theirs, other, partner],
  ] as const) {
    expect(isSigned(arrival as Arrival, own.webhook_secret)).toBe(true);
    expect(isStandardSigned(arrival as Arrival, own.webhook_secret)).toBe(true);
    expect(isSigned(arrival as Arrival, foreign.webhook_secret)).toBe(false);
    expect(arrival?.headers['webhook-id']).toBe(arrival?.body.meta.event_id);
    expect(arrival?.headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    const age = Date.now() / 1_000 - Number(arrival?.headers['webhook-timestamp']);
    expect(age).toBeLessThan(60);
  }
  expect(mine?.body.meta.event_id).not.toBe(theirs?.body.meta.event_id);
});

test('does not deliver a repeated upstream webhook again', async () => {
  const id = nextId();
  await inbound('15550100803', [id, id, id]);
  await arrived(partner, [id]);
  await inbound('15550100803', [id]);
  const marker = nextId();
  await inbound('15550100803', [marker]);
  await arrived(partner, [marker]);
  expect(arrivals(partner, [id])).toHaveLength(1);
});

test('delivers 60 events of one conversation in order', async () => {
  const ids = Array.from({ length: 60 }, nextId);
  // Varying answer times show that each event waits for the previous one.
  partner.receiver.behave((arrival, response) => {
    setTimeout(() => response.end('ok'), Number(idOf(arrival).at(-1)) % 4);
  });
  const messages = ids.map((id) => ({ from: '15550100804', id }));
  expect(await postRaw(mesh.ingress_url, inboundBody(ONE, ...messages))).toBe(200);
  const found = await arrived(partner, ids);
  expect(found.map(idOf)).toEqual(ids);
});

test('delivers statuses in order of arrival and marks one that follows a higher status', async () => {
  const id = nextId();
  for (const status of ['delivered', 'sent', 'read']) {
    expect(await postRaw(mesh.ingress_url, bodyOf(ONE, [statusChange(ONE, id, status)]))).toBe(200);
  }
  const found = await eventually(() => {
    const of = arrivals(partner, [id]);
    return of.length === 3 && of;
  });
  expect(found.map(({ body }) => body.event)).toEqual([
    'message.delivered',
    'message.sent',
    'message.read',
  ]);
  expect(found.map(({ body }) => body.data['superseded'] ?? false)).toEqual([false, true, false]);
});

test('isolates a receiver that hangs on one conversation from its others and other partners', async () => {
  const [slow, quick] = [nextId(), nextId()];
  const held: ServerResponse[] = [];
  partner.receiver.behave((arrival, response) => {
    if (idOf(arrival) === slow) held.push(response);
    else response.end('ok');
  });
  await inbound('15550100805', [slow]);
  await inbound('15550100806', [quick]);
  await eventually(() => held.length > 0);
  await arrived(partner, [quick]);
  await arrived(other, [slow, quick]);
  // All of them while the first attempt still waits for its answer.
  expect(held.map(({ destroyed }) => destroyed)).toEqual([false]);
  for (const response of held) response.end('ok');
});

describe('a receiver that refuses', () => {
  test('gets the event again after 5 s with the same ID, and later events wait behind it', async () => {
    const [first, second] = [nextId(), nextId()];
    let refusals = 1;
    partner.receiver.behave((arrival, response) => {
      refusals -= idOf(arrival) === first ? 1 : 0;
      response.writeHead(refusals >= 0 && idOf(arrival) === first ? 500 : 200).end();
    });
    await inbound('15550100815', [first, second]);
    const [waiting] = await eventually(async () => {
      const { events } = await failedList(partner);
      return events[0]?.last_http_status === 500 && events;
    });
    const seen_at = Date.now();
    expect(waiting).toMatchObject({ status: 'retrying', attempts: 1, last_error: 'HTTP 500' });
    const found = await arrived(partner, [first, second], RETRY_LIMIT_MS);
    expect(found.map(idOf)).toEqual([first, first, second]);
    expect(found[0]?.headers['webhook-id']).toBe(found[1]?.headers['webhook-id']);
    const [refused_at = 0, retried_at] = found.map(({ at }) => at);
    const due_at = new Date(waiting.next_attempt_at).getTime();
    expect(due_at - refused_at).toBeGreaterThanOrEqual(FIRST_DELAY_MS);
    expect(due_at - seen_at).toBeLessThanOrEqual(JITTERED_DELAY_MS);
    expect(retried_at).toBeGreaterThanOrEqual(due_at - TIMER_MS);
    await eventually(async () => (await failedList(partner)).count === 0);
    await arrived(other, [first, second]);
    expect(arrivals(other, [first, second])).toHaveLength(2);
  });

  test('with 410 gets no retry, and the event fails', async () => {
    const id = nextId();
    partner.receiver.behave((_arrival, response) => void response.writeHead(410).end());
    await inbound('15550100820', [id]);
    const [row] = await eventually(async () => {
      const { events } = await failedList(partner, '?status=failed');
      return events.length === 1 && events;
    });
    expect(row).toMatchObject({ status: 'failed', attempts: 1, last_http_status: 410 });
    expect(row.next_attempt_at).toBeNull();
    partner.receiver.behave(undefined);
    const { body } = await partner.call('POST', `/webhooks/retry/${row.event_id}`);
    expect(body).toMatchObject({ event_id: row.event_id, status: 'delivered', http_status: 200 });
    expect(arrivals(partner, [id])).toHaveLength(2);
    expect((await failedList(partner)).count).toBe(0);
  });
});
