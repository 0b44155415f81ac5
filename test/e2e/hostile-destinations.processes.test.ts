// Partners' servers that attack the client that connects to them, beside a partner whose webhooks,
// events and reads must not notice. Nothing but the hostile partner's own connector may suffer.
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ONE, TWO_A } from '../harness/world';
import type { ProcessPartner } from '../harness/process-mesh';
import { HOSTILE_SERVERS, listen, type HostileServer } from '../destinations/hostile-servers';
import { eventually } from '../testkit/eventually';
import { podMemories, residentMib } from '../testkit/resident-memory';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { idOf } from './receivers';
import { useProcesses, useReceivingPartner } from './use-processes';

const IS_LONG = process.env['BMG_ATTACKS'] === 'long';
const RUNS = 3;
/**
 * The shortest run of the neighbour's traffic; a longer one lasts as long as the hostile server
 * holds its client.
 */
const RUN_MS = IS_LONG ? 5_000 : 1_500;
const EVERY_MS = 50;
const HOSTILE_MAX_MS = 15_000;
const P99_MAX_MS = 250;
const SLOWDOWN_MAX = 2;
const CONNECTOR_MAX_MIB = 192;
/** What a process can grow by between two looks of the service. */
const OVERSHOOT_MIB = 64;
const WATCHED = ['webhooks', 'gateway', 'destinations'] as const;

const podMib = podMemories();

const mesh = useProcesses();
const neighbour = useReceivingPartner(mesh);
let hostile: ProcessPartner;
let calm: Figures;

beforeAll(async () => {
  hostile = await mesh.createPartner();
  await hostile.register(TWO_A);
  // The code of all paths is compiled before it is measured.
  await measure(sleep(RUN_MS));
  calm = await measure(sleep(RUN_MS));
});

/** The slowest hundredth of each kind of the neighbour's traffic, in milliseconds. */
interface Figures {
  ingress: number;
  push: number;
  pull: number;
}

const p99 = (durations: number[]): number =>
  durations.sort((a, b) => a - b)[Math.ceil(durations.length * 0.99) - 1] ?? Infinity;

let count = 0;

/**
 * Posts webhooks for the neighbour and reads its events until `until` resolves; none may be lost.
 */
async function measure(until: Promise<unknown>): Promise<Figures> {
  const of: Record<keyof Figures, number[]> = { ingress: [], push: [], pull: [] };
  const posted = new Map<string, number>();
  const work: Promise<void>[] = [];
  let is_over = false;
  const over = Promise.all([until, sleep(RUN_MS)]).then(() => (is_over = true));
  while (!is_over) {
    const id = `wamid.CALM.${process.pid}.${(count += 1)}`;
    const started = performance.now();
    posted.set(id, Date.now());
    const body = inboundBody(ONE, { from: String(15_550_700_000 + (count % 50)), id });
    work.push(
      postRaw(mesh.ingress_url, body).then((status) => {
        expect(status).toBe(200);
        of.ingress.push(performance.now() - started);
      }),
      neighbour.call('GET', '/events?limit=1').then(({ status }) => {
        expect(status).toBe(200);
        of.pull.push(performance.now() - started);
      }),
    );
    await sleep(EVERY_MS);
  }
  await Promise.all([...work, over]);
  const arrivalOf = (id: string): number | undefined =>
    neighbour.receiver.arrivals.find((one) => idOf(one) === id)?.at;
  await eventually(() => [...posted.keys()].every((id) => arrivalOf(id) !== undefined));
  for (const [id, at] of posted) of.push.push((arrivalOf(id) as number) - at);
  return { ingress: p99(of.ingress), push: p99(of.push), pull: p99(of.pull) };
}

const childrenOf = (pid: number): number[] => {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
};
const memoryOf = (pid: number): number => {
  try {
    return residentMib(pid);
  } catch {
    return 0;
  }
};

/** The highest memory of each process while `work` runs, in MiB, as the system shows it. */
async function peaksDuring<T>(work: Promise<T>): Promise<[T, Record<string, number>]> {
  const peaks: Record<string, number> = {};
  const note = (name: string, mib: number): void => {
    peaks[name] = Math.max(peaks[name] ?? 0, Math.round(mib));
  };
  let is_over = false;
  const result = work.finally(() => (is_over = true));
  while (!is_over) {
    const connectors = childrenOf(mesh.pid('destinations')).map(memoryOf);
    for (const mib of connectors) note('connector', mib);
    for (const name of WATCHED) {
      const own = memoryOf(mesh.pid(name));
      note(name, name === 'destinations' ? connectors.reduce((a, b) => a + b, own) : own);
    }
    await sleep(100);
  }
  return [await result, peaks];
}

/** A hostile partner adds its server as an endpoint; the answer says why it was refused. */
async function attack(server: HostileServer, port: number): Promise<string> {
  const { status, body } = await hostile.call('POST', '/webhook-endpoints', {
    destination: server.destinationAt(port),
    events: ['message.*'],
  });
  expect([status, body.error?.code]).toEqual([400, 'INVALID_FIELD']);
  return body.error.message as string;
}

test.each(HOSTILE_SERVERS.map((server) => [server.name, server] as const))(
  'a %s harms no other partner',
  async (_name, server) => {
    const pids = Object.fromEntries(WATCHED.map((name) => [name, mesh.pid(name)]));
    const { port, close } = await listen(server);
    const runs: Figures[] = [];
    try {
      for (let run = 0; run < RUNS; run += 1) {
        const started = performance.now();
        const attacking = attack(server, port);
        const [figures, peaks] = await peaksDuring(measure(attacking));
        runs.push(figures);
        expect(await attacking).toMatch(/^destination/);
        expect(performance.now() - started).toBeLessThan(HOSTILE_MAX_MS);
        for (const name of WATCHED)
          expect([name, peaks[name]]).toEqual([name, atMost(podMib(name))]);
        expect(peaks['connector'] ?? 0).toBeLessThan(CONNECTOR_MAX_MIB + OVERSHOOT_MIB);
      }
    } finally {
      close();
    }
    // No process of ours has ended.
    expect(Object.fromEntries(WATCHED.map((name) => [name, mesh.pid(name)]))).toEqual(pids);
    for (const kind of ['ingress', 'push', 'pull'] as const) {
      const worst = runs.map((one) => one[kind]).sort((a, b) => a - b);
      // A stall of the machine hits one run of the short form.
      const judged = (IS_LONG ? worst.at(-1) : worst[1]) as number;
      expect([kind, judged]).toEqual([
        kind,
        atMost(Math.max(P99_MAX_MS, SLOWDOWN_MAX * calm[kind])),
      ]);
    }
  },
);

const atMost = (limit: number): unknown => ({
  asymmetricMatch: (value: unknown) => typeof value === 'number' && value <= limit,
  toString: () => 'atMost',
  toAsymmetricMatcher: () => `at most ${limit}`,
});
