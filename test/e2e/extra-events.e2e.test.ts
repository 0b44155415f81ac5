// Extra events on the wire: only a receiver that names one gets it, and a call can be answered
// and made by means of them.
import { isExtraEvent } from '@bmg/common/messages';
import { eventually } from '../testkit/eventually';
import { joinMesh, ONE, TWO_B, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { chosenSecret, type Arrival, type PartnerReceiver } from '../testkit/partner';
import { bodyOf, inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { createReceivers } from './receivers';
import { setIn } from './stored';

const CALLER = '15550100777';
const OFFER = 'v=0\r\no=customer 1 1 IN IP4 192.0.2.1';
const ANSWER = 'v=0\r\no=partner 2 2 IN IP4 192.0.2.2';
const session = (sdp_type: string, sdp: string) => ({ sdp_type, sdp });

let mesh: Mesh;
let partner: TestPartner;
const receivers = createReceivers();

beforeAll(async () => {
  mesh = await joinMesh();
  partner = await mesh.createPartner();
  for (const number of [ONE, TWO_B]) await partner.register(number);
});
afterAll(async () => {
  await mesh.stop();
  await receivers.close();
});

interface Endpoint {
  endpoint_id: string;
  receiver: PartnerReceiver;
}

async function addEndpoint(of: TestPartner, events?: string[]): Promise<Endpoint> {
  const receiver = await receivers.add();
  const settings = { url: receiver.url, secret: chosenSecret(), ...(events && { events }) };
  const { status, body } = await of.call('POST', '/webhook-endpoints', settings);
  expect([status, body.error]).toEqual([201, undefined]);
  receiver.arrivals.length = 0;
  return { endpoint_id: body.endpoint.endpoint_id, receiver };
}

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
  const newer = await addEndpoint(partner, ['flow.*', 'message.received']);
  const older = await addEndpoint(partner, ['template.*', 'message.received']);
  // The row of a release without extra events. The next endpoint makes caches of it stale.
  const row = ['onboarding', 'webhook_endpoints', older.endpoint_id] as const;
  await setIn(mesh, ...row, { extra_by_prefix: false });
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
  for (const endpoint of [named, newer, older, all]) await arrivalOf(endpoint, 'message.received');
  expect((await arrivalOf(named, 'flow.updated')).data).toMatchObject({
    ...flow,
    flow_id: '110000000000001',
  });
  await arrivalOf(newer, 'flow.updated');
  const old = [older, all, partner, quiet].map(({ receiver }) => receiver);
  await eventually(() => old.every((one) => one.of('message.received').length === 1));
  expect(old.map(extrasAt)).toEqual([[], [], [], []]);
  const logged = await loggedExtras(partner, 'flow.updated', 'message.received');
  expect(logged).toEqual(['flow.updated']);
  expect(await loggedExtras(quiet, 'message.received')).toEqual([]);
});

test('upstream.other carries an unknown field as it was sent', async () => {
  const endpoint = await addEndpoint(partner, ['upstream.other']);
  const value = { id: 1, anything: ['é'] };
  const body = bodyOf(ONE, [{ field: 'a_field_of_next_year', value }]);
  expect(await postRaw(mesh.ingress_url, body)).toBe(200);
  expect(await arrivalOf(endpoint, 'upstream.other')).toMatchObject({
    waba_id: ONE.waba_id,
    data: { field: 'a_field_of_next_year', value },
  });
});

describe('events of clients', () => {
  const { waba_id, phone_number_id } = ONE;
  const number = { waba_id, phone_number_id };
  let own: TestPartner;
  let named: Endpoint;
  let all: Endpoint;
  beforeAll(async () => {
    own = await mesh.createPartner();
    named = await addEndpoint(own, ['client.*', 'webhook.test']);
    all = await addEndpoint(own);
  });

  /** Completes a sign-up like the hosted page. */
  async function signUp(code: string, state: string) {
    const { token } = (await own.call('POST', '/connect/session', { state })).body;
    const headers = { 'x-partner-key': '', 'x-connect-token': token };
    const report = { kind: 'dialog_cancelled' };
    return {
      answer: await own.call('POST', '/clients/register-from-code', { code }, headers),
      cancel: () =>
        fetch(new URL('/connect/events', mesh.base_url), {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-connect-token': token },
          body: JSON.stringify(report),
        }),
    };
  }
  const dataOf = (event: string) =>
    named.receiver.of(event).map(({ body }) => body.data as Record<string, unknown>);

  test('a sign-up, its failure and a deletion reach only the receivers that name them, once', async () => {
    const quiet = await mesh.createPartner();
    const failed = await signUp('a-code-that-was-used', 'order-1');
    expect(failed.answer.body.error.code).toBe('CODE_EXCHANGE_FAILED');
    expect((await failed.cancel()).status).toBe(200);
    const { code } = await mesh.emulator.code({ token: ONE.access_token });
    expect((await signUp(code, 'order-2')).answer.status).toBe(201);
    await own.register(ONE);
    await quiet.register(ONE);
    for (const one of [own, quiet]) {
      expect((await one.call('DELETE', `/clients/${waba_id}`)).status).toBe(200);
    }
    await own.register(ONE);
    await eventually(() => dataOf('client.connected').length === 2);
    const connected = { ...number, display_name: 'Example Shop' };
    expect(dataOf('client.failed')).toEqual([
      expect.objectContaining({ state: 'order-1', code: 'CODE_EXCHANGE_FAILED' }),
      expect.objectContaining({ state: 'order-1', code: 'DIALOG_CANCELLED' }),
    ]);
    expect(dataOf('client.connected')).toEqual([
      expect.objectContaining({ ...connected, state: 'order-2' }),
      expect.objectContaining({ ...connected, state: null }),
    ]);
    expect(dataOf('client.removed')).toEqual([expect.objectContaining(connected)]);
    expect(named.receiver.of('client.removed')[0]?.body).toMatchObject(number);
    const sent = JSON.stringify(named.receiver.arrivals.map(({ body }) => body));
    for (const secret of [code, 'a-code-that-was-used', ONE.access_token]) {
      expect(sent).not.toContain(secret);
    }
    // A later event shows that nothing else is in flight.
    expect(
      await postRaw(mesh.ingress_url, inboundBody(ONE, { from: CALLER, id: 'wamid.X9' })),
    ).toBe(200);
    await arrivalOf(all, 'message.received');
    expect([all, own, quiet].map(({ receiver }) => extrasAt(receiver))).toEqual([[], [], []]);
    const logged = await loggedExtras(own, 'client.removed', 'message.received');
    expect(logged).toHaveLength(5);
    const of_quiet = (await quiet.call('GET', '/events?limit=100')).body.events;
    expect(of_quiet.map(({ event }: { event: string }) => event).filter(isExtraEvent)).toEqual([]);
  });
});

test('a notice of the operator reaches the receivers that name it, and is kept for the partner', async () => {
  const own = await mesh.createPartner();
  const named = await addEndpoint(own, ['partner.notice']);
  const notice = { severity: 'action_required', subject: 'Receiver down', text: 'It answers 503.' };
  const request = { partner_id: own.partner_id, ...notice };
  const { notice_id } = await mesh.operator.notifyPartner(request, mesh.call());
  expect(await arrivalOf(named, 'partner.notice')).toMatchObject({
    waba_id: null,
    phone_number_id: null,
    data: { notice_id, ...notice },
  });
  expect(extrasAt(own.receiver)).toEqual([]);
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

  test('makes a call: its status and the customer’s answer come by event', async () => {
    const endpoint = await addEndpoint(partner, ['call.connect', 'call.status']);
    const offered = { to: CALLER, session: session('offer', OFFER) };
    const { calls } = await act('connect', offered);
    const call_id = calls[0].id as string;
    expect((await arrivalOf(endpoint, 'call.status')).data).toMatchObject({
      call_id,
      to: CALLER,
      status: 'RINGING',
    });
    await mesh.emulator.takeCall({ call_id, sdp: ANSWER });
    expect((await arrivalOf(endpoint, 'call.connect')).data).toMatchObject({
      call_id,
      to: CALLER,
      direction: 'BUSINESS_INITIATED',
      session: session('answer', ANSWER),
    });
    await eventually(() => endpoint.receiver.of('call.status').length === 2);
    await act('terminate', { call_id });
  });
});
