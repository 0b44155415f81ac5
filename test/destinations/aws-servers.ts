// A server with the protocols of SQS and S3, and readers of a FIFO queue and of a bucket. It keeps
// its data in memory, so that its connections are cut instead of killing it.
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { freePort } from '@bmg/local';
import { forward, type Forwarder } from '../testkit/forwarder';
import { BUCKET, createQueue, openS3, openSqs, REGION, startMoto, takeMessages } from './moto';
import { WRONG, type DestinationServer, type StoredEvent } from './server';

const PREFIX = 'gateway/';
const READ_EVERY_MS = 300;
const CUT_MS = 500;

/** A server whose address leads through a link that can be cut. */
async function startReached() {
  const moto = await startMoto();
  const port = await freePort();
  const target = new URL(moto.url).host;
  let link: Forwarder = await forward(port, target);
  return {
    moto,
    url: `http://127.0.0.1:${port}`,
    /** What both servers share. */
    shared: {
      keeps_repetitions: false,
      hang: () => moto.signal('SIGSTOP'),
      goOn: () => moto.signal('SIGCONT'),
      async interrupt(): Promise<void> {
        await link.close();
        await new Promise((resolve) => setTimeout(resolve, CUT_MS));
        link = await forward(port, target);
      },
    },
    async close(): Promise<void> {
      await link.close();
      moto.stop();
    },
  };
}

/** Looks again and again until it is stopped; a failed look is repeated. */
function readAgain(look: () => Promise<void>): () => Promise<void> {
  let stopped = false;
  const work = (async () => {
    while (!stopped) {
      await look().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, READ_EVERY_MS));
    }
  })();
  return async () => {
    stopped = true;
    await work;
  };
}

export async function startSqsServer(): Promise<DestinationServer> {
  const { moto, url, shared, close } = await startReached();
  const sqs = openSqs(moto);
  const queue_url = await createQueue(sqs, 'partner-events.fifo');
  const stored: StoredEvent[] = [];
  const stopReading = readAgain(async () => {
    for (const message of await takeMessages(sqs, queue_url)) {
      const { Body = '', MessageAttributes, Attributes } = message;
      const event_id = String(MessageAttributes?.['webhook-id']?.StringValue);
      stored.push({ event_id, raw: Body, key: Attributes?.MessageGroupId });
    }
  });
  const { pathname } = new URL(queue_url);
  return {
    ...shared,
    type: 'sqs',
    settings: { queue_url: `${url}${pathname}`, region: REGION, ...moto.admin },
    credential: moto.admin.secret_access_key,
    // This server answers a wrong signature with HTTP 403 only.
    faults: [['a wrong secret', { secret_access_key: WRONG }, 'access_key_id']],
    stored,
    async stop() {
      await stopReading();
      sqs.destroy();
      await close();
    },
  };
}

export async function startS3Server(): Promise<DestinationServer> {
  const { moto, url, shared, close } = await startReached();
  const s3 = await openS3(moto);
  const stored: StoredEvent[] = [];
  const known = new Set<string>();
  const stopReading = readAgain(async () => {
    const command = new ListObjectsV2Command({ Bucket: BUCKET, Prefix: PREFIX });
    const { Contents = [] } = await s3.send(command);
    const added = Contents.filter(({ Key = '' }) => Key.endsWith('.ndjson') && !known.has(Key));
    added.sort((a, b) => Number(a.LastModified) - Number(b.LastModified));
    for (const { Key = '' } of added) {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key }));
      const lines = ((await Body?.transformToString()) ?? '').split('\n').slice(0, -1);
      known.add(Key);
      for (const raw of lines) {
        // An envelope, or a CloudEvent.
        const { id, meta } = JSON.parse(raw) as { id?: string; meta?: { event_id: string } };
        stored.push({ event_id: meta?.event_id ?? String(id), raw, key: undefined });
      }
    }
  });
  return {
    ...shared,
    type: 's3',
    settings: { endpoint: url, bucket: BUCKET, prefix: PREFIX, region: REGION, ...moto.admin },
    credential: moto.admin.secret_access_key,
    faults: [['a wrong secret', { secret_access_key: WRONG }, 'secret_access_key']],
    stored,
    async stop() {
      await stopReading();
      s3.destroy();
      await close();
    },
  };
}
