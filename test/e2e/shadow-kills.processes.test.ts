// Webhooks killed while shadows get events: they go on, the first receiver gets everything in
// order, and each event of the last day is compared once.
import type { PartnerReceiver } from '../testkit/partner';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { eventually } from '../testkit/eventually';
import { joinProcessMesh, type ProcessMesh, type ProcessPartner } from '../harness/process-mesh';
import { ONE } from '../harness/world';
import { createReceivers } from './receivers';

const COMPLETE_LIMIT_MS = 90_000;
/** More than a page of positions, so that the kill comes between two writes of the progress. */
const LOGGED = 150;
const RATE = 50;

let mesh: ProcessMesh;
let ingress_url: string;
let count = 0;
const receivers = createReceivers();

beforeAll(async () => {
  mesh = await joinProcessMesh();
  ingress_url = `${mesh.settings['INGRESS_URL']}/webhooks/upstream`;
});
afterAll(async () => {
  await mesh.stop();
  await receivers.close();
});

async function newPartner(): Promise<{ partner: ProcessPartner; own: PartnerReceiver }> {
  const own = await receivers.add();
  const partner = await mesh.createPartner(own.url);
  await partner.register();
  return { partner, own };
}

async function startShadow(partner: ProcessPartner, settings: object) {
  const receiver = await receivers.add();
  const { status, body } = await partner.call('POST', '/webhook-shadows', {
    url: receiver.url,
    ...settings,
  });
  expect([status, body.error]).toEqual([201, undefined]);
  return { receiver, path: `/webhook-shadows/${body.shadow.shadow_id}` };
}

const idsAt = (receiver: PartnerReceiver): string[] =>
  receiver.of('message.received').map(({ body }) => String(body.data['message_id']));

/** The upstream posts again until it is answered. */
async function inbound(): Promise<string> {
  const id = `wamid.SK${(count += 1)}`;
  const body = inboundBody(ONE, { from: '15550104000', id });
  await eventually(async () => (await postRaw(ingress_url, body)) === 200);
  return id;
}

const restart = async (): Promise<void> => {
  await mesh.kill('webhooks');
  await mesh.start('webhooks');
};

test('a live shadow goes on, and the first receiver gets everything in order', async () => {
  const { partner, own } = await newPartner();
  const { receiver, path } = await startShadow(partner, { source: 'live' });
  const before = [await inbound(), await inbound()];
  await eventually(() => before.every((id) => idsAt(receiver).includes(id)));
  await restart();
  const after = [await inbound(), await inbound()];
  for (const one of [own, receiver]) {
    await eventually(() => after.every((id) => idsAt(one).includes(id)));
  }
  expect([...new Set(idsAt(own))]).toEqual([...before, ...after]);
  const shadow = await eventually(async () => {
    const found = (await partner.call('GET', path)).body.shadow;
    return found.comparison.compared >= after.length && found;
  });
  expect(shadow.status).toBe('running');
  await mesh.expectCommitted(COMPLETE_LIMIT_MS);
});

test('the events of the last day are all compared, each once', async () => {
  const { partner, own } = await newPartner();
  const ids: string[] = [];
  for (let event = 0; event < LOGGED; event += 1) ids.push(await inbound());
  const logged = await eventually(async () => {
    const { events } = (await partner.call('GET', '/events?limit=1000')).body;
    const list = events as Array<{ event: string; delivery: { status: string } }>;
    const is_logged = list.filter(({ event }) => event === 'message.received').length;
    return (
      is_logged === LOGGED &&
      list.every(({ delivery }) => delivery.status === 'delivered') &&
      list.length
    );
  });
  const arrived = own.arrivals.length;
  const { receiver, path } = await startShadow(partner, {
    source: 'last_day',
    max_per_second: RATE,
  });
  await eventually(() => idsAt(receiver).length >= LOGGED / 5);
  await restart();
  const shadow = await eventually(async () => {
    const found = (await partner.call('GET', path)).body.shadow;
    return found.status !== 'running' && found;
  });
  expect(shadow).toMatchObject({
    status: 'completed',
    comparison: { compared: logged, different: 0, dropped: 0 },
  });
  expect([...new Set(idsAt(receiver))].sort()).toEqual([...ids].sort());
  expect(own.arrivals).toHaveLength(arrived);
  await mesh.expectCommitted(COMPLETE_LIMIT_MS);
});
