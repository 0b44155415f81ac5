// Recovery: the failed list, manual retries, and the effect of a partner's changes on waiting
// events.
import { createRpcClient } from '@bmg/common/rpc';
import { WebhooksDefinition } from '@bmg/proto/webhooks';
import { eventually } from '../testkit/eventually';
import { ONE, TWO_A, type TestPartner } from '../harness/shared-mesh';
import { isSigned, startPartner, type Arrival } from '../testkit/partner';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { useMesh } from './use-mesh';

/** The history of a number comes in phases. */
const LAST_PHASE = 2;

const mesh = useMesh();
let count = 0;

beforeAll(async () => {
  // The first registration syncs contacts and history: those events arrive before the tests
  // register more.
  const first = await mesh.createPartner();
  await first.register(ONE);
  await eventually(() => {
    const phases = first.receiver.of('message.history').map(({ body }) => body.data['phase']);
    return phases.includes(LAST_PHASE) && first.receiver.of('contact.synced').length > 0;
  });
  await mesh.emulator.settled();
});

const nextId = (): string => `wamid.R${(count += 1)}`;
const idOf = ({ body }: Arrival): string => String(body.data['message_id']);
const idsAt = (who: TestPartner): string[] => who.receiver.arrivals.map(idOf);

/**
 * A partner whose receiver refuses, with waiting events: of one conversation by default. None is
 * attempted again in between, unless `is_retried`.
 */
async function partnerWithWaiting(
  ids: string[],
  { from = (_index: number): string => '15550100900', is_retried = false } = {},
) {
  const partner = await mesh.createPartner();
  await partner.register(ONE);
  const headers = is_retried ? {} : { 'retry-after': '3600' };
  partner.receiver.behave((_arrival, response) => void response.writeHead(500, headers).end());
  for (const [index, id] of ids.entries()) {
    const body = inboundBody(ONE, { from: from(index), id });
    expect(await postRaw(mesh.ingress_url, body)).toBe(200);
  }
  await eventually(async () => (await failed(partner)).length === ids.length);
  return partner;
}
const failed = async (who: TestPartner, query = '?limit=100') =>
  (await who.call('GET', `/webhooks/failed${query}`)).body.events;
const update = (partner: TestPartner, change: Record<string, unknown>) =>
  mesh.operator.updatePartner({ partner_id: partner.partner_id, ...change } as never, mesh.call());

test('reports the result of a manual retry and removes a delivered event from the list', async () => {
  const partner = await partnerWithWaiting([nextId()]);
  const [row] = await failed(partner);
  const refused = await partner.call('POST', `/webhooks/retry/${row.event_id}`);
  expect(refused.body).toMatchObject({ status: 'retrying', http_status: 500 });
  const [again] = await failed(partner);
  expect(again.attempts).toBe(2);
  expect(again.next_attempt_at).toBe(row.next_attempt_at);
  partner.receiver.behave(undefined);
  const taken = await partner.call('POST', `/webhooks/retry/${row.event_id}`);
  expect(taken.body).toMatchObject({ status: 'delivered', http_status: 200 });
  expect(await failed(partner)).toEqual([]);
  const gone = await partner.call('POST', `/webhooks/retry/${row.event_id}`);
  expect([gone.status, gone.body.error.code]).toEqual([404, 'NOT_FOUND']);
});

test('does not find another partner’s event', async () => {
  const partner = await partnerWithWaiting([nextId()]);
  const stranger = await mesh.createPartner({ name: 'A stranger' });
  const [row] = await failed(partner);
  const answer = await stranger.call('POST', `/webhooks/retry/${row.event_id}`);
  expect([answer.status, answer.body.error.code]).toEqual([404, 'NOT_FOUND']);
  expect((await stranger.call('POST', '/webhooks/retry-all')).body.queued).toBe(0);
  expect(await failed(stranger)).toEqual([]);
});

test('retries all events in order and empties the list on the way', async () => {
  const ids = Array.from({ length: 40 }, nextId);
  const partner = await partnerWithWaiting(ids);
  partner.receiver.arrivals.length = 0;
  partner.receiver.behave((_arrival, response) => void setTimeout(() => response.end('ok'), 10));
  const { body } = await partner.call('POST', '/webhooks/retry-all');
  expect(body).toMatchObject({ queued: 40, joined: false });
  const lengths = new Set<number>();
  await eventually(async () => {
    const { length } = await failed(partner);
    lengths.add(length);
    return length === 0;
  });
  expect(idsAt(partner)).toEqual(ids);
  expect(lengths.size).toBeGreaterThan(2);
});

test('sends waiting events to a new webhook URL at their next attempt', async () => {
  const id = nextId();
  const partner = await partnerWithWaiting([id], { is_retried: true });
  const moved = await startPartner();
  await update(partner, { webhook_url: moved.url });
  await eventually(() => moved.arrivals.length === 1);
  expect(moved.arrivals.map(idOf)).toEqual([id]);
  expect(isSigned(moved.arrivals[0] as Arrival, partner.webhook_secret)).toBe(true);
  await moved.close();
});

test('holds the events of a suspended partner and delivers them once it is active', async () => {
  const partner = await partnerWithWaiting([nextId()], { is_retried: true });
  const { partner_id } = partner;
  await update(partner, { status: 'suspended' });
  partner.receiver.arrivals.length = 0;
  partner.receiver.behave(undefined);
  const later = nextId();
  await postRaw(mesh.ingress_url, inboundBody(ONE, { from: '15550100931', id: later }));
  // The partner itself gets no answer now.
  const webhooks = createRpcClient(WebhooksDefinition, mesh.env['WEBHOOKS_ADDR'] as string);
  await eventually(async () => {
    const request = { partner_id, limit: 10, cursor: undefined, status: undefined };
    const { events } = await webhooks.rpc.listFailedEvents(request, mesh.call());
    expect(events.map(({ last_error }) => last_error)).toEqual([
      'partner is suspended',
      'partner is suspended',
    ]);
    return true;
  });
  await webhooks.stop();
  expect(partner.receiver.arrivals).toEqual([]);
  await update(partner, { status: 'active' });
  expect(await failed(partner)).toHaveLength(2);
  await partner.call('POST', '/webhooks/retry-all');
  await eventually(() => partner.receiver.arrivals.length === 2);
});

test('drops new events without a webhook URL and keeps the waiting ones in the list', async () => {
  const waiting = nextId();
  const partner = await partnerWithWaiting([waiting]);
  await update(partner, { webhook_url: '' });
  const dropped = nextId();
  await postRaw(mesh.ingress_url, inboundBody(ONE, { from: '15550100941', id: dropped }));
  const [row] = await failed(partner);
  const answer = await partner.call('POST', `/webhooks/retry/${row.event_id}`);
  expect(answer.body.status).toBe('retrying');
  expect((await failed(partner))[0].last_error).toBe('no webhook URL');
  partner.receiver.arrivals.length = 0;
  partner.receiver.behave(undefined);
  await update(partner, { webhook_url: partner.receiver.url });
  await partner.call('POST', '/webhooks/retry-all');
  await eventually(() => idsAt(partner).includes(waiting));
  expect(idsAt(partner)).not.toContain(dropped);
});

test('stops events for a partner that deletes the number, but not for the other owners', async () => {
  const [stays, leaves] = [await mesh.createPartner(), await mesh.createPartner()];
  await stays.register(TWO_A);
  await leaves.register(TWO_A);
  const deleted = await leaves.call('DELETE', `/clients/${TWO_A.waba_id}`);
  expect(deleted.status).toBe(200);
  const id = nextId();
  await postRaw(mesh.ingress_url, inboundBody(TWO_A, { from: '15550100950', id }));
  await eventually(() => idsAt(stays).includes(id));
  expect(idsAt(leaves)).not.toContain(id);
});
