// Webhooks and a destination's server killed while events go to it: nothing is lost, every
// repetition has the same ID, and no log has the credential.
import {
  joinProcessMesh,
  ONE,
  type ProcessMesh,
  type ProcessPartner,
} from '../harness/process-mesh';
import { eventually } from '../testkit/eventually';
import { startPartner, type PartnerReceiver } from '../testkit/partner';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import type { DestinationServer } from './server';

const MESH_LIMIT_MS = 180_000;
const TEST_LIMIT_MS = 420_000;
/** Events that failed while the server was down have their third attempt within it. */
const COMPLETE_LIMIT_MS = 180_000;
const CONVERSATIONS = 4;
/** Events of each conversation between two kills. */
const STRETCH = 5;

export function describeKills(
  name: string,
  startServer: () => Promise<DestinationServer>,
  start_limit_ms: number,
): void {
  describe(`kills with an endpoint at ${name}`, () => {
    let mesh: ProcessMesh;
    let server: DestinationServer;
    let receiver: PartnerReceiver;
    let partner: ProcessPartner;

    beforeAll(async () => {
      [mesh, server] = await Promise.all([joinProcessMesh(), startServer()]);
      receiver = await startPartner();
      partner = await mesh.createPartner(receiver.url);
      await partner.register();
    }, MESH_LIMIT_MS + start_limit_ms);
    afterAll(async () => {
      await mesh?.stop();
      await receiver?.close();
      await server?.stop();
    });

    test(
      'loses nothing, and repeats with the same IDs',
      async () => {
        const { status, body } = await partner.call('POST', '/webhook-endpoints', {
          destination: { type: server.type, ...server.settings },
          events: ['message.*'],
        });
        expect([status, body.error]).toEqual([201, undefined]);
        const conversations: string[][] = Array.from({ length: CONVERSATIONS }, () => []);
        const post = async (): Promise<void> => {
          for (let event = 0; event < STRETCH; event += 1) {
            for (const [index, ids] of conversations.entries()) {
              const id = `wamid.K${name}.${index}.${ids.length}`;
              const from = `1555010${4_000 + index}`;
              const ingress = `${mesh.settings['INGRESS_URL']}/webhooks/upstream`;
              // The upstream posts again until it is answered.
              await eventually(
                async () => (await postRaw(ingress, inboundBody(ONE, { from, id }))) === 200,
              );
              ids.push(id);
            }
          }
        };
        await post();
        await mesh.kill('webhooks');
        await mesh.start('webhooks');
        const interrupted = server.interrupt();
        await post();
        await mesh.kill('webhooks');
        await mesh.start('webhooks');
        await post();
        await interrupted;
        await post();

        const own = (id: string) =>
          receiver.arrivals.find((arrival) => arrival.body.data['message_id'] === id);
        const all = conversations.flat();
        await eventually(() => all.every(own), COMPLETE_LIMIT_MS);
        const eventIdOf = (id: string): string => String(own(id)?.headers['webhook-id']);
        const isStored = (event_id: string): boolean =>
          server.stored.some((one) => one.event_id === event_id);
        await eventually(() => all.every((id) => isStored(eventIdOf(id))), COMPLETE_LIMIT_MS);

        await mesh.expectCommitted(COMPLETE_LIMIT_MS);
        const message_ids = new Map<string, Set<string>>();
        for (const { event_id, raw } of server.stored) {
          const { data } = JSON.parse(raw) as { data: { message_id?: string } };
          if (data.message_id === undefined) continue;
          const known = message_ids.get(data.message_id) ?? new Set();
          message_ids.set(data.message_id, known.add(event_id));
        }
        expect([...message_ids.values()].filter((ids) => ids.size !== 1)).toEqual([]);
        const { emulator: _emulator, kafka: _kafka, ...logs } = mesh.logs();
        for (const [process, text] of Object.entries(logs)) {
          expect([process, text.includes(server.credential)]).toEqual([process, false]);
        }
      },
      TEST_LIMIT_MS,
    );
  });
}
