// Connector processes that grow, hang, die or break the protocol: only their partner notices.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createLogger } from '@bmg/common/telemetry';
import { ConnectorReply, ConnectorRequest } from '@bmg/proto/destinations';
import { eventually } from '../../../../test/testkit/eventually';
import { LIMITS } from './connector';
import { Connectors, TIMES, type ConnectorsOptions } from './connectors';
import { frameOf } from './frames';
import { spawnConnector } from './spawn';

const log = createLogger('test');
log.level = 'silent';
const SHORT = { ...TIMES, idle_ms: 50, turn_ms: 200, watch_every_ms: 10, restart_min_ms: 200 };
const ONE = { events: 1, bytes: 10 };

/** A connector in a few lines of JavaScript: `answer` writes the reply that a test gave it. */
const program = (body: string, reply: ConnectorReply): string[] => [
  '-e',
  `const reply = Buffer.from(${JSON.stringify(
    frameOf(ConnectorReply.encode(reply).finish()).toString('base64'),
  )}, 'base64');
   const replies = new (require('node:net').Socket)({ fd: 3 });
   const answer = () => replies.write(reply);
   process.stdin.on('end', () => process.exit(0));
   ${body}`,
];
const STORED = ConnectorReply.fromPartial({ call: 1, outcomes: [{ is_stored: true }] });
const SOUND = "process.stdin.once('data', answer).resume();";
const onCall = (body: string): string => `process.stdin.once('data', () => { ${body} });`;
const DIES = onCall('process.exit(7);');

const children: ChildProcess[] = [];
const start = (body: string, reply = STORED): ChildProcess => {
  const child = spawn(process.execPath, program(body, reply), {
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  });
  children.push(child);
  return child;
};

let connectors: Connectors;
/** The program of each connector that starts, in their order; the last one repeats. */
async function use(bodies: string[], options: Partial<ConnectorsOptions> = {}): Promise<void> {
  let at = 0;
  connectors = new Connectors({
    spawn: () => start(bodies[Math.min(at++, bodies.length - 1)] ?? SOUND),
    log,
    times: SHORT,
    ...options,
  });
  await connectors.start();
}
afterEach(async () => {
  await connectors.stop();
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const send = (partner_id: string, size = ONE): Promise<string> =>
  connectors.run(partner_id, { send: ConnectorRequest.fromPartial({}).send }, size).then(
    ({ outcomes }) => (outcomes[0]?.is_stored ? 'stored' : 'refused'),
    (error: Error) => error.message,
  );

test.each([
  [
    'grows',
    onCall('const kept = []; setInterval(() => kept.push(Buffer.alloc(1e7, 1)), 5);'),
    'the connector used more than 128 MiB of memory',
  ],
  [
    'burns CPU without a reply',
    'replies.write(Buffer.alloc(4), () => { for (;;); });',
    'the connector stopped responding',
  ],
  ['dies', DIES, 'the connector ended with code 7'],
  [
    'announces a reply of 2 GiB',
    onCall('replies.write(Buffer.from([127, 255, 255, 255]));'),
    'the connector broke the protocol of its replies',
  ],
  [
    'replies with garbage',
    onCall('replies.write(Buffer.from([0, 0, 0, 4, 255, 255, 255, 255]));'),
    'the connector broke the protocol of its replies',
  ],
])('fails the calls of a partner whose connector %s, and no other', async (_name, body, reason) => {
  await use([body, SOUND], {
    limits: { ...LIMITS, memory_bytes: 128 * 1024 * 1024, silence_ms: 500 },
  });
  const [hostile, neighbour] = await Promise.all([send('hostile'), send('neighbour')]);
  expect([hostile, neighbour]).toEqual([reason, 'stored']);
});

test('starts a dead connector again after a wait that doubles', async () => {
  await use([DIES, DIES, SOUND]);
  const reason = 'the connector ended with code 7';
  expect(await send('p')).toBe(reason);
  // No process is started for this one.
  expect(await send('p')).toBe(reason);
  expect(children).toHaveLength(1);
  await eventually(
    async () => ((await send('p')) === reason && children.length === 2) || undefined,
  );
  const died_at = performance.now();
  await eventually(async () => (await send('p')) === 'stored' || undefined);
  expect(performance.now() - died_at).toBeGreaterThan(350);
  expect(children).toHaveLength(3);
});

test('ends the connector that was idle longest when another partner needs a place', async () => {
  await use([SOUND], { connectors_max: 2, times: TIMES });
  expect(await send('a')).toBe('stored');
  expect(await send('b')).toBe('stored');
  expect(await send('c')).toBe('stored');
  expect(children.map(({ exitCode }) => exitCode)).toEqual([0, null, null]);
});

test('gives each partner its turn while more are busy than connectors may run', async () => {
  // Replies to every call after 50 ms, with the number of the call.
  const SLOW = `
    let call = 0;
    process.stdin.on('data', () => setTimeout(() => {
      call += 1;
      replies.write(Buffer.from([0, 0, 0, 6, 8, call, 18, 2, 8, 1]));
    }, 50));`;
  await use([SLOW], { connectors_max: 1 });
  const CALLS_MAX = 60;
  const calls = [0, 0, 0];
  const busy = async (partner: string, at: number): Promise<void> => {
    for (let call = 1; call <= CALLS_MAX && calls.includes(0); call += 1) {
      if ((await send(partner, { events: 500, bytes: 1 })) === 'stored') calls[at] = call;
    }
  };
  await Promise.all(['a', 'b', 'c'].map(busy));
  expect(Math.max(...calls)).toBeLessThan(CALLS_MAX);
});

test('refuses calls beyond the bytes that may wait for one partner, and takes those of others', async () => {
  await use(['process.stdin.resume();', 'process.stdin.resume();', SOUND]);
  const large = { events: 1, bytes: 6 * 1024 * 1024 };
  void send('hostile', large);
  void send('hostile', large);
  expect(await send('hostile', large)).toBe('too many events waiting');
  void send('second', large);
  expect(await send('neighbour')).toBe('stored');
});

test('ends a connector that has been idle, and all of them at a stop', async () => {
  await use([SOUND]);
  expect(await send('a')).toBe('stored');
  await eventually(() => children[0]?.exitCode === 0 || undefined);
  expect(await send('b')).toBe('stored');
  await connectors.stop();
  expect(children[1]?.exitCode).toBe(0);
  expect(await send('b')).toBe('destinations are shutting down');
});

test('serves a call that arrives while an idle connector ends', async () => {
  // The first one answers, and takes its time to end.
  const slow = `${SOUND} process.stdin.removeAllListeners('end'); process.stdin.on('end', () => setTimeout(() => process.exit(0), 500));`;
  await use([slow, SOUND]);
  expect(await send('a')).toBe('stored');
  await eventually(() => children[0]?.stdin?.writableEnded || undefined);
  expect(children[0]?.exitCode).toBeNull();
  expect(await send('a')).toBe('stored');
  expect(children).toHaveLength(2);
});

test('a real connector names the setting at fault, is bounded, and ends with the service', async () => {
  let real = start('');
  connectors = new Connectors({
    spawn: () => {
      children.push((real = spawnConnector(false)));
      return real;
    },
    log,
  });
  await connectors.start();
  const settings = { brokers: ['10.0.0.1:9092'], topic: 'events', password: 'hidden-1' };
  const { check } = ConnectorRequest.fromPartial({
    check: {
      partner_id: 'p',
      destination: { type: 'kafka', settings },
      event: { event_id: 'evt_1', event: 'webhook.test', body: Buffer.from('{}') },
    },
  });
  expect(await connectors.run('p', { check }, ONE)).toMatchObject({
    outcomes: [],
    fault: { setting: 'brokers', problem: expect.stringContaining('public internet') as string },
  });

  const of = (name: string): string => readFileSync(`/proc/${real.pid}/${name}`, 'utf8');
  expect(
    of('environ')
      .split('\0')
      .filter((one) => !/^(PWD|OLDPWD|_|SH[A-Z]+)=|^$/.test(one)),
  ).toEqual([]);
  expect(of('cmdline')).not.toContain('hidden-1');
  expect(of('limits')).toMatch(/Max data size +\d{6,9} +\d{6,9} +bytes/);
  expect(of('limits')).toMatch(/Max core file size +0 +0 +bytes/);

  // What the end of a killed service does to the pipe.
  real.stdin?.destroy();
  await eventually(() => real.exitCode === 0 || undefined);
});
