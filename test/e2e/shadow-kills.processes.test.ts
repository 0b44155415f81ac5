// Webhooks killed while shadows get events: they go on, the first receiver gets everything in
// order, and each event of the last day is compared once.
import { postRaw, inboundBody } from '../testkit/upstream-webhooks';
import { eventually } from '../testkit/eventually';
import type { ProcessPartner } from '../harness/process-mesh';
import { ONE } from '../harness/world';
import type { PartnerReceiver } from '../testkit/partner';
import { messagesAt, nextId, untilHas, untilLogged, useReceivers } from './receivers';
import { useProcesses } from './use-processes';

const COMPLETE_LIMIT_MS = 90_000;
/** More than a page of positions, so that the kill comes between two writes of the progress. */
const LOGGED = 150;
const RATE = 50;

const mesh = useProcesses();
const receivers = useReceivers();

async function newPartner(): Promise<{ partner: ProcessPartner; own: PartnerReceiver }> {
  const own = await receivers.add();
  const partner = await mesh.createPartner(own.url);
  await partner.register();
  return { partner, own };
}

/** The upstream posts again until it is answered. */
async function inbound(): Promise<string> {
  const id = nextId();
  const body = inboundBody(ONE, { from: '15550104000', id });
  await eventually(async () => (await postRaw(mesh.ingress_url, body)) === 200);
  return id;
}

const shown = async (partner: ProcessPartner, { shadow_id }: { shadow_id: string }) =>
  (await partner.call('GET', `/webhook-shadows/${shadow_id}`)).body.shadow;

const restart = async (): Promise<void> => {
  await mesh.kill('webhooks');
  await mesh.start('webhooks');
};

test('a live shadow goes on, and the first receiver gets everything in order', async () => {
  const { partner, own } = await newPartner();
  const shadow = await receivers.addShadow(partner, { source: 'live' });
  const before = [await inbound(), await inbound()];
  await untilHas(shadow.receiver, before);
  await restart();
  const after = [await inbound(), await inbound()];
  for (const one of [own, shadow.receiver]) await untilHas(one, after);
  expect([...new Set(messagesAt(own))]).toEqual([...before, ...after]);
  const { status } = await eventually(async () => {
    const found = await shown(partner, shadow);
    return found.comparison.compared >= after.length && found;
  });
  expect(status).toBe('running');
  await mesh.expectCommitted(COMPLETE_LIMIT_MS);
});

test('the events of the last day are all compared, each once', async () => {
  const { partner, own } = await newPartner();
  const ids: string[] = [];
  for (let event = 0; event < LOGGED; event += 1) ids.push(await inbound());
  const logged = await untilLogged(partner, LOGGED);
  const arrived = own.arrivals.length;
  const last_day = { source: 'last_day', max_per_second: RATE };
  const { receiver, ...shadow } = await receivers.addShadow(partner, last_day);
  await eventually(() => messagesAt(receiver).length >= LOGGED / 5);
  await restart();
  const ended = await eventually(async () => {
    const found = await shown(partner, shadow);
    return found.status !== 'running' && found;
  });
  expect(ended).toMatchObject({
    status: 'completed',
    comparison: { compared: logged, different: 0, dropped: 0 },
  });
  expect([...new Set(messagesAt(receiver))].sort()).toEqual([...ids].sort());
  expect(own.arrivals).toHaveLength(arrived);
  await mesh.expectCommitted(COMPLETE_LIMIT_MS);
});
