// Several replicas of webhooks and fanout share the work, and the order within a conversation holds
// while a replica starts or stops.
import { loadConfig } from '@bmg/common/config';
import { startService, type Running } from '@bmg/common/lifecycle';
import { createLogger } from '@bmg/common/telemetry';
import { freePort } from '../../deploy/local/src/ports';
import { settings as fanoutSettings } from '../../services/fanout/src/config';
import { createFanout } from '../../services/fanout/src/service';
import { settings as webhooksSettings } from '../../services/webhooks/src/config';
import { createWebhooks } from '../../services/webhooks/src/service';
import { eventually } from '../testkit/eventually';
import { JOIN_LIMIT_MS, ONE, joinMesh, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { idOf, outOfOrder, startTraffic, untilComplete, type Traffic } from './faults-support';

const COMPLETE_LIMIT_MS = 60_000;
const READY_LIMIT_MS = 30_000;
/** Events of each conversation before the next step. */
const STRETCH = 6;

jest.setTimeout(120_000);

let mesh: Mesh;
let partner: TestPartner;

beforeAll(async () => {
  mesh = await joinMesh();
  partner = await mesh.createPartner();
  await partner.register(ONE);
}, JOIN_LIMIT_MS);
afterAll(() => mesh.stop(), 60_000);

/** A second replica of each service, identical except for its ports. */
async function startReplicas(): Promise<{ ingress_url: string; running: Running[] }> {
  const ingress_port = await freePort();
  const env = {
    ...mesh.env,
    INGRESS_PORT: String(ingress_port),
    GRPC_PORT: String(await freePort()),
  };
  const running = await Promise.all([
    startService(createWebhooks(loadConfig(webhooksSettings, env)), createLogger('webhooks')),
    startService(createFanout(loadConfig(fanoutSettings, env)), createLogger('fanout')),
  ]);
  await eventually(() => running.every((one) => one.ready()), READY_LIMIT_MS);
  return { ingress_url: `http://127.0.0.1:${ingress_port}/webhooks/upstream`, running };
}

const more = (traffic: Traffic): Promise<unknown> => {
  const enough = traffic.acknowledged.map(({ length }) => length + STRETCH);
  return eventually(
    () => traffic.acknowledged.every(({ length }, index) => length >= (enough[index] ?? 0)),
    COMPLETE_LIMIT_MS,
  );
};

test('loses, reorders and repeats no event while second replicas start and stop', async () => {
  const traffic = startTraffic(mesh.ingress_url, ONE, 'R');
  await more(traffic);
  const second = await startReplicas();
  const through_second = startTraffic(second.ingress_url, ONE, 'R2');
  await more(traffic);
  await through_second.stop();
  await Promise.all(second.running.map((one) => one.stop()));
  await more(traffic);
  await traffic.stop();

  const conversations = [...traffic.acknowledged, ...through_second.acknowledged];
  const ids = conversations.flat();
  await untilComplete(partner.receiver, ids, COMPLETE_LIMIT_MS);
  expect(outOfOrder(partner.receiver, conversations)).toEqual([]);
  expect([...traffic.statuses.keys(), ...through_second.statuses.keys()]).toEqual([200, 200]);
  const arrived = partner.receiver.arrivals.map(idOf).filter((id) => ids.includes(id));
  expect(arrived).toHaveLength(ids.length);
});
