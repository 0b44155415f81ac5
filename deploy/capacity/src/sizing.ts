// Calculates replicas, partitions and engines for a rate, from the measured cost of one unit of
// work (measured.json) and the assumptions below. Both are printed with the result.
export interface Measured {
  source: string;
  cpu_s_per_1000_sends: Record<string, number>;
  cpu_s_per_1000_events: Record<string, number>;
  /** A life is a send with the events of its three statuses; below full load one costs more. */
  cpu_s_per_1000_lives: Record<LivesMeasured, Record<string, number>>;
  bytes: Record<
    | 'upstream_webhook'
    | 'event'
    | 'delivery'
    | 'message_record'
    | 'counted_message'
    | 'stored_delivery'
    | 'logged_event'
    | 'seen_event'
    | 'message_statuses',
    number
  >;
  memory_mib: Record<string, number>;
}

/** The loads of `bench life`: lives begun in a second, or as many as the machine takes. */
export type LivesMeasured = '50' | '150' | 'full';

/** The rate to size for, per second. */
export interface Load {
  sends: number;
  events: number;
}

export const ASSUMED = {
  /** A Node process uses one core; above this utilisation of it, latency grows. */
  utilisation: 0.6,
  /** One spare replica covers a loss or a restart; every service has at least two. */
  spare_replicas: 1,
  replicas_min: 2,
  /** Partitions come in dozens; 1.5 for each consumer leaves room when consumers are added. */
  partitions_step: 12,
  partitions_per_reader: 1.5,
  /** A broker's mean network throughput, and its disk. */
  broker_mb_per_s: 150,
  broker_disk_tb: 8,
  kafka_replicas: 3,
  /** Small documents that a replica set writes per second in bulk, w: majority; and its disk. */
  set_writes_per_s: 20_000,
  set_disk_tb: 4,
  /** Documents written for each send and for each status (message record, usage). */
  writes_per_send: 1,
  writes_per_event: 4,
  /** Attempts in flight in one replica (DELIVERY_TOTAL), and a receiver's mean response time. */
  attempts_in_flight: 1_024,
  receiver_s: 0.1,
  /** Retention, as set on the indexes and topics. */
  record_days: 90,
  counted_days: 40,
  stream_days: 7,
  delivery_days: 3,
  /** How long Redis keeps the id of a delivered event, and which statuses a message has had. */
  seen_days: 1,
  statuses_days: 2,
  /** A message has three statuses and an answer. */
  messages_per_event: 0.25,
  /** What the upstream takes from one number: in coexistence, and from another one. */
  coexistence_per_s: 20,
  number_per_s: 80,
  /** The memory of a Redis server. */
  redis_gb: 32,
  /** EVENT_LOG_DAYS. */
  log_days: 30,
  /** For indexes and the free space that the storage engine needs. */
  index_factor: 1.6,
} as const;

const ENGINES = new Set(['kafka', 'mongo', 'redis']);
const DAY_S = 86_400;
const TB = 1e12;
const GB = 1e9;
const MB = 1e6;

export type Sizing = ReturnType<typeof sizeFor>;

export function sizeFor(load: Load, measured: Measured) {
  const cores = coresOf(load, measured);
  // Only consumers need partitions: the work of a service for sends does not count.
  const reading = coresOf({ sends: 0, events: load.events }, measured);
  const readers = (name: string): number => replicasFor(name, reading[name] ?? 0, load);
  const services = Object.entries(cores)
    .filter(([name]) => !ENGINES.has(name))
    .map(([name, used]) => ({ name, cores: used, replicas: replicasFor(name, used, load) }));
  return {
    services,
    partitions: {
      'upstream-webhook': partitionsFor(readers('fanout')),
      event: partitionsFor(Math.max(readers('onboarding'), readers('messaging'))),
      delivery: partitionsFor(readers('webhooks')),
    },
    kafka: kafkaFor(load, measured),
    mongo: mongoFor(load, measured),
    redis: redisFor(load, measured, cores['redis'] ?? 0),
  };
}

function coresOf(load: Load, measured: Measured): Record<string, number> {
  const cores: Record<string, number> = {};
  for (const [rate, costs] of [
    [load.sends, measured.cpu_s_per_1000_sends],
    [load.events, measured.cpu_s_per_1000_events],
  ] as const) {
    for (const [name, cost] of Object.entries(costs)) {
      cores[name] = (cores[name] ?? 0) + (rate / 1_000) * cost;
    }
  }
  return cores;
}

function replicasFor(name: string, cores: number, load: Load): number {
  const computing = Math.ceil(cores / ASSUMED.utilisation);
  // A webhooks replica is also limited by its attempts in flight.
  const waiting =
    name === 'webhooks'
      ? Math.ceil((load.events * ASSUMED.receiver_s) / ASSUMED.attempts_in_flight)
      : 0;
  return Math.max(ASSUMED.replicas_min, Math.max(computing, waiting) + ASSUMED.spare_replicas);
}

/** Consumers beyond the number of partitions would be idle. */
function partitionsFor(readers: number): number {
  const { partitions_step: step, partitions_per_reader } = ASSUMED;
  return Math.max(step, Math.ceil((readers * partitions_per_reader) / step) * step);
}

function kafkaFor({ events }: Load, { bytes }: Measured) {
  const { kafka_replicas, stream_days, delivery_days } = ASSUMED;
  const kept_long = bytes.upstream_webhook + bytes.event;
  const mb_per_s = (events * (kept_long + bytes.delivery) * kafka_replicas) / MB;
  const kept = kept_long * stream_days + bytes.delivery * delivery_days;
  const disk_tb = (events * kept * DAY_S * kafka_replicas) / TB;
  const by_network = Math.ceil(mb_per_s / ASSUMED.broker_mb_per_s);
  const by_disk = Math.ceil(disk_tb / ASSUMED.broker_disk_tb);
  return {
    mb_per_s,
    disk_tb,
    brokers: Math.max(kafka_replicas, by_network, by_disk),
    limit: by_disk >= by_network ? 'disk' : 'network',
  };
}

function mongoFor({ sends, events }: Load, { bytes }: Measured) {
  const writes_per_s = sends * ASSUMED.writes_per_send + events * ASSUMED.writes_per_event;
  const kept =
    bytes.message_record * ASSUMED.record_days + bytes.counted_message * ASSUMED.counted_days;
  const logged = bytes.logged_event * ASSUMED.log_days;
  const disk_tb = ((sends * kept + events * logged) * DAY_S * ASSUMED.index_factor) / TB;
  const by_writes = Math.ceil(writes_per_s / ASSUMED.set_writes_per_s);
  const by_disk = Math.ceil(disk_tb / ASSUMED.set_disk_tb);
  return {
    writes_per_s,
    disk_tb,
    replica_sets: Math.max(1, by_writes, by_disk),
    limit: by_disk >= by_writes ? 'disk' : 'writes',
  };
}

/** A Redis server uses one core and its own memory, so a higher load needs several servers. */
function redisFor({ events }: Load, { bytes }: Measured, cores: number) {
  const { seen_days, statuses_days, messages_per_event } = ASSUMED;
  const kept =
    bytes.seen_event * seen_days + bytes.message_statuses * messages_per_event * statuses_days;
  const memory_gb = (events * kept * DAY_S) / GB;
  const servers = Math.max(cores / ASSUMED.utilisation, memory_gb / ASSUMED.redis_gb);
  return { cores, memory_gb, servers: Math.max(1, Math.ceil(servers)) };
}

const EVENTS_PER_LIFE = 3;

/**
 * The limits of an installation as it is created, in lives per second: what ends first when the
 * rate grows comes first.
 */
export function limitsOf(measured: Measured) {
  const life: Load = { sends: 1, events: EVENTS_PER_LIFE };
  const mongo = mongoFor(life, measured);
  const { full } = measured.cpu_s_per_1000_lives;
  const perCore = (name: string): number => (ASSUMED.utilisation * 1_000) / (full[name] ?? 0);
  const redis_gb = redisFor(life, measured, 0).memory_gb;
  const { partitions_step, coexistence_per_s, number_per_s } = ASSUMED;
  const limits = [
    { name: 'a number in coexistence (the upstream)', lives_per_s: coexistence_per_s },
    { name: 'another number (the upstream)', lives_per_s: number_per_s },
    { name: 'disk of a MongoDB replica set', lives_per_s: ASSUMED.set_disk_tb / mongo.disk_tb },
    {
      name: 'writes of a MongoDB replica set',
      lives_per_s: ASSUMED.set_writes_per_s / mongo.writes_per_s,
    },
    { name: 'memory of a Redis server', lives_per_s: ASSUMED.redis_gb / redis_gb },
    { name: 'the core of a Redis server', lives_per_s: perCore('redis') },
    ...['fanout', 'webhooks'].map((name) => ({
      name: `${partitions_step} partitions, each with a process of ${name}`,
      lives_per_s: partitions_step * perCore(name),
    })),
  ];
  return limits.sort((one, other) => one.lives_per_s - other.lives_per_s);
}
