// The cost of sealing a bucket of the event log: CPU for each event of 1 KiB, beside the compression
// that every bucket gets. Needs no engines.
import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { createVault } from '@bmg/common/vault';

const EVENT_BYTES = 1_024;
const EVENTS = 40_000;

/** Like an envelope: half of it is the same in every event. */
const anEvent = (): Buffer =>
  Buffer.concat([
    Buffer.alloc(EVENT_BYTES / 2, '{"event":"message.received","waba_id":"900000000000001",'),
    Buffer.from(randomBytes(EVENT_BYTES / 4).toString('hex')),
  ]);

/** CPU microseconds for each event. */
function measure(buckets: Buffer[], work: (bucket: Buffer) => unknown): number {
  for (const bucket of buckets.slice(0, 20)) work(bucket);
  const before = process.cpuUsage();
  for (const bucket of buckets) work(bucket);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / EVENTS;
}

const vault = createVault(`bench:${randomBytes(32).toString('base64')}`);
for (const size of [1, 10, 100]) {
  const buckets = Array.from({ length: EVENTS / size }, () =>
    Buffer.concat(Array.from({ length: size }, anEvent)),
  );
  const compressed = buckets.map((bucket) => deflateRawSync(bucket, { level: 1 }));
  const compress_us = measure(buckets, (bucket) => deflateRawSync(bucket, { level: 1 }));
  const seal_us = measure(compressed, (bucket) => vault.sealBytes('event-log/bench', bucket));
  process.stdout.write(
    `${size} events in a bucket: compressing ${compress_us.toFixed(1)} µs, ` +
      `sealing ${seal_us.toFixed(1)} µs of CPU for each event\n`,
  );
}
