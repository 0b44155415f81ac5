// Webhooks and a destination's server killed while events go to it, to a webhook URL and to
// endpoints, one of which fails: nothing is lost, every repetition has the same ID, the order of
// each conversation holds, and no log has the credential.
import { setTimeout as sleep } from 'node:timers/promises';
import { outOfOrder, registered, startTraffic, untilComplete } from '../e2e/faults-support';
import { createReceivers } from '../e2e/receivers';
import {
  joinProcessMesh,
  ONE,
  type ProcessMesh,
  type ProcessPartner,
} from '../harness/process-mesh';
import { eventually } from '../testkit/eventually';
import type { DestinationServer } from './server';

const MESH_LIMIT_MS = 180_000;
const TEST_LIMIT_MS = 420_000;
/** Events that failed while the server was down have their third attempt within it. */
const COMPLETE_LIMIT_MS = 180_000;
/** Between two kills. */
const STRETCH_MS = 1_000;
const PAUSE_MS = 500;

export function describeKills(
  name: string,
  startServer: () => Promise<DestinationServer>,
  start_limit_ms: number,
): void {
  describe(`kills with an endpoint at ${name}`, () => {
    let mesh: ProcessMesh;
    let server: DestinationServer;
    let partner: ProcessPartner;
    const receivers = createReceivers();

    beforeAll(async () => {
      [mesh, server] = await Promise.all([joinProcessMesh(), startServer()]);
      partner = await registered(mesh, await receivers.add(), ONE);
    }, MESH_LIMIT_MS + start_limit_ms);
    afterAll(async () => {
      await mesh?.stop();
      await receivers.close();
      await server?.stop();
    });

    test(
      'loses nothing, keeps the order, and repeats with the same IDs',
      async () => {
        const { status, body } = await partner.call('POST', '/webhook-endpoints', {
          destination: { type: server.type, ...server.settings },
          events: ['message.*'],
        });
        expect([status, body.error]).toEqual([201, undefined]);
        await receivers.addEndpoint(partner);
        const { receiver: broken } = await receivers.addEndpoint(partner, {
          events: ['message.*'],
        });
        let is_broken = true;
        broken.behave((_arrival, response) => {
          response.writeHead(is_broken ? 503 : 200).end();
        });
        const ingress = `${mesh.settings['INGRESS_URL']}/webhooks/upstream`;
        const traffic = startTraffic(ingress, ONE, `K${name}`, PAUSE_MS);
        const killWebhooks = async (): Promise<void> => {
          await sleep(STRETCH_MS);
          await mesh.kill('webhooks');
          await mesh.start('webhooks');
        };
        await killWebhooks();
        const interrupted = server.interrupt();
        await killWebhooks();
        await sleep(STRETCH_MS);
        await interrupted;
        is_broken = false;
        await sleep(STRETCH_MS);
        await traffic.stop();

        const ids = traffic.acknowledged.flat();
        const event_ids = new Map(ids.map((id) => [id, new Set<string>()]));
        for (const receiver of receivers.all) {
          await untilComplete(receiver, ids, COMPLETE_LIMIT_MS);
          if (receiver !== broken) expect(outOfOrder(receiver, traffic.acknowledged)).toEqual([]);
        }
        const stored = () =>
          server.stored.map(({ event_id, raw }) => {
            const { data } = JSON.parse(raw) as { data: { message_id?: string } };
            return [String(data.message_id), event_id] as const;
          });
        await eventually(() => {
          const found = new Set(stored().map(([id]) => id));
          return ids.every((id) => found.has(id));
        }, COMPLETE_LIMIT_MS);

        await mesh.expectCommitted(COMPLETE_LIMIT_MS);
        const delivered = receivers.all.flatMap(({ arrivals }) =>
          arrivals.map(
            ({ headers, body: { data } }) =>
              [String(data['message_id']), String(headers['webhook-id'])] as const,
          ),
        );
        for (const [id, event_id] of [...delivered, ...stored()]) event_ids.get(id)?.add(event_id);
        expect([...event_ids].filter(([, known]) => known.size !== 1)).toEqual([]);
        const { emulator: _emulator, kafka: _kafka, ...logs } = mesh.logs();
        for (const [process, text] of Object.entries(logs)) {
          expect([process, text.includes(server.credential)]).toEqual([process, false]);
        }
      },
      TEST_LIMIT_MS,
    );
  });
}
