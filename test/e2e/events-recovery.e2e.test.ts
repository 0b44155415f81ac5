// Recovery: manual retries, and the effect of a partner's changes on waiting events.
import { createRpcClient } from '@bmg/common/rpc';
import { WebhooksDefinition } from '@bmg/proto/webhooks';
import { eventually } from '../testkit/eventually';
import { ONE, type TestPartner } from '../harness/shared-mesh';
import { isSigned } from '../testkit/partner';
import { arrivalOf, inboundTo, messagesAt, untilHas, useReceivers } from './receivers';
import { useMesh } from './use-mesh';

/** The history of a number comes in phases. */
const LAST_PHASE = 2;

const mesh = useMesh();
const receivers = useReceivers();
const inbound = inboundTo(mesh);

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

/** A partner with events of one conversation that its receiver has refused for the next hour. */
async function partnerWithWaiting(count: number): Promise<[TestPartner, ids: string[]]> {
  const partner = await mesh.createPartner();
  await partner.register(ONE);
  const header = { 'retry-after': '3600' };
  partner.receiver.behave((_arrival, response) => void response.writeHead(500, header).end());
  const ids = await inbound(...Array<object>(count).fill({ from: '15550100900' }));
  await eventually(async () => (await failed(partner)).length === count);
  return [partner, ids];
}
const failed = async (who: TestPartner) =>
  (await who.call('GET', '/webhooks/failed?limit=100')).body.events;
const update = ({ partner_id }: TestPartner, change: Record<string, unknown>) =>
  mesh.operator.updatePartner({ partner_id, ...change } as never, mesh.call());

test('reports the result of a manual retry, finds no event of another partner, and removes a delivered event from the list', async () => {
  const [partner] = await partnerWithWaiting(1);
  const [row] = await failed(partner);
  const retry = (of = partner) => of.call('POST', `/webhooks/retry/${row.event_id}`);
  const stranger = await mesh.createPartner({ name: 'A stranger' });
  expect((await retry(stranger)).body.error.code).toBe('NOT_FOUND');
  expect((await stranger.call('POST', '/webhooks/retry-all')).body.queued).toBe(0);
  expect(await failed(stranger)).toEqual([]);

  expect((await retry()).body).toMatchObject({ status: 'retrying', http_status: 500 });
  const [again] = await failed(partner);
  expect(again.attempts).toBe(2);
  expect(again.next_attempt_at).toBe(row.next_attempt_at);
  partner.receiver.behave(undefined);
  expect((await retry()).body).toMatchObject({ status: 'delivered', http_status: 200 });
  expect(await failed(partner)).toEqual([]);
  const gone = await retry();
  expect([gone.status, gone.body.error.code]).toEqual([404, 'NOT_FOUND']);
});

test('retries all events in order and empties the list on the way', async () => {
  const [partner, ids] = await partnerWithWaiting(40);
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
  expect(messagesAt(partner.receiver)).toEqual(ids);
  expect(lengths.size).toBeGreaterThan(2);
});

test('holds the events of a suspended partner and delivers them once it is active', async () => {
  const [partner, waiting] = await partnerWithWaiting(1);
  const { partner_id } = partner;
  await update(partner, { status: 'suspended' });
  partner.receiver.arrivals.length = 0;
  partner.receiver.behave(undefined);
  const later = await inbound({ from: '15550100931' });
  // The partner itself gets no answer now.
  const webhooks = createRpcClient(WebhooksDefinition, mesh.env['WEBHOOKS_ADDR'] as string);
  const request = { partner_id, limit: 10, cursor: undefined, status: undefined };
  await eventually(async () => {
    const { events } = await webhooks.rpc.listFailedEvents(request, mesh.call());
    return events.some(({ last_error }) => last_error === 'partner is suspended');
  });
  await webhooks.stop();
  expect(partner.receiver.arrivals).toEqual([]);
  await update(partner, { status: 'active' });
  expect(await failed(partner)).toHaveLength(2);
  await partner.call('POST', '/webhooks/retry-all');
  await untilHas(partner.receiver, [...waiting, ...later]);
});

test('without a webhook URL new events are dropped, and the waiting ones go to the next URL', async () => {
  const [partner, waiting] = await partnerWithWaiting(1);
  await update(partner, { webhook_url: '' });
  const dropped = await inbound({ from: '15550100941' });
  const [row] = await failed(partner);
  const answer = await partner.call('POST', `/webhooks/retry/${row.event_id}`);
  expect(answer.body.status).toBe('retrying');
  expect((await failed(partner))[0].last_error).toBe('no webhook URL');
  const moved = await receivers.add();
  await update(partner, { webhook_url: moved.url });
  await partner.call('POST', '/webhooks/retry-all');
  const arrival = await arrivalOf(moved, waiting[0]);
  expect(isSigned(arrival, partner.webhook_secret)).toBe(true);
  expect(messagesAt(moved)).not.toEqual(expect.arrayContaining(dropped));
});
