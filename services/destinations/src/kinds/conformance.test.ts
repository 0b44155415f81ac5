// What every kind of destination promises, whatever its server does. The servers are scripted; real
// ones are in test/destinations.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DESTINATION_TYPES, type DestinationType } from '@bmg/common/destinations';
import {
  amqpMethod,
  DELIVER,
  startScripted,
  type Deliver,
  type ScriptedServer,
  type ScriptedServerOptions,
} from '../../../../test/destinations/scripted-servers';
import { sendAll, testEvents } from '../../../../test/testkit/destination-events';
import { makeCertificates } from '../../../../test/testkit/secure-engines';
import { TIMES, type Destination, type DestinationGuard, type Sent } from './destination';
import { openDestination } from './kinds';

/** What tests with working servers shorten. */
const SHORT = { ...TIMES, close_ms: 50, gather_ms: 50 };
const TWENTIETH = Object.fromEntries(
  Object.entries(TIMES).map(([name, ms]) => [name, ms / 20]),
) as typeof TIMES;
const open: { close(): unknown }[] = [];
let tls: { ca: string; key: string; cert: string };
let other_authority: string;
beforeAll(() => {
  tls = certificates();
  other_authority = certificates().ca;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function serve(
  type: DestinationType,
  options: ScriptedServerOptions = {},
  guard: Partial<DestinationGuard> = {},
  times = SHORT,
): Promise<{ server: ScriptedServer; destination: Destination }> {
  const server = await startScripted(type, options);
  const with_guard = { allowPrivate: true, ...guard };
  const destination = await openDestination(type, server.settings, with_guard, times);
  // The clients' connections first: they wait for the server.
  open.push(server, destination);
  return { server, destination };
}

const one = async (destination: Destination): Promise<string> => {
  const [sent] = (await destination.send(testEvents('one', 1))) as [Sent];
  return sent.ok ? 'ok' : sent.error;
};

interface Kind {
  /** Answers before the confirm of the first event, and it. */
  steps: number;
  /** The setting of the server's address. */
  address: string;
  request_events: number;
  refusal: string;
  /** The error of a server whose bytes are no protocol. */
  garbage: RegExp;
}
const KINDS: Record<DestinationType, Kind> = {
  kafka: {
    steps: 3,
    address: 'brokers',
    request_events: 500,
    refusal: 'no such topic',
    garbage: /^the server broke the protocol: answered with a frame above 16 KiB$/,
  },
  amqp: {
    steps: 6,
    address: 'host',
    request_events: 1,
    refusal: 'refused by the server',
    garbage: /^the server broke the protocol: sent a frame of an unknown type$/,
  },
  sqs: {
    steps: 1,
    address: 'queue_url',
    request_events: 10,
    refusal: 'no such queue',
    garbage: /^the server broke the protocol: answered without valid HTTP$/,
  },
  s3: {
    steps: 1,
    address: 'endpoint',
    request_events: 1_000,
    refusal: 'no such bucket',
    garbage: /^the server broke the protocol: answered without valid HTTP$/,
  },
};
const EACH = DESTINATION_TYPES.map((type) => ({ type, ...KINDS[type] }));

/** Answers with these bytes without end instead. */
const flood =
  (head: string): Deliver =>
  (_answer, socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(Buffer.alloc(64 * 1024, '<')), 1);
    socket.on('close', () => clearInterval(timer));
  };
const HTTP_HEAD = 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n';
const onStep =
  (step: number, fault: (socket: Socket) => void): Deliver =>
  (answer, socket, at) => {
    if (at >= step) fault(socket);
    else DELIVER(answer, socket, at);
  };

describe.each(EACH)('$type', ({ type, steps, address, request_events, refusal, garbage }) => {
  const each_step = Array.from({ length: steps }, (_one, step) => step);

  test('checks and stores events, in the order of each conversation and within its batches', async () => {
    const { server, destination } = await serve(type);
    await destination.check();
    const events = testEvents('all', 1_050);
    expect((await destination.send(events)).filter(({ ok }) => !ok)).toEqual([]);
    const { ids, requests } = server.stored;
    expect([...ids].sort()).toEqual(events.map(({ event_id }) => event_id).sort());
    for (const key of new Set(events.map((event) => event.ordering_key))) {
      const of_key = events.filter((event) => event.ordering_key === key).map((e) => e.event_id);
      expect(ids.filter((id) => of_key.includes(id))).toEqual(of_key);
    }
    expect(Math.max(...requests)).toBeLessThanOrEqual(request_events);
  });

  test('reports a refusal as a failure that may pass', async () => {
    const { server, destination } = await serve(type, { refuse: true });
    const [sent] = await destination.send(testEvents('one', 1));
    expect(sent).toEqual({ ok: false, error: refusal, permanent: false });
    expect(server.stored.ids).toEqual([]);
  });

  test('sends the event through a server that answers byte by byte', async () => {
    const { destination } = await serve(type, {
      deliver: (answer, socket) => {
        for (const [at, byte] of answer.entries()) {
          setTimeout(() => socket.write(Buffer.of(byte)), at);
        }
      },
    });
    expect(await one(destination)).toBe('ok');
  });

  test('fails if the server resets the connection, at each step, and then sends on a new one', async () => {
    const results = each_step.map(async (step) => {
      let isBroken = true;
      const reset = onStep(step, (socket) => socket.resetAndDestroy());
      const { destination } = await serve(type, {
        deliver: (...args) => (isBroken ? reset : DELIVER)(...args),
      });
      const broken = await one(destination);
      isBroken = false;
      return [broken, await one(destination)];
    });
    expect(await Promise.all(results)).toEqual(each_step.map(() => ['reset', 'ok']));
  });

  test.each<[name: string, deliver: Deliver]>([
    ['answers with garbage', (_answer, socket) => void socket.write(Buffer.alloc(600, 0x2a))],
    ['answers with garbage without end', flood('')],
  ])('names the reason if the server %s', async (_name, deliver) => {
    const { destination } = await serve(type, { deliver });
    expect(await one(destination)).toMatch(garbage);
    const error = await destination.check().catch((fault: unknown) => fault);
    expect(error).toMatchObject({ setting: address });
    expect(String(error)).toMatch(/names a server that broke the protocol: /);
  });

  test('names the reason if the server has another authority', async () => {
    const { destination } = await serve(type, { tls }, { ca: other_authority });
    expect(await one(destination)).toBe('tls_untrusted');
    const error = await destination.check().catch((fault: unknown) => fault);
    expect(error).toMatchObject({ setting: address });
    expect(String(error)).toMatch(/certificate/);
  });

  test('sends over TLS to a server of the trusted authority', async () => {
    const { destination } = await serve(type, { tls }, { ca: tls.ca });
    expect(await one(destination)).toBe('ok');
  });

  test('loses nothing that is confirmed while the server dies and starts again', async () => {
    const { server, destination } = await serve(type);
    const { port, stored } = server;
    const confirmed = await sendAll(destination, testEvents('crash', 200), async (count) => {
      if (count !== 100) return;
      server.close();
      open.push(await startScripted(type, { port, stored }));
    });
    expect(confirmed.size).toBe(200);
    expect([...confirmed].filter((id) => !stored.ids.includes(id))).toEqual([]);
  });
});

test('every kind fails in time if the server hangs, at each step', async () => {
  const cases = EACH.flatMap(({ type, steps }) =>
    Array.from({ length: steps }, (_one, step) => ({ type, step })),
  );
  const results = cases.map(async ({ type, step }) => {
    const { destination } = await serve(
      type,
      { deliver: onStep(step, () => undefined) },
      {},
      TWENTIETH,
    );
    const started = performance.now();
    const error = await one(destination);
    return { type, step, error, in_time: performance.now() - started < TIMES.open_ms };
  });
  expect(await Promise.all(results)).toEqual(
    cases.map((each) => ({ ...each, error: 'timeout', in_time: true })),
  );
});

test.each<[name: string, more: Buffer]>([
  ['a close', amqpMethod(0, [10, 50], Buffer.from([2, 29, 0, 0, 0, 0, 0]))],
  ['an answer on a channel that is not open', amqpMethod(1, [20, 11], Buffer.alloc(4))],
])('amqp: survives %s together with the end of the handshake', async (_name, more) => {
  const OPEN_OK_STEP = 2;
  const { destination } = await serve('amqp', {
    deliver: (answer, socket, step) =>
      void socket.write(step === OPEN_OK_STEP ? Buffer.concat([answer, more]) : answer),
  });
  expect(await one(destination)).toBe(
    'the server broke the protocol: sent more than the handshake',
  );
});

test.each(['sqs', 's3'] as const)('%s: cuts off an answer without end', async (type) => {
  const { destination } = await serve(type, { deliver: flood(HTTP_HEAD) });
  expect(await one(destination)).toMatch(/^the server broke the protocol: answered with more than/);
});

function certificates(): { ca: string; key: string; cert: string } {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-certificates-'));
  makeCertificates(dir);
  const [ca = '', key = '', cert = ''] = ['ca.pem', 'key.pem', 'cert.pem'].map((name) =>
    readFileSync(join(dir, name), 'utf8'),
  );
  rmSync(dir, { recursive: true });
  return { ca, key, cert };
}
