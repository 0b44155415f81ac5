// The message log as a partner reads it: the list of its sends, and the timeline of one message
// on both sides. A partner sees only its own messages.
import { eventually } from '../testkit/eventually';
import { ONE, TWO_A, TWO_B, type TestPartner } from '../harness/shared-mesh';
import { bodyOf, postRaw, statusChange } from '../testkit/upstream-webhooks';
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh, [ONE, TWO_A]);
/** Owns the same number, and has sent nothing. */
const stranger = usePartner(mesh);

const send = async (body: object, headers: Record<string, string> = {}) => {
  const own = { 'x-waba-id': ONE.waba_id, ...headers };
  const answer = await partner.call('POST', '/messages/send', body, own);
  expect(answer.status).toBe(200);
  return answer.body;
};
const timeline = async (id: string, query = '', of = partner) =>
  of.call('GET', `/messages/${encodeURIComponent(id)}/timeline?${query}`);
const list = async (query: string, of = partner) =>
  (await of.call('GET', `/messages?${query}`)).body;

/**
 * Waits until the timeline has everything: events, attempts and statuses are recorded on their own.
 */
const complete = (id: string, { events = 3, statuses = 3, query = '' } = {}): Promise<any> =>
  eventually(async () => {
    const { body } = await timeline(id, query);
    const count = (type: string): number =>
      (body.entries ?? []).filter((one: any) => one.type === type).length;
    if (count('event') !== events || count('status') !== statuses) return false;
    return count('attempt') >= events && body;
  });

test('shows a send from its request to the delivery of its last event', async () => {
  const sent = await send(
    { to: '15550100777', text: 'A secret text' },
    { 'idempotency-key': 'order-4711', 'x-request-id': 'my-request-1' },
  );
  const { message_id } = sent;
  const body = await complete(message_id);
  expect(body).toMatchObject({
    message: { message_id, direction: 'outbound', kind: 'text', status: 'read', broadcast: false },
    broadcast: null,
    missing: [],
  });
  const [accepted, upstream] = body.entries;
  expect(accepted).toMatchObject({
    type: 'accepted',
    request_id: 'my-request-1',
    idempotency_key: 'order-4711',
  });
  expect(upstream).toMatchObject({ type: 'upstream', http_status: 200 });
  const of = (type: string) => body.entries.filter((one: any) => one.type === type);
  expect(of('status').map((one: any) => one.status)).toEqual(['sent', 'delivered', 'read']);
  const positions = of('event').map(({ seq }: any) => seq);
  for (const one of of('attempt')) expect(one).toMatchObject({ number: 1, http_status: 200 });
  for (const one of body.entries) expect(one.trace_id).toMatch(/^[0-9a-f]{32}$/);
  const { events } = (await partner.call('GET', `/events?after=${positions[0] - 1}&limit=1`)).body;
  expect(of('event')[0]).toMatchObject({ event_id: events[0].event_id, event: 'message.sent' });
  expect(JSON.stringify(body)).not.toContain('A secret text');
});

test('shows a partner nothing of another, also on a number that both own', async () => {
  const { message_id } = await send({ to: '15550100784', text: 'Mine' });
  await complete(message_id);
  const outsider = await mesh.createPartner();
  await outsider.register(TWO_A);
  const blind = await timeline(message_id, '', outsider);
  expect([blind.status, blind.body.error.code]).toEqual([404, 'NOT_FOUND']);
  for (const query of ['', 'recipient=15550100784', `message_id=${message_id}`]) {
    expect((await list(query, stranger)).messages).toEqual([]);
  }
  // Its status events are the stranger's too: it owns the number. The send and its record are not.
  const types = await eventually(async () => {
    const { entries = [] } = (await timeline(message_id, '', stranger)).body;
    const seen = new Set<string>(entries.map(({ type }: any) => type));
    return seen.has('event') && seen;
  });
  for (const type of ['accepted', 'upstream', 'status']) expect(types.has(type)).toBe(false);
});

test('a status that arrives after the deletion of its client makes no record', async () => {
  const [former, next] = [await mesh.createPartner(), await mesh.createPartner()];
  await former.register(TWO_B);
  const post = async (of: TestPartner, message_id: string): Promise<void> => {
    const biz_opaque_callback_data = `bmg1:${of.partner_id}:msg_of_${message_id}`;
    const change = statusChange(TWO_B, message_id, 'delivered', { biz_opaque_callback_data });
    expect(await postRaw(mesh.ingress_url, bodyOf(TWO_B, [change]))).toBe(200);
  };
  const listed = async (of: TestPartner): Promise<string[]> =>
    (await list('', of)).messages.map((one: any) => one.message_id);
  await post(former, 'wamid.before');
  await eventually(async () => (await listed(former)).includes('wamid.before'));
  expect((await former.call('DELETE', `/clients/${TWO_B.waba_id}`)).status).toBe(200);
  await post(former, 'wamid.deleted');
  await next.register(TWO_B);
  // Statuses of one number are applied in their order.
  await post(next, 'wamid.next');
  await eventually(async () => (await listed(next)).includes('wamid.next'));
  expect([await listed(former), await listed(next)]).toEqual([['wamid.before'], ['wamid.next']]);
});
