// Partners' queues and buckets on a third-party server with the protocols of SQS and S3, which
// checks signatures and permissions. It hangs and loses its connections in endpoints.long.test.ts.
import { GetObjectCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import type { Message, SQSClient } from '@aws-sdk/client-sqs';
import { DestinationError } from '@bmg/common/destinations';
import type { Destination, DestinationGuard } from '@bmg/destinations/kinds/destination';
import { openDestination } from '@bmg/destinations/kinds/kinds';
import { freePort } from '@bmg/local';
import { testEvents } from '../testkit/destination-events';
import {
  BUCKET,
  createQueue as createQueueAt,
  INSTALL_LIMIT_MS,
  motoMissing,
  openS3,
  openSqs,
  startMoto,
  takeMessages,
  type Moto,
} from './moto';

const START_LIMIT_MS = 60_000;
const FORBIDDEN = { resolve: async () => [{ address: '169.254.169.254', family: 4 as const }] };

const missing = motoMissing();
if (missing !== undefined) process.stderr.write(`SQS and S3: skipped, because ${missing}\n`);

(missing === undefined ? describe : describe.skip)('destinations at SQS and S3', () => {
  let moto: Moto;
  let sqs: SQSClient;
  let s3: S3Client;
  const opened: Destination[] = [];

  beforeAll(async () => {
    moto = await startMoto();
    sqs = openSqs(moto);
    s3 = await openS3(moto);
  }, INSTALL_LIMIT_MS + START_LIMIT_MS);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  });
  afterAll(() => {
    sqs?.destroy();
    s3?.destroy();
    moto?.stop();
  });

  async function open(
    kind: 'sqs' | 's3',
    settings: Record<string, unknown>,
    guard: Partial<DestinationGuard> = {},
  ): Promise<Destination> {
    const all = { ...moto.admin, ...settings };
    const destination = await openDestination(kind, all, { allowPrivate: true, ...guard });
    opened.push(destination);
    return destination;
  }

  const createQueue = (name: string): Promise<string> => createQueueAt(sqs, name);

  /** Takes the messages of a queue until none is left. */
  async function takeAll(queue_url: string): Promise<Message[]> {
    const messages: Message[] = [];
    for (;;) {
      const some = await takeMessages(sqs, queue_url);
      if (some.length === 0) return messages;
      messages.push(...some);
    }
  }
  const idOf = ({ MessageAttributes }: Message): string =>
    String(MessageAttributes?.['webhook-id']?.StringValue);

  /** The objects of the bucket by name. */
  async function objects(prefix: string): Promise<Map<string, string>> {
    const command = new ListObjectsV2Command({ Bucket: BUCKET, Prefix: prefix });
    const { Contents = [] } = await s3.send(command);
    const found = new Map<string, string>();
    for (const { Key = '' } of Contents) {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key }));
      found.set(Key, (await Body?.transformToString()) ?? '');
    }
    return found;
  }
  test('a queue gets the envelope with its id and the event', async () => {
    const queue_url = await createQueue('shape');
    const destination = await open('sqs', { queue_url });
    await destination.check();
    const events = testEvents('sqs-shape', 45);
    expect(await destination.send(events)).toEqual(events.map(() => ({ ok: true })));
    const stored = await takeAll(queue_url);
    expect(stored).toHaveLength(events.length);
    for (const { event_id, event, body } of events) {
      const message = stored.find((one) => idOf(one) === event_id);
      expect(message?.Body).toBe(body.toString());
      expect(message?.MessageAttributes?.['event']?.StringValue).toBe(event);
    }
  });

  test('a FIFO queue gets each event once, in the order of its conversation', async () => {
    const queue_url = await createQueue('ordered.fifo');
    const destination = await open('sqs', { queue_url });
    const events = testEvents('fifo', 60);
    for (const _repetition of [1, 2]) {
      expect(await destination.send(events)).toEqual(events.map(() => ({ ok: true })));
    }
    const stored = await takeAll(queue_url);
    expect(stored.map(idOf).sort()).toEqual(events.map((one) => one.event_id).sort());
    for (const key of new Set(events.map((one) => one.ordering_key))) {
      const wanted = events.filter((one) => one.ordering_key === key);
      const got = stored.filter((one) => one.Attributes?.['MessageGroupId'] === key);
      expect(got.map(idOf)).toEqual(wanted.map((one) => one.event_id));
    }
  });

  test('an object has the events of some seconds, one per line, in the folder of their hour', async () => {
    const prefix = 'shape/';
    const settings = { endpoint: moto.url, bucket: BUCKET, prefix };
    const destination = await open('s3', settings);
    const events = testEvents('s3-shape', 30);
    // The last one: events of its conversation that come after it would wait for it.
    const later = events.at(-1);
    if (later) later.received_at_ms += 3_600_000;
    for (const _repetition of [1, 2]) {
      const sent = await Promise.all(events.map((one) => destination.send([one])));
      expect(sent.flat()).toEqual(events.map(() => ({ ok: true })));
    }
    const found = await objects(prefix);
    expect([...found.keys()]).toEqual([
      expect.stringMatching(/^shape\/2026\/11\/25\/13\/evt_s3-shape_0-29-[0-9a-f]{16}\.ndjson$/),
      expect.stringMatching(/^shape\/2026\/11\/25\/14\/evt_s3-shape_29-1-[0-9a-f]{16}\.ndjson$/),
    ]);
    const [first = ''] = found.values();
    expect(first.split('\n').slice(0, -1)).toEqual(
      events.filter((one) => one !== later).map(({ body }) => body.toString()),
    );
  });

  test('a check of a bucket writes one small object, which is no list of events', async () => {
    const settings = { endpoint: moto.url, bucket: BUCKET, prefix: 'check/' };
    await (await open('s3', settings)).check();
    expect(await objects('check/')).toEqual(new Map([['check/connection-check.txt', 'ok\n']]));
  });

  const wrong = { secret_access_key: 'battery-staple' };
  // This server refuses requests to queues in a form that has no code for their client; the codes
  // of Amazon are in aws.test.ts.
  const FAULTS: [
    name: string,
    change: () => Promise<Record<string, unknown>>,
    guard: Partial<DestinationGuard>,
    settings: { sqs: string; s3: string },
    error: string | { sqs: string; s3: string },
  ][] = [
    [
      'a missing target',
      async () => ({ queue_url: `${moto.url}/123456789012/missing`, bucket: 'missing' }),
      {},
      { sqs: 'queue_url', s3: 'bucket' },
      { sqs: 'no such queue', s3: 'no such bucket' },
    ],
    [
      'a wrong secret',
      async () => wrong,
      {},
      { sqs: 'access_key_id', s3: 'secret_access_key' },
      { sqs: 'HTTP 403', s3: 'credentials refused' },
    ],
    [
      'an unknown key',
      async () => ({ access_key_id: 'unknown-key' }),
      {},
      { sqs: 'access_key_id', s3: 'secret_access_key' },
      { sqs: 'HTTP 403', s3: 'credentials refused' },
    ],
    [
      'a user without permission',
      async () => moto.restricted as unknown as Record<string, unknown>,
      {},
      { sqs: 'access_key_id', s3: 'access_key_id' },
      { sqs: 'HTTP 403', s3: 'not allowed to write to the bucket' },
    ],
    [
      'a port without a server',
      async () => {
        const url = `http://127.0.0.1:${await freePort()}`;
        return { queue_url: `${url}/123456789012/shape`, endpoint: url };
      },
      {},
      { sqs: 'queue_url', s3: 'endpoint' },
      'refused',
    ],
    [
      'a name that leads to a forbidden address',
      async () => ({
        queue_url: 'http://sqs.example.com/123456789012/shape',
        endpoint: 'http://s3.example.com',
      }),
      FORBIDDEN,
      { sqs: 'queue_url', s3: 'endpoint' },
      'url_refused',
    ],
  ];
  const CASES = FAULTS.flatMap((fault) =>
    (['sqs', 's3'] as const).map((kind) => [fault[0], kind, fault] as const),
  );
  test.each(CASES)('reports %s of %s', async (_name, kind, [, change, guard, setting, error]) => {
    const { queue_url, endpoint, bucket, ...keys } = await change();
    const settings =
      kind === 'sqs'
        ? { queue_url: queue_url ?? (await createQueue('shape')), ...keys }
        : { endpoint: endpoint ?? moto.url, bucket: bucket ?? BUCKET, ...keys };
    const destination = await open(kind, settings, guard);
    const fault = await destination.check().catch((one: unknown) => one);
    expect(fault).toBeInstanceOf(DestinationError);
    expect(fault).toMatchObject({ setting: setting[kind] });
    expect(String(fault)).not.toMatch(/battery-staple|169\.254/);
    expect(String(fault)).not.toContain(moto.admin.secret_access_key);
    const text = typeof error === 'string' ? error : error[kind];
    expect(await destination.send(testEvents('fault', 1))).toEqual([
      { ok: false, error: text, permanent: false },
    ]);
  });

  test('an event larger than a message of a queue is refused for good, and the others are stored', async () => {
    const queue_url = await createQueue('sizes');
    const destination = await open('sqs', { queue_url });
    const events = testEvents('sqs-sizes', 6);
    const [first, second, third] = events;
    if (first) first.body = Buffer.alloc(300 * 1024, 'x');
    for (const large of [second, third]) if (large) large.body = Buffer.alloc(200 * 1024, 'x');
    const [refused, ...others] = await destination.send(events);
    expect(refused).toMatchObject({ ok: false, permanent: true });
    expect(others).toEqual(others.map(() => ({ ok: true })));
    expect(await takeAll(queue_url)).toHaveLength(events.length - 1);
  });
});
