// kill -9 at random moments during a broadcast: repeatedly of the broadcasts and messaging
// services, and once of each engine. No contact gets the message twice, and the final counters
// match what the emulator received. Almost every contact goes out: messaging settles the sends that
// a kill left in doubt. A pause outlives kills too. BMG_SEED repeats a run's decisions;
// BMG_FAULTS=long uses a larger broadcast and more kills.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineName, MeshProcessName } from '@bmg/local';
import { seededRandom } from '../emulator/random';
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/world';
import {
  arrivalsOf,
  createBroadcast,
  detailOf,
  people,
  spanOf,
  untilCompleted,
  type Detail,
} from './broadcast-support';
import { useProcesses, useReceivingPartner } from './use-processes';

const LONG = process.env['BMG_FAULTS'] === 'long';
const SEED = Number(process.env['BMG_SEED'] ?? randomInt(1, 1_000_000));
/** Contacts of one broadcast; if it completes before all kills are done, another one follows. */
const CONTACTS = LONG ? 2_000 : 200;
const SERVICE_KILLS = LONG ? 24 : 2;
const ENGINE_ROUNDS = LONG ? 3 : 1;
const BETWEEN_MS: [number, number] = [1_000, LONG ? 5_000 : 2_000];
const AWAY_MS: [number, number] = [100, 1_500];
const TEST_LIMIT_MS = LONG ? 1_800_000 : 480_000;
const COMPLETE_LIMIT_MS = LONG ? 600_000 : 180_000;
/**
 * Contacts that never went out and count as failed: at most 0.2 %, rounded up. The journal of
 * messaging proves of the others that they were not sent, so they are sent again.
 */
const UNKNOWN_SHARE_MAX = 0.002;

jest.setTimeout(TEST_LIMIT_MS);

const random = seededRandom(SEED);
const between = ([from, to]: [number, number]): number => from + Math.floor(random() * (to - from));

type Fault = { service: MeshProcessName } | { engine: EngineName };

/** Kills of both services in turn, with the engine kills at random places between them. */
function faults(): Fault[] {
  const all: Fault[] = Array.from({ length: SERVICE_KILLS }, (_unused, at) => ({
    service: at % 2 === 0 ? 'broadcasts' : 'messaging',
  }));
  for (let round = 0; round < ENGINE_ROUNDS; round += 1) {
    for (const engine of ['kafka', 'redis', 'mongo'] as const) {
      all.splice(Math.floor(random() * (all.length + 1)), 0, { engine });
    }
  }
  return all;
}

/** Shorter than in production: statuses arrive quickly here, so unknown outcomes resolve sooner. */
const BROADCASTS = {
  BROADCAST_LEASE_MS: '3000',
  BROADCAST_GRACE_MS: '8000',
  // Ten messages a second, so that work remains while each part restarts.
  BROADCAST_SHARE_PERCENT: '50',
};

process.stdout.write(`  BMG_SEED=${SEED}\n`);
const mesh = useProcesses({ broadcasts: BROADCASTS });
const partner = useReceivingPartner(mesh);

const start = (name: MeshProcessName): Promise<void> =>
  mesh.start(name, name === 'broadcasts' ? BROADCASTS : {});

async function injectFault(fault: Fault): Promise<void> {
  if ('service' in fault) {
    await mesh.kill(fault.service);
    await sleep(between(AWAY_MS));
    await start(fault.service);
  } else {
    await mesh.killEngine(fault.engine);
    await sleep(between(AWAY_MS));
    await mesh.startEngine(fault.engine);
  }
}

/** Retries, because reads fail while a part of the mesh is down. */
const readDetail = (id: number): Promise<Detail> => eventually(() => detailOf(partner, id));

/**
 * Retries under one Idempotency-Key until it is answered, so that only one broadcast is created.
 */
async function create(ids: number[]): Promise<void> {
  const contacts = people(CONTACTS, ids.length * CONTACTS);
  const key = { 'Idempotency-Key': `broadcast-${ids.length}` };
  ids.push(await eventually(() => createBroadcast(partner, ONE, contacts, {}, key)));
}

test('sends no contact a message twice and keeps the counters right through random kills', async () => {
  const ids: number[] = [];
  const killed: string[] = [];
  await create(ids);
  for (const fault of faults()) {
    if ((await readDetail(ids.at(-1) as number)).status === 'completed') await create(ids);
    await sleep(between(BETWEEN_MS));
    killed.push('service' in fault ? fault.service : fault.engine);
    await injectFault(fault);
  }
  let failed = 0;
  for (const id of ids) {
    const detail = await untilCompleted(partner, id, COMPLETE_LIMIT_MS);
    expect(detail.total).toBe(CONTACTS);
    expect(detail.sent + detail.failed).toBe(CONTACTS);
    failed += detail.failed;
  }
  const total = ids.length * CONTACTS;
  const arrivals = await arrivalsOf(mesh.emulator, ONE);
  expect(new Set(arrivals.recipients).size).toBe(arrivals.recipients.length);
  expect(people(total)).toEqual(expect.arrayContaining(arrivals.recipients));
  // Late statuses resolve the unknown outcomes: the final counters match what was sent.
  const settled = await eventually(async () => {
    const now = await Promise.all(ids.map((id) => detailOf(partner, id)));
    const sum = (of: 'sent' | 'delivered' | 'failed'): number =>
      now.reduce((all, detail) => all + detail[of], 0);
    expect([sum('sent'), sum('delivered')]).toEqual(Array(2).fill(arrivals.recipients.length));
    expect(sum('sent') + sum('failed')).toBe(total);
    return now;
  });
  expect(total - arrivals.recipients.length).toBeLessThanOrEqual(
    Math.ceil(total * UNKNOWN_SHARE_MAX),
  );
  await mesh.expectCommitted(COMPLETE_LIMIT_MS);
  for (const { code } of settled.flatMap(({ failures }) => failures)) {
    expect(code).toBe('outcome_unknown');
  }
  process.stdout.write(
    `  killed ${killed.join(', ')}: ${arrivals.recipients.length} of ${total} sent in ${spanOf(arrivals).toFixed(0)} s, each once; ` +
      `${failed} unknown at completion, ${total - arrivals.recipients.length} of them never went out\n`,
  );
});

/** Contacts of the paused broadcast: not those of the test above. */
const PAUSED_FROM = 500_000;
/** Three times as long as a worker takes to notice a change, and longer than its lease. */
const STILL_MS = 4_000;

test('a pause outlives kills: nothing is sent until it is resumed, and nothing is lost or sent twice', async () => {
  const contacts = people(CONTACTS, PAUSED_FROM);
  const id = await createBroadcast(partner, ONE, contacts);
  const change = (name: string): Promise<unknown> =>
    eventually(async () => {
      const { status } = await partner.call('POST', `/broadcasts/${id}/${name}`);
      return status === 200;
    });
  const arrived = async (): Promise<string[]> => {
    const { recipients } = await arrivalsOf(mesh.emulator, ONE);
    return recipients.filter((recipient) => contacts.includes(recipient));
  };
  const restart = async (service: MeshProcessName): Promise<void> => {
    await mesh.kill(service);
    await start(service);
  };
  await eventually(async () => (await arrived()).length >= 10, COMPLETE_LIMIT_MS);
  await change('pause');
  await restart('broadcasts');
  const { status, paused_at } = await readDetail(id);
  expect({ status, paused_at }).toEqual({ status: 'processing', paused_at: expect.any(String) });
  const before = await arrived();
  expect(before.length).toBeLessThan(CONTACTS);
  await restart('messaging');
  await sleep(STILL_MS);
  expect(await arrived()).toEqual(before);
  await change('resume');
  await restart('broadcasts');
  await eventually(async () => (await arrived()).length > before.length, COMPLETE_LIMIT_MS);
  await change('pause');
  await change('resume');
  await restart('broadcasts');
  const detail = await untilCompleted(partner, id, COMPLETE_LIMIT_MS);
  expect(detail.sent + detail.failed).toBe(CONTACTS);
  const recipients = await arrived();
  expect(new Set(recipients).size).toBe(recipients.length);
  expect(CONTACTS - recipients.length).toBeLessThanOrEqual(Math.ceil(CONTACTS * UNKNOWN_SHARE_MAX));
  await mesh.expectCommitted(COMPLETE_LIMIT_MS);
});
