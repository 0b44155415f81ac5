// Refusals in the form in which Amazon SQS and S3 send them.
import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { DestinationError } from '@bmg/common/destinations';
import { aTestEvent } from '../../../../test/testkit/destination-events';
import { useLocalServers } from '../../../common/test/local-servers';
import { TIMES, type Destination } from './destination';
import { openDestination } from './kinds';

const EVENT = aTestEvent();
const SECRET = 'hidden-1';
const keys = { access_key_id: 'id', secret_access_key: SECRET };
const { http } = useLocalServers();
const opened: Destination[] = [];

afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())));

async function open(kind: 'sqs' | 's3', listener: RequestListener): Promise<Destination> {
  const url = await http(listener);
  const settings =
    kind === 'sqs'
      ? { queue_url: `${url}/123456789012/events.fifo`, ...keys }
      : { endpoint: url, bucket: 'events', ...keys };
  const destination = await openDestination(
    kind,
    settings,
    { allowPrivate: true },
    { ...TIMES, gather_ms: 50 },
  );
  opened.push(destination);
  return destination;
}

const json =
  (status: number, name: string, namespace = 'com.amazon.coral.service'): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ __type: `${namespace}#${name}`, message: `about ${SECRET}` }));
  };
const xml =
  (status: number, code: string): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/xml', location: 'http://10.0.0.1/' });
    response.end(`<Error><Code>${code}</Code><Message>about ${SECRET}</Message></Error>`);
  };

const REFUSED = 'credentials refused';
const REFUSALS: [kind: 'sqs' | 's3', listener: RequestListener, setting: string, error: string][] =
  [
    ['sqs', json(400, 'QueueDoesNotExist', 'com.amazonaws.sqs'), 'queue_url', 'no such queue'],
    ['sqs', json(403, 'InvalidSignatureException'), 'secret_access_key', REFUSED],
    ['sqs', json(403, 'UnrecognizedClientException'), 'secret_access_key', REFUSED],
    [
      'sqs',
      json(400, 'AccessDeniedException'),
      'access_key_id',
      'not allowed to write to the queue',
    ],
    ['sqs', json(500, 'InternalFailure'), 'queue_url', 'HTTP 500'],
    [
      'sqs',
      (_request, response) => void response.end('hello'),
      'queue_url',
      'the server broke the protocol: HTTP 200 without valid JSON',
    ],
    ['s3', xml(404, 'NoSuchBucket'), 'bucket', 'no such bucket'],
    ['s3', xml(403, 'SignatureDoesNotMatch'), 'secret_access_key', REFUSED],
    ['s3', xml(403, 'AccessDenied'), 'access_key_id', 'not allowed to write to the bucket'],
    ['s3', xml(301, 'PermanentRedirect'), 'region', 'bucket in another region'],
    ['s3', xml(307, 'TemporaryRedirect'), 'region', 'bucket in another region'],
    ['s3', xml(503, 'SlowDown'), 'endpoint', 'HTTP 503'],
  ];

// All rows of a kind at once: events for a bucket wait for others.
test.each(['sqs', 's3'] as const)('a refusal of %s names the setting to fix', async (kind) => {
  const results = REFUSALS.filter(([of]) => of === kind).map(async ([, listener]) => {
    const destination = await open(kind, listener);
    const [fault, sent] = await Promise.all([
      destination.check().catch((one: unknown) => one),
      destination.send([EVENT]),
    ]);
    expect(fault).toBeInstanceOf(DestinationError);
    expect(String(fault)).not.toContain(SECRET);
    return [(fault as DestinationError).setting, ...sent];
  });
  expect(await Promise.all(results)).toEqual(
    REFUSALS.filter(([of]) => of === kind).map(([, , setting, error]) => [
      setting,
      { ok: false, error, permanent: false },
    ]),
  );
});

test('each entry of a batch has its own result', async () => {
  const destination = await open('sqs', (_request, response) => {
    const failed = (Id: string, Code: string) => ({ Id, Code, SenderFault: true, Message: SECRET });
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(
      JSON.stringify({
        Successful: [
          { Id: '0', MessageId: 'm', MD5OfMessageBody: '99914b932bd37a50b983c5e7c90ae93b' },
        ],
        Failed: [
          failed('1', 'InvalidMessageContents'),
          failed('2', 'AWS.SimpleQueueService.NonExistentQueue'),
          failed('3', 'InternalError'),
        ],
      }),
    );
  });
  const events = [0, 1, 2, 3, 4].map((at) => ({ ...EVENT, event_id: `evt_${at}` }));
  expect(await destination.send(events)).toEqual([
    { ok: true },
    { ok: false, error: 'event refused by the queue', permanent: true },
    { ok: false, error: 'no such queue', permanent: false },
    { ok: false, error: 'refused by the queue', permanent: false },
    { ok: false, error: 'refused by the queue', permanent: false },
  ]);
});

test('a FIFO queue has a group for each conversation, hashed if its text is not allowed', async () => {
  const bodies: string[] = [];
  const destination = await open('sqs', async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(400).end('{}');
  });
  const keysOfEvents = ['800|49170', 'a b', undefined];
  await destination.send(
    keysOfEvents.map((ordering_key, at) => ({ ...EVENT, event_id: `evt_${at}`, ordering_key })),
  );
  const { Entries } = JSON.parse(bodies[0] ?? '') as {
    Entries: { MessageGroupId: string; MessageDeduplicationId: string }[];
  };
  expect(Entries.map((one) => one.MessageGroupId)).toEqual([
    '800|49170',
    expect.stringMatching(/^[0-9a-f]{64}$/),
    'evt_2',
  ]);
  expect(Entries.map((one) => one.MessageDeduplicationId)).toEqual(['evt_0', 'evt_1', 'evt_2']);
});

test.each(['sqs', 's3'] as const)(
  '%s: neither address nor credentials come from the environment',
  async (kind) => {
    const environment = { ...process.env };
    Object.assign(process.env, {
      AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
      AWS_REGION: 'eu-west-9',
      AWS_ACCESS_KEY_ID: 'of-the-process',
      AWS_SECRET_ACCESS_KEY: 'of-the-process',
      AWS_SESSION_TOKEN: 'of-the-process',
    });
    try {
      const seen: string[] = [];
      const destination = await open(kind, (request, response) => {
        seen.push(JSON.stringify(request.headers));
        response.writeHead(500).end();
      });
      await destination.send([EVENT]);
      expect(seen).toHaveLength(1);
      expect(seen[0]).toMatch(/Credential=id\/\d{8}\/us-east-1\//);
      expect(seen[0]).not.toContain('of-the-process');
    } finally {
      process.env = environment;
    }
  },
);
