// Extra events on the wire: only a receiver that names one gets it.
import { isExtraEvent } from '@bmg/common/messages';
import { eventually } from '../testkit/eventually';
import type { TestPartner } from '../harness/shared-mesh';
import { ONE } from '../harness/world';
import type { PartnerReceiver } from '../testkit/partner';
import { bodyOf, postRaw } from '../testkit/upstream-webhooks';
import { inboundTo, untilHas, useReceivers } from './receivers';
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh);
const receivers = useReceivers();

const extrasAt = ({ arrivals }: PartnerReceiver): string[] =>
  arrivals.map(({ body }) => body.event).filter(isExtraEvent);
/** The extra events of a partner's log, once it has these events. */
const loggedExtras = (of: TestPartner, ...expected: string[]): Promise<string[]> =>
  eventually(async () => {
    const { body } = await of.call('GET', '/events?limit=100');
    const names = (body.events as Array<{ event: string }>).map(({ event }) => event);
    return expected.every((one) => names.includes(one)) && names.filter(isExtraEvent);
  });

test('an extra event reaches the receivers that name it, and no other', async () => {
  const quiet = await mesh.createPartner();
  await quiet.register(ONE);
  const events = ['flow.updated', 'message.received'];
  const named = await receivers.addEndpoint(partner, { events });
  const all = await receivers.addEndpoint(partner);
  const flow = {
    event: 'FLOW_STATUS_CHANGE',
    flow_id: 110_000_000_000_001,
    new_status: 'PUBLISHED',
  };
  const template = { message_template_id: 3, message_template_name: 'order_update' };
  const changes = [
    { field: 'flows', value: flow },
    { field: 'message_template_components_update', value: template },
    { field: 'a_field_of_tomorrow', value: { anything: true } },
  ];
  expect(await postRaw(mesh.ingress_url, bodyOf(ONE, changes))).toBe(200);
  const ids = await inboundTo(mesh)({});
  const { body } = await eventually(() => named.receiver.of('flow.updated')[0]);
  expect(body.data).toMatchObject({ ...flow, flow_id: '110000000000001' });
  const others = [all, partner, quiet].map(({ receiver }) => receiver);
  for (const one of others) await untilHas(one, ids);
  expect(others.map(extrasAt)).toEqual([[], [], []]);
  const logged = await loggedExtras(partner, 'flow.updated', 'message.received');
  expect(logged).toEqual(['flow.updated']);
  expect(await loggedExtras(quiet, 'message.received')).toEqual([]);
});
