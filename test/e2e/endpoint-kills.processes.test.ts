// Webhooks killed while events go to a webhook URL and to endpoints, one of which fails: nothing is
// lost, every repetition has the same ID, and the order of each conversation holds.
import type { PartnerReceiver } from '../testkit/partner';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { eventually } from '../testkit/eventually';
import { joinProcessMesh, type ProcessMesh, type ProcessPartner } from '../harness/process-mesh';
import { ONE } from '../harness/world';
import { createReceivers } from './receivers';

const COMPLETE_LIMIT_MS = 90_000;
const CONVERSATIONS = 4;
/** Events of each conversation before a kill, and after the last one. */
const STRETCH = 5;
const KILLS = 2;

let mesh: ProcessMesh;
let partner: ProcessPartner;
let ingress_url: string;
const receivers = createReceivers();

beforeAll(async () => {
  mesh = await joinProcessMesh();
  const own = await receivers.add();
  partner = await mesh.createPartner(own.url);
  await partner.register();
  ingress_url = `${mesh.settings['INGRESS_URL']}/webhooks/upstream`;
});
afterAll(async () => {
  await mesh.stop();
  await receivers.close();
});

const received = ({ arrivals }: PartnerReceiver) =>
  arrivals.filter(({ body }) => body.event === 'message.received');
const idsAt = (receiver: PartnerReceiver): string[] =>
  received(receiver).map(({ body }) => String(body.data['message_id']));

test('loses nothing and keeps the order when webhooks is killed', async () => {
  const [own] = receivers.all as [PartnerReceiver];
  const { receiver: healthy } = await receivers.addEndpoint(partner);
  const { receiver: broken } = await receivers.addEndpoint(partner, { events: ['message.*'] });
  let is_broken = true;
  broken.behave((_arrival, response) => void response.writeHead(is_broken ? 503 : 200).end());
  const ids: string[][] = Array.from({ length: CONVERSATIONS }, () => []);
  const post = async (): Promise<void> => {
    for (let event = 0; event < STRETCH; event += 1) {
      for (const [conversation, known] of ids.entries()) {
        const id = `wamid.K${conversation}.${known.length}`;
        const body = inboundBody(ONE, { from: `1555010${3000 + conversation}`, id });
        // The upstream posts again until it is answered.
        await eventually(async () => (await postRaw(ingress_url, body)) === 200);
        known.push(id);
      }
    }
  };
  for (let kill = 0; kill < KILLS; kill += 1) {
    await post();
    await mesh.kill('webhooks');
    await mesh.start('webhooks');
  }
  is_broken = false;
  await post();
  const all = ids.flat();
  for (const receiver of [own, healthy, broken]) {
    await eventually(() => all.every((id) => idsAt(receiver).includes(id)));
  }
  await mesh.expectCommitted(COMPLETE_LIMIT_MS);
  const idOf = new Map<string, Set<unknown>>();
  for (const receiver of [own, healthy, broken]) {
    for (const { headers, body } of received(receiver)) {
      const message_id = String(body.data['message_id']);
      idOf.set(message_id, (idOf.get(message_id) ?? new Set()).add(headers['webhook-id']));
    }
  }
  expect([...idOf.values()].every((known) => known.size === 1)).toBe(true);
  for (const receiver of [own, healthy]) {
    const firsts = [...new Set(idsAt(receiver))];
    for (const wanted of ids) {
      expect(firsts.filter((id) => wanted.includes(id))).toEqual(wanted);
    }
  }
});
