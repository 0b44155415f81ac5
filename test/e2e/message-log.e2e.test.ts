// The message log as a partner reads it: the list of its sends, and the timeline of one message
// on both sides. A partner sees only its own messages.
import { eventually } from '../testkit/eventually';
import { ONE, TWO_A } from '../harness/shared-mesh';
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh);
/** Owns the same number, and has sent nothing. */
const stranger = usePartner(mesh);
const outsider = usePartner(mesh, [TWO_A]);

test('shows a send from its request to the delivery of its last event, to its partner only', async () => {
  const text = 'A secret text';
  const sent = await partner.call(
    'POST',
    '/messages/send',
    { to: '15550100784', text },
    { 'x-waba-id': ONE.waba_id, 'idempotency-key': 'order-4711', 'x-request-id': 'my-request-1' },
  );
  const { message_id } = sent.body;
  const timeline = (of: typeof partner) =>
    of.call('GET', `/messages/${encodeURIComponent(message_id)}/timeline`);
  // Events, attempts and statuses are recorded on their own.
  const body = await eventually(async () => {
    const shown = (await timeline(partner)).body;
    const count = (type: string): number =>
      (shown.entries ?? []).filter((one: any) => one.type === type).length;
    return count('event') === 3 && count('status') === 3 && count('attempt') >= 3 && shown;
  });
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
  expect(JSON.stringify(body)).not.toContain(text);

  expect((await timeline(outsider)).body.error.code).toBe('NOT_FOUND');
  for (const query of ['', 'recipient=15550100784', `message_id=${message_id}`]) {
    expect((await stranger.call('GET', `/messages?${query}`)).body.messages).toEqual([]);
  }
  // Its status events are the stranger's too: it owns the number. The send and its record are not.
  const types = await eventually(async () => {
    const { entries = [] } = (await timeline(stranger)).body;
    const seen = new Set<string>(entries.map(({ type }: any) => type));
    return seen.has('event') && seen;
  });
  for (const type of ['accepted', 'upstream', 'status']) expect(types.has(type)).toBe(false);
});
