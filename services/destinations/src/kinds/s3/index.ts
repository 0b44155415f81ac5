// A partner's bucket with the protocol of S3: the events of some seconds are one object of lines
// (NDJSON), in a folder for each hour.
import { createHash } from 'node:crypto';
import type { S3Settings } from '@bmg/common/destinations';
import { checkUrl } from '@bmg/common/outbound';
import type { S3Client } from '@aws-sdk/client-s3';
import { awsCheckError, awsSendError, createAwsConnection, type AwsFaults } from '../aws';
import {
  SENT,
  type Destination,
  type DestinationEvent,
  type DestinationGuard,
  type Times,
} from '../destination';
import { createGatherer } from '../gatherer';

const OBJECT_EVENTS_MAX = 1_000;
const OBJECT_BYTES_MAX = 16 * 1024 * 1024;
const CONNECTIONS = 2;
const DIGEST_LENGTH = 16;
const HOUR_LENGTH = 13;
const CHECK_OBJECT = 'connection-check.txt';

const NO_BUCKET = ['no such bucket', 'bucket', 'does not exist: create it'] as const;
const NOT_ALLOWED = [
  'not allowed to write to the bucket',
  'access_key_id',
  'lacks a permission: allow s3:PutObject below the prefix',
] as const;
const ELSEWHERE = [
  'bucket in another region',
  'region',
  'is not that of the bucket: check region and endpoint',
] as const;
const FAULTS: AwsFaults = {
  NoSuchBucket: NO_BUCKET,
  AccessDenied: NOT_ALLOWED,
  AllAccessDisabled: NOT_ALLOWED,
  PermanentRedirect: ELSEWHERE,
  TemporaryRedirect: ELSEWHERE,
  IllegalLocationConstraintException: ELSEWHERE,
};

/** Opens no connection yet. */
export async function openS3(
  settings: S3Settings,
  guard: DestinationGuard,
  times: Times,
): Promise<Destination> {
  const { bucket, prefix, addressing } = settings;
  const { allowPrivate } = guard;
  const endpoint = checkUrl(settings.endpoint, { field: 'endpoint', allowPrivate });
  const s3 = await import('@aws-sdk/client-s3');
  const connection = createAwsConnection(endpoint, settings, guard, {
    ...times,
    connections: CONNECTIONS,
    answers: 'xml',
  });
  const client: S3Client = new s3.S3Client({
    ...connection.config,
    forcePathStyle: addressing === 'path',
    followRegionRedirects: false,
    expectContinueHeader: false,
    disableMultiregionAccessPoints: true,
    useArnRegion: false,
    disableS3ExpressSessionAuth: true,
  });
  const put = async (Key: string, Body: Buffer, ContentType: string, abortSignal: AbortSignal) => {
    const command = new s3.PutObjectCommand({ Bucket: bucket, Key, Body, ContentType });
    await client.send(command, { abortSignal });
  };
  const gatherer = createGatherer({
    limits: { events: OBJECT_EVENTS_MAX, bytes: OBJECT_BYTES_MAX, event_bytes: OBJECT_BYTES_MAX },
    wait_ms: times.gather_ms,
    times,
    atomic: true,
    groupOf: hourOf,
    async write(events, signal) {
      try {
        await put(objectName(prefix, events), lines(events), 'application/x-ndjson', signal);
        return events.map(() => SENT);
      } catch (error) {
        throw awsSendError(error, FAULTS);
      }
    },
  });

  return {
    send: gatherer.send,
    async check() {
      const abortSignal = AbortSignal.timeout(times.check_ms);
      try {
        // A write needs no right beyond that of the events.
        await put(`${prefix}${CHECK_OBJECT}`, Buffer.from('ok\n'), 'text/plain', abortSignal);
      } catch (error) {
        throw awsCheckError(error, FAULTS, 'endpoint');
      }
    },
    async close() {
      await gatherer.drain();
      await connection.close();
    },
  };
}

/** `2026-11-25T13` of the time of receipt, so that a repetition goes to the same folder. */
const hourOf = ({ received_at_ms }: DestinationEvent): string =>
  new Date(received_at_ms).toISOString().slice(0, HOUR_LENGTH);

/**
 * `<prefix>2026/11/25/13/<first id>-<count>-<digest of all ids>.ndjson`: a repetition of the same
 * events overwrites its object, and other events never overwrite it.
 */
export function objectName(prefix: string, events: readonly DestinationEvent[]): string {
  const [first] = events as [DestinationEvent];
  const ids = events.map(({ event_id }) => event_id).join('\n');
  const digest = createHash('sha256').update(ids).digest('hex').slice(0, DIGEST_LENGTH);
  const folder = hourOf(first).replace(/[-T]/g, '/');
  const id = first.event_id.replace(/[^A-Za-z0-9_-]/g, '_');
  return `${prefix}${folder}/${id}-${events.length}-${digest}.ndjson`;
}

const NEW_LINE = Buffer.from('\n');

/** In JSON a line end is only space between tokens, so that a blank can take its place. */
const lines = (events: readonly DestinationEvent[]): Buffer =>
  Buffer.concat(
    events.flatMap(({ body }) => [
      body.includes('\n') || body.includes('\r')
        ? Buffer.from(body.toString('utf8').replace(/[\r\n]/g, ' '))
        : body,
      NEW_LINE,
    ]),
  );
