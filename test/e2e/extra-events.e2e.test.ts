// Extra events on the wire: only a receiver that names one gets it, and a call can be answered
// and made by means of them.
import { isExtraEvent } from '@bmg/common/messages';
import { eventually } from '../testkit/eventually';
import { ONE, TWO_B, type TestPartner } from '../harness/shared-mesh';
import type { Arrival, PartnerReceiver } from '../testkit/partner';
import { bodyOf, inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { createReceivers, type Endpoint } from './receivers';
import { useMesh, usePartner } from './use-mesh';

const CALLER = '15550100777';
const OFFER = 'v=0\r\no=customer 1 1 IN IP4 192.0.2.1';
const ANSWER = 'v=0\r\no=partner 2 2 IN IP4 192.0.2.2';
const session = (sdp_type: string, sdp: string) => ({ sdp_type, sdp });

const mesh = useMesh();
const partner = usePartner(mesh, [ONE, TWO_B]);
const receivers = createReceivers();

afterAll(() => receivers.close());

const addEndpoint = (of: TestPartner, events?: string[]): Promise<Endpoint> =>
  receivers.addEndpoint(of, events && { events });
const extrasAt = ({ arrivals }: PartnerReceiver): string[] =>
  arrivals.map(({ body }) => body.event).filter(isExtraEvent);
const arrivalOf = async ({ receiver }: Endpoint, event: string): Promise<Arrival['body']> => {
  const arrival = await eventually(() => receiver.of(event)[0]);
  return arrival.body;
};
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
  const named = await addEndpoint(partner, ['flow.updated', 'message.received']);
  const all = await addEndpoint(partner);
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
  expect(await postRaw(mesh.ingress_url, inboundBody(ONE, { from: CALLER, id: 'wamid.X1' }))).toBe(
    200,
  );
  expect((await arrivalOf(named, 'flow.updated')).data).toMatchObject({
    ...flow,
    flow_id: '110000000000001',
  });
  const others = [all, partner, quiet].map(({ receiver }) => receiver);
  await eventually(() => others.every((one) => one.of('message.received').length === 1));
  expect(others.map(extrasAt)).toEqual([[], [], []]);
  const logged = await loggedExtras(partner, 'flow.updated', 'message.received');
  expect(logged).toEqual(['flow.updated']);
  expect(await loggedExtras(quiet, 'message.received')).toEqual([]);
});

describe('a partner’s media server', () => {
  const headers = { 'x-waba-id': TWO_B.waba_id, 'x-phone-number-id': TWO_B.phone_number_id };
  const act = async (action: string, more: object) => {
    const { status, body } = await partner.call('POST', '/calls', { action, ...more }, headers);
    expect([status, body.error]).toEqual([200, undefined]);
    return body;
  };

  test('answers a customer’s call: the offer by event, then accept and terminate', async () => {
    const endpoint = await addEndpoint(partner, ['call.*']);
    const { call_id } = await mesh.emulator.inboundCall({
      phone_number_id: TWO_B.phone_number_id,
      from: CALLER,
      sdp: OFFER,
    });
    expect(await arrivalOf(endpoint, 'call.connect')).toMatchObject({
      phone_number_id: TWO_B.phone_number_id,
      data: {
        call_id,
        from: CALLER,
        direction: 'USER_INITIATED',
        session: session('offer', OFFER),
      },
    });
    await act('accept', { call_id, session: session('answer', ANSWER) });
    const accepted = (await mesh.emulator.requests({ method: 'POST', path: '/calls$' })).at(-1);
    expect(accepted?.body).toMatchObject({ action: 'accept', session: { sdp: ANSWER } });
    await act('terminate', { call_id });
    expect((await arrivalOf(endpoint, 'call.terminate')).data).toMatchObject({
      call_id,
      status: 'COMPLETED',
    });
  });
});
