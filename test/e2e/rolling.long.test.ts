// A rolling upgrade: the two replicas of a service are stopped and restarted one after the other
// while everything is in use. No request fails, no event is lost or out of order, and no message is
// sent twice. BMG_FAULTS=long takes every service, twice.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '@bmg/local';
import { ONE, TWO_A } from '../harness/world';
import { startReplicatedMesh, type ReplicatedMesh } from '../harness/replicated-mesh';
import type { ProcessPartner } from '../harness/process-mesh';
import { startPartner, type PartnerReceiver } from '../testkit/partner';
import { createBroadcast, people, untilCompleted } from './broadcast-support';
import { outOfOrder, startTraffic, untilComplete } from './faults-support';
import { expectConsistent, loadOf } from './load-support';

const LONG = process.env['BMG_FAULTS'] === 'long';
const ROUNDS = LONG ? 2 : 1;
/** Services on the path of a message or an event; the others are called in the same way. */
const WAY: ServiceName[] = ['onboarding', 'messaging', 'webhooks', 'fanout', 'gateway'];
const OTHERS: ServiceName[] = ['templates', 'broadcasts', 'number-admin', 'destinations'];
const ROLLED = LONG ? [...WAY, ...OTHERS] : WAY;
const TEST_LIMIT_MS = 300_000 * ROUNDS;
const COMPLETE_LIMIT_MS = 90_000;
/** Each stop meets work in flight, yet sixteen processes and the engines can share two cores. */
const SEND_EVERY_MS = 100;
const READ_EVERY_MS = 150;
const CUSTOMER_PAUSE_MS = 1_000;
const CONTACTS = 150 * ROUNDS;

jest.setTimeout(TEST_LIMIT_MS);

let mesh: ReplicatedMesh;
let receiver: PartnerReceiver;
let partner: ProcessPartner;

beforeAll(async () => {
  receiver = await startPartner();
  // Longer than the balancer takes to notice that a process is no longer ready.
  mesh = await startReplicatedMesh(ROLLED, { LOG_LEVEL: 'info', DRAIN_MS: '500' });
  await mesh.emulator.limits({ rate_per_sec: 'off' });
  const created = await mesh.createPartner(receiver.url);
  partner = { ...created, call: patient(created.call) };
  for (const number of [ONE, TWO_A]) await partner.register(number);
});
afterAll(async () => {
  await mesh?.stop();
  await receiver?.close();
});

/** Requests that were retried because the replica closed the kept-alive connection. */
let sent_again = 0;

/**
 * Retries as client libraries do: a kept-alive connection that closed before any response byte is
 * no answer. If the request had been cut off in flight, the retry would show up as a second send.
 */
const patient =
  (call: ProcessPartner['call']): ProcessPartner['call'] =>
  (...request) =>
    call(...request).catch((error: Error) => {
      const { code } = (error.cause ?? {}) as { code?: unknown };
      if (code !== 'UND_ERR_SOCKET' && code !== 'ECONNRESET') throw error;
      sent_again += 1;
      return call(...request);
    });

/** Reads from each service in turn until stopped, and records every answer that is not 200. */
function readAll(): { stop(): Promise<{ reads: number; failed: string[] }> } {
  const scope = { 'x-waba-id': ONE.waba_id };
  const paths = ['/clients', '/templates', '/broadcasts', '/profile', '/webhooks/failed', '/usage'];
  const failed: string[] = [];
  let reads = 0;
  let on = true;
  const reading = (async () => {
    while (on) {
      const path = paths[reads % paths.length] as string;
      reads += 1;
      await partner.call('GET', path, undefined, scope).then(
        ({ status, body }) => {
          if (status !== 200) failed.push(`${path}: ${status} ${JSON.stringify(body)}`);
        },
        (error: unknown) =>
          failed.push(`${path}: ${String(error)} ${String((error as Error).cause)}`),
      );
      await sleep(READ_EVERY_MS);
    }
  })();
  return {
    async stop() {
      on = false;
      await reading;
      return { reads, failed };
    },
  };
}

/** The log lines of all processes about a failed request. */
function explain({ error }: { error: { code: string; request_id: string } }): string[] {
  const lines = mesh.replicas.flatMap((replica) =>
    Object.values(replica.logs()).flatMap((log) => log.split('\n')),
  );
  return [error.code, ...lines.filter((line) => line.includes(error.request_id))];
}

test('replaces each process under load without a failed request or a lost event', async () => {
  const broadcast = await createBroadcast(partner, TWO_A, people(CONTACTS, 0));
  const sends = loadOf(partner, SEND_EVERY_MS);
  const reads = readAll();
  const traffic = startTraffic(mesh.ingress_url, ONE, 'U', CUSTOMER_PAUSE_MS);
  await sends.untilServed(30);

  let stops = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of ROLLED) {
      for (const replica of mesh.replicas) {
        const pid = replica.pid(name);
        const started = performance.now();
        await replica.terminate(name);
        stops += 1;
        const stopped = performance.now();
        await replica.start(name);
        expect(replica.pid(name)).not.toBe(pid);
        const [to_stop, to_start] = [stopped - started, performance.now() - stopped];
        process.stdout.write(
          `  ${name}: stopped in ${(to_stop / 1_000).toFixed(1)} s, ready after ${(to_start / 1_000).toFixed(1)} s\n`,
        );
        await sends.untilServed(5);
      }
    }
  }

  const outcomes = await sends.stop();
  const { reads: read, failed } = await reads.stop();
  await traffic.stop();
  const ids = traffic.acknowledged.flat();
  process.stdout.write(
    `  ${outcomes.length} sends, ${read} reads, ${ids.length} upstream webhooks, a broadcast of ${CONTACTS}; ` +
      `sent again by the client ${sent_again}\n`,
  );
  const unserved = outcomes.filter(({ answer }) => answer?.status !== 200);
  expect(unserved.map(({ to, answer }) => (answer ? explain(answer.body) : to))).toEqual([]);
  expect(failed).toEqual([]);
  // The upstream repeats an unanswered webhook; a stop may cut off one connection that way.
  const { 200: taken = 0, 0: unanswered = 0, ...others } = Object.fromEntries(traffic.statuses);
  expect([taken > 0, others]).toEqual([true, {}]);
  expect(unanswered + sent_again).toBeLessThanOrEqual(stops);
  await expectConsistent(mesh, outcomes);

  await untilComplete(receiver, ids, COMPLETE_LIMIT_MS);
  expect(outOfOrder(receiver, traffic.acknowledged)).toEqual([]);

  const detail = await untilCompleted(partner, broadcast, COMPLETE_LIMIT_MS);
  expect(detail).toMatchObject({ total: CONTACTS, sent: CONTACTS, failed: 0 });
});
