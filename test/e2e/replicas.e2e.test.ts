// Several replicas of webhooks and fanout share the work, and the order within a conversation holds
// while a replica starts or stops.
import { setTimeout } from 'node:timers/promises';
import { createBus, topics } from '@bmg/common/bus';
import { loadConfig } from '@bmg/common/config';
import { startService, type Running } from '@bmg/common/lifecycle';
import { createRpcClient } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { EventLogDefinition } from '@bmg/proto/webhooks';
import { freePort } from '../../deploy/local/src/ports';
import { settings as fanoutSettings } from '../../services/fanout/src/config';
import { createFanout } from '../../services/fanout/src/service';
import { settings as webhooksSettings } from '../../services/webhooks/src/config';
import { createWebhooks } from '../../services/webhooks/src/service';
import { eventually } from '../testkit/eventually';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { ONE } from '../harness/shared-mesh';
import { outOfOrder, startTraffic, untilComplete, type Traffic } from './faults-support';
import { idOf } from './receivers';
import { useMesh, usePartner } from './use-mesh';

const COMPLETE_LIMIT_MS = 60_000;
/** Events of each conversation before the next step. */
const STRETCH = 6;
/** A slow machine starts the replicas late, and has more events by then than a page holds. */
const PAGE = 1_000;

const mesh = useMesh();
const partner = usePartner(mesh);

/** A second replica of each service, identical except for its ports. */
async function startReplicas() {
  const ingress_port = await freePort();
  const grpc_port = await freePort();
  const env = {
    ...mesh.env,
    INGRESS_PORT: String(ingress_port),
    GRPC_PORT: String(grpc_port),
  };
  const running: Running[] = await Promise.all([
    startService(createWebhooks(loadConfig(webhooksSettings, env)), createLogger('webhooks')),
    startService(createFanout(loadConfig(fanoutSettings, env)), createLogger('fanout')),
  ]);
  await eventually(() => running.every((one) => one.ready()));
  const address = `127.0.0.1:${grpc_port}`;
  return { ingress_url: `http://127.0.0.1:${ingress_port}/webhooks/upstream`, address, running };
}

/** The partner's whole log, as the replica of webhooks at this address returns it. */
async function logOf(address: string, last: number): Promise<Array<[number, string]>> {
  const client = createRpcClient(EventLogDefinition, address);
  try {
    const read = (after: number) =>
      client.rpc.listEvents(
        { partner_id: partner.partner_id, after, limit: PAGE, wait: 0 },
        mesh.call(),
      );
    const told: Array<[number, string]> = [];
    for (let after = 0; after < last;) {
      const { events, next } = await read(after);
      if (next === after) break;
      told.push(...events.map(({ seq, event_id }): [number, string] => [seq, event_id]));
      after = next;
    }
    return told.filter(([seq]) => seq <= last);
  } finally {
    await client.stop();
  }
}

/** Message IDs in the order of the log. */
async function logged(): Promise<string[]> {
  const found: string[] = [];
  for (let after = 0, has_more = true; has_more;) {
    const { body } = await partner.call('GET', `/events?after=${after}&limit=${PAGE}`);
    found.push(...body.events.map((one: any) => one.envelope.data.message_id as string));
    ({ next: after, has_more } = body);
  }
  return found;
}

const more = (traffic: Traffic): Promise<unknown> => {
  const enough = traffic.acknowledged.map(({ length }) => length + STRETCH);
  return eventually(() =>
    traffic.acknowledged.every(({ length }, index) => length >= (enough[index] ?? 0)),
  );
};

test('loses, reorders and repeats no event, delivered or logged, while second replicas start and stop', async () => {
  const traffic = startTraffic(mesh.ingress_url, ONE, 'R');
  await more(traffic);
  const second = await startReplicas();
  const through_second = startTraffic(second.ingress_url, ONE, 'R2');
  await more(traffic);
  await through_second.stop();
  const { newest } = (await partner.call('GET', '/events?limit=1')).body;
  const first = mesh.env['WEBHOOKS_ADDR'] as string;
  const told = await logOf(first, newest);
  expect(told.map(([seq]) => seq)).toEqual(Array.from({ length: newest }, (_one, at) => at + 1));
  expect(await logOf(second.address, newest)).toEqual(told);
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
  // An event is in the log a moment after its first attempt.
  const log = await eventually(async () => {
    const all = await logged();
    return ids.every((id) => all.includes(id)) && all;
  });
  expect(log.filter((id) => ids.includes(id))).toHaveLength(ids.length);
  for (const conversation of conversations) {
    expect(log.filter((id) => conversation.includes(id))).toEqual(conversation);
  }
});

test('what an ingress up to 2.10.0 published comes before what a later one publishes', async () => {
  const older = createBus(
    loadConfig(fanoutSettings, mesh.env).config,
    'older',
    createLogger('older'),
  );
  await older.start(new AbortController().signal);
  const from = '15550100766';
  const ids = Array.from({ length: 1_500 }, (_, at) => `wamid.OLDER${at}`);
  // Fan-out looks for older ones at most every 200 ms.
  await setTimeout(250);
  await older.publish(
    ids.map((id) => ({
      topic: topics.webhookByNumber,
      key: ONE.phone_number_id,
      message: {
        body: Buffer.from(inboundBody(ONE, { from, id })),
        received_at_ms: Date.now(),
        reconciled: false,
      },
    })),
  );
  const newer = 'wamid.NEWER';
  expect(await postRaw(mesh.ingress_url, inboundBody(ONE, { from, id: newer }))).toBe(200);
  await untilComplete(partner.receiver, [...ids, newer], COMPLETE_LIMIT_MS);
  expect(outOfOrder(partner.receiver, [[...ids, newer]])).toEqual([]);
  await older.stop();
});
