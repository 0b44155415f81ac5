// How much of everything a rate needs, out of what one unit of work was measured to cost. Plain arithmetic:
// what it rests on is in measured.json and in the assumptions below, and both are printed with the result.
export interface Measured {
  source: string;
  cpu_s_per_1000_sends: Record<string, number>;
  cpu_s_per_1000_events: Record<string, number>;
  bytes: Record<
    | 'upstream_webhook'
    | 'event'
    | 'delivery'
    | 'message_record'
    | 'counted_message'
    | 'stored_delivery',
    number
  >;
  memory_mib: Record<string, number>;
}

/** What is asked for, in a second. */
export interface Load {
  sends: number;
  events: number;
}

export const ASSUMED = {
  /** A process of Node computes on one core; above this share of it, delays grow. */
  utilisation: 0.6,
  /** One more than is needed, so that one may be lost or restarted; two at the least. */
  spare_replicas: 1,
  replicas_min: 2,
  /** Partitions come in dozens, and consumers move: half as many again as there are readers. */
  partitions_step: 12,
  partitions_per_reader: 1.5,
  /** A broker's network and disk, to be used in the mean; and its disk. */
  broker_mb_per_s: 150,
  broker_disk_tb: 8,
  kafka_replicas: 3,
  /** Small documents that a shard writes in bulk with w: majority, in a second; and its disk. */
  shard_writes_per_s: 20_000,
  shard_disk_tb: 4,
  /** Documents written for a send, and for each of its statuses (its record; its place in the usage). */
  writes_per_send: 1,
  writes_per_event: 4,
  /** Attempts under way in one replica (DELIVERY_TOTAL), and how long a receiver takes in the mean. */
  attempts_under_way: 1_024,
  receiver_s: 0.1,
  /** As the indexes and the topics have it. */
  record_days: 90,
  counted_days: 40,
  stream_days: 7,
  delivery_days: 3,
  /** Indexes, and what a storage engine wants free. */
  index_factor: 1.6,
} as const;

const ENGINES = new Set(['kafka', 'mongo', 'redis']);
const DAY_S = 86_400;
const TB = 1e12;
const MB = 1e6;

export interface Part {
  name: string;
  cores: number;
  replicas: number;
}

export interface Sizing {
  load: Load;
  services: Part[];
  partitions: Record<'upstream-webhook' | 'event' | 'delivery', number>;
  kafka: { mb_per_s: number; disk_tb: number; brokers: number; limit: 'network' | 'disk' };
  mongo: { writes_per_s: number; disk_tb: number; shards: number; limit: 'writes' | 'disk' };
  redis: { cores: number; servers: number };
}

export function sizeFor(load: Load, measured: Measured): Sizing {
  const cores = coresOf(load, measured);
  // Partitions are for readers: what a service does for sends needs none.
  const reading = coresOf({ sends: 0, events: load.events }, measured);
  const readers = (name: string): number => replicasFor(name, reading[name] ?? 0, load);
  const services = Object.entries(cores)
    .filter(([name]) => !ENGINES.has(name))
    .map(([name, used]) => ({ name, cores: used, replicas: replicasFor(name, used, load) }));
  return {
    load,
    services,
    partitions: {
      'upstream-webhook': partitionsFor(readers('fanout')),
      event: partitionsFor(Math.max(readers('onboarding'), readers('messaging'))),
      delivery: partitionsFor(readers('webhooks')),
    },
    kafka: kafkaFor(load, measured),
    mongo: mongoFor(load, measured),
    redis: redisFor(cores['redis'] ?? 0),
  };
}

export function coresOf(load: Load, measured: Measured): Record<string, number> {
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
  // A replica of webhooks is also limited by how many receivers it can wait for.
  const waiting =
    name === 'webhooks'
      ? Math.ceil((load.events * ASSUMED.receiver_s) / ASSUMED.attempts_under_way)
      : 0;
  return Math.max(ASSUMED.replicas_min, Math.max(computing, waiting) + ASSUMED.spare_replicas);
}

/** Members beyond the number of partitions would have nothing to do. */
function partitionsFor(readers: number): number {
  const { partitions_step: step, partitions_per_reader } = ASSUMED;
  return Math.max(step, Math.ceil((readers * partitions_per_reader) / step) * step);
}

function kafkaFor({ events }: Load, { bytes }: Measured): Sizing['kafka'] {
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

function mongoFor({ sends, events }: Load, { bytes }: Measured): Sizing['mongo'] {
  const writes_per_s = sends * ASSUMED.writes_per_send + events * ASSUMED.writes_per_event;
  const kept =
    bytes.message_record * ASSUMED.record_days + bytes.counted_message * ASSUMED.counted_days;
  const disk_tb = (sends * kept * DAY_S * ASSUMED.index_factor) / TB;
  const by_writes = Math.ceil(writes_per_s / ASSUMED.shard_writes_per_s);
  const by_disk = Math.ceil(disk_tb / ASSUMED.shard_disk_tb);
  return {
    writes_per_s,
    disk_tb,
    shards: Math.max(1, by_writes, by_disk),
    limit: by_disk >= by_writes ? 'disk' : 'writes',
  };
}

/** Redis computes on one core: past that, it has to be several servers. */
function redisFor(cores: number): Sizing['redis'] {
  return { cores, servers: Math.max(1, Math.ceil(cores / ASSUMED.utilisation)) };
}
