// make profile WHAT=life: counts what one event, one send and one life take of each process, at 20
// a second and at full load: wake-ups, writes to sockets, requests to Kafka, commands and documents
// of MongoDB and the time until their answers, commands of Redis, gRPC calls, log lines, spans,
// collections.
import { setTimeout as sleep } from 'node:timers/promises';
import { webhook } from './events-load';
import { OURS, SETTLE_MS } from './events-mesh';
import { prepareLives, type LifeLoad } from './life-load';
import { costOf, openBench } from './processes';

const SHORT = process.env['BENCH_SHORT'] === '1';
const PARTNERS = Number(process.env['PROFILE_PARTNERS'] ?? 10);
const SLOW_RATE = 20;
const IN_FLIGHT = 64;
const MEASURE_S = SHORT ? 5 : 15;
const WARM_UP_S = SHORT ? 5 : 30;
const EVENTS = SHORT ? 1_000 : 20_000;
const QUIET_MS = SHORT ? 2_000 : 5_000;
const LEAST = 0.01;

type Counts = Record<string, number>;
/** Counts of each process, by name. */
type Snapshot = Map<string, Counts>;

interface Column {
  name: string;
  of: Map<string, Counts>;
}

async function snapshot({ bench, pids }: LifeLoad): Promise<Snapshot> {
  const parts = Object.entries(pids).filter(([name]) => OURS(name));
  return new Map(
    await Promise.all(
      parts.map(async ([name, pid]) => {
        const counts = (await bench.parts.get(name)?.counts()) ?? {};
        const { wakes, cpu_s } = costOf(pid);
        return [name, { 'wake-ups': wakes, 'CPU, ms': cpu_s * 1_000, ...counts }] as const;
      }),
    ),
  );
}

/** The counts of each process during `work`, divided by the number of items that it returns. */
async function column(load: LifeLoad, name: string, work: () => Promise<number>): Promise<Column> {
  await sleep(QUIET_MS);
  const before = await snapshot(load);
  const things = await work();
  const after = await snapshot(load);
  const of = new Map(
    [...after].map(([part, counts]) => [
      part,
      Object.fromEntries(
        Object.entries(counts).map(([what, value]) => [
          what,
          (value - (before.get(part)?.[what] ?? 0)) / things,
        ]),
      ),
    ]),
  );
  console.error(`  ${name}: ${things.toFixed(0)}`);
  return { name, of };
}

function print(columns: readonly Column[]): void {
  const widths = columns.map(({ name }) => Math.max(9, name.length));
  const parts = [...(columns[0]?.of.keys() ?? [])];
  for (const part of parts) {
    const names = [...new Set(columns.flatMap(({ of }) => Object.keys(of.get(part) ?? {})))];
    const heads = columns.map(({ name }, index) => name.padStart(widths[index] as number));
    console.log(`\n${part.padEnd(52)} ${heads.join('  ')}`);
    for (const what of grouped(names)) {
      const values = columns.map(({ of }) => of.get(part)?.[what] ?? 0);
      if (values.every((value) => value < LEAST)) continue;
      const cells = values.map((value, index) =>
        (value < LEAST ? '' : value.toFixed(2)).padStart(widths[index] as number),
      );
      console.log(`  ${what.slice(0, 50).padEnd(50)} ${cells.join('  ')}`);
    }
  }
}

/** Sums first, then their parts. */
const grouped = (names: readonly string[]): string[] => [
  ...names.filter((name) => !name.startsWith(' ')),
  ...names.filter((name) => name.startsWith(' ')).sort(),
];

async function main(): Promise<void> {
  process.env['BENCH_COUNTERS'] = '1';
  const bench = await openBench();
  try {
    const load = await prepareLives(bench, PARTNERS);
    await sleep(SETTLE_MS);
    await load.closed(IN_FLIGHT, WARM_UP_S);
    const event = (): ReturnType<typeof webhook> => webhook(load.places);
    const posted = async (work: Promise<unknown[]>): Promise<number> => {
      const { length } = await work;
      await sleep(SETTLE_MS);
      return length;
    };
    const lived = async (work: ReturnType<LifeLoad['open']>): Promise<number> =>
      (await work).lives.count;
    const sent = async (work: ReturnType<LifeLoad['openSends']>): Promise<number> =>
      (await work).count;
    const columns: Column[] = [
      await column(load, 'idle, 1 s', () => sleep(MEASURE_S * 1_000, MEASURE_S)),
      await column(load, 'event 20/s', () => posted(load.load.open(event, SLOW_RATE, MEASURE_S))),
      await column(load, 'event full', () => {
        const all = Array.from({ length: EVENTS }, event);
        return posted(load.load.closed(all, IN_FLIGHT)());
      }),
      await column(load, 'send 20/s', () => sent(load.openSends(SLOW_RATE, MEASURE_S))),
      await column(load, 'send full', () => sent(load.closedSends(IN_FLIGHT, MEASURE_S))),
      await column(load, 'life 20/s', () => lived(load.open(SLOW_RATE, MEASURE_S))),
      await column(load, 'life full', () => lived(load.closed(IN_FLIGHT, MEASURE_S))),
    ];
    print(columns);
    await load.close();
  } finally {
    await bench.stop();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
