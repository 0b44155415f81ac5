// Renders the tables of CAPACITY.md; `make capacity` prints them.
import { outageOf, type Scenario } from './outage';
import {
  ASSUMED,
  limitsOf,
  sizeFor,
  type LivesMeasured,
  type Load,
  type Measured,
  type Sizing,
} from './sizing';

const RATES = [1_000, 10_000, 100_000];

/** Each send causes three statuses (sent, delivered, read) and one inbound message. */
const EVENTS_PER_SEND = 4;

const row = (cells: Array<string | number>): string => `| ${cells.join(' | ')} |`;
const head = (cells: string[]): string[] => [row(cells), `|${'---|'.repeat(cells.length)}`];
const whole = (value: number): string => Math.round(value).toLocaleString('en');
const short = (value: number): string => (value < 10 ? value.toFixed(1) : whole(value));

export function sizingPage(measured: Measured): string {
  const columns: Array<{ title: string; load: Load }> = [
    ...RATES.map((rate) => ({
      title: `${whole(rate)} sends/s`,
      load: { sends: rate, events: 0 },
    })),
    ...RATES.map((rate) => ({
      title: `${whole(rate)} events/s`,
      load: { sends: 0, events: rate },
    })),
    ...RATES.map((rate) => ({
      title: `${whole(rate)} sends/s and ${whole(rate * EVENTS_PER_SEND)} events/s`,
      load: { sends: rate, events: rate * EVENTS_PER_SEND },
    })),
  ];
  const sized = columns.map(({ title, load }) => ({ title, size: sizeFor(load, measured) }));
  const names = [...new Set(sized.flatMap(({ size }) => size.services.map(({ name }) => name)))];
  const line = (title: string, cell: (size: Sizing) => string): string =>
    row([title, ...sized.map(({ size }) => cell(size))]);
  const service = (name: string): string =>
    line(`${name}: replicas (cores used)`, ({ services }) => {
      const part = services.find((one) => one.name === name);
      return part ? `${part.replicas} (${short(part.cores)})` : '2 (0.0)';
    });
  return [
    ...head(['', ...sized.map(({ title }) => title)]),
    ...names.map(service),
    line('partitions: upstream-webhook, event, delivery', ({ partitions }) =>
      Object.values(partitions).join(', '),
    ),
    line('Kafka: brokers (limit)', ({ kafka }) => `${kafka.brokers} (${kafka.limit})`),
    line(
      'Kafka: MB/s, TB kept',
      ({ kafka }) => `${short(kafka.mb_per_s)}, ${short(kafka.disk_tb)}`,
    ),
    line(
      'MongoDB: replica sets of 4 TB (limit)',
      ({ mongo }) => `${mongo.replica_sets} (${mongo.limit})`,
    ),
    line('MongoDB: writes/s, TB kept', ({ mongo }) =>
      [whole(mongo.writes_per_s), short(mongo.disk_tb)].join(', '),
    ),
    line(
      'Redis: servers (cores used, GB)',
      ({ redis }) => `${redis.servers} (${short(redis.cores)}, ${short(redis.memory_gb)})`,
    ),
  ].join('\n');
}

/** Lives in a second, and the measured load whose costs apply. */
const LIVES: Array<[rate: number, measured: LivesMeasured]> = [
  [100, '150'],
  [1_000, 'full'],
  [10_000, 'full'],
];

export function livesPage({ cpu_s_per_1000_lives: costs }: Measured): string {
  const perCore = (cost: number | undefined): string => (cost ? whole(1_000 / cost) : '');
  return [
    ...head([
      '',
      'lives/s for one core, at 50/s',
      'at 150/s',
      'at full load',
      ...LIVES.map(([rate]) => `cores for ${whole(rate)} lives/s`),
    ]),
    ...Object.entries(costs.full).map(([name, full]) =>
      row([
        name,
        perCore(costs[50][name]),
        perCore(costs[150][name]),
        perCore(full),
        ...LIVES.map(([rate, load]) => short((rate / 1_000) * (costs[load][name] ?? 0))),
      ]),
    ),
  ].join('\n');
}

export const limitsPage = (measured: Measured): string =>
  [
    ...head(['What ends', 'at lives/s']),
    ...limitsOf(measured).map(({ name, lives_per_s }) => row([name, whole(lives_per_s)])),
  ].join('\n');

export const assumptions = (): string =>
  Object.entries(ASSUMED)
    .map(([name, value]) => `\`${name}\` ${value}`)
    .join(', ');

const OUTAGE: Omit<Scenario, 'delivery_cpu_s'> = {
  events_per_s: 5_000,
  largest_share: 0.3,
  replicas: 3,
  away_s: 3_600,
  receiver_s: 0.05,
  receiver_per_s: 5_000,
};

export function outagePage(measured: Measured): string {
  const delivery_cpu_s = (measured.cpu_s_per_1000_events['webhooks'] ?? 0) / 1_000;
  const { others_wait_ms, ...found } = outageOf({ ...OUTAGE, delivery_cpu_s });
  return [
    ...head([
      'largest backlog',
      'part only in the store',
      'time to first event, at most',
      'time to drain',
      'drain rate',
      'an event is retried for',
      'CPU wait of other partners: before, catching up',
    ]),
    row([
      whole(found.backlog_max),
      whole(found.stored_max),
      `${found.silence_max_s} s`,
      `${(found.drained_s / 60).toFixed(1)} min`,
      `${whole(found.drain_per_s)}/s`,
      `${(found.retried_s / 3_600).toFixed(1)} h`,
      `${others_wait_ms.calm.toFixed(1)} ms, ${others_wait_ms.drain.toFixed(1)} ms`,
    ]),
  ].join('\n');
}
