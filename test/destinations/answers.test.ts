// Sends events to servers whose answers are changed at random. The client libraries, behind their
// guards, must neither throw outside of a send nor hold the event loop, whatever they read.
// ANSWERS=short|long sets the number of servers, ANSWERS_SEED repeats a run.
import { DESTINATION_TYPES, type DestinationType } from '@bmg/common/destinations';
import { openDestination } from '@bmg/destinations/kinds/kinds';
import { seededRandom } from '../emulator/random';
import { testEvents } from '../testkit/destination-events';
import { startScripted, type Deliver } from './scripted-servers';

const SERVERS: Readonly<Record<string, number>> = { short: 40, long: 5_000 };
const FORM = process.env.ANSWERS ?? '';
const COUNT = SERVERS[FORM] ?? 8;
const SEED = Number(process.env.ANSWERS_SEED ?? Date.now() % 1_000_000);
const AT_ONCE = 8;
const WARM_UP = 6;

const SEND_MAX_MS = 11_000;
const CHECK_MAX_MS = 11_000;
/** A harmful answer holds the loop for seconds, and a busy machine for less than this. */
const HELD_MAX_MS = 1_000;
const MEMORY_MAX_BYTES = 128 * 1024 * 1024;
/** A server leaves this long after a changed answer, so that a cut one costs no timeout. */
const LEAVES_MS = 100;

type Random = (below: number) => number;
function randomOf(seed: number): Random {
  const random = seededRandom(seed);
  return (below) => Math.floor(random() * below);
}

const bytes = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random(256)));
const EXTREMES = [0, 1, 0x7f, 0x80, 0xff].map((byte) => Buffer.alloc(8, byte));

const CHANGES: readonly ((answer: Buffer, random: Random, before: Buffer) => Buffer)[] = [
  function flipBits(answer, random) {
    for (let n = 1 + random(4); n > 0; n -= 1) {
      const at = random(answer.length);
      answer.writeUInt8(answer.readUInt8(at) ^ (1 << random(8)), at);
    }
    return answer;
  },
  function setExtreme(answer, random) {
    const extreme = EXTREMES[random(EXTREMES.length)] ?? answer;
    extreme.copy(answer, random(answer.length), 0, 1 + random(8));
    return answer;
  },
  function cut(answer, random) {
    return answer.subarray(0, random(answer.length));
  },
  function insert(answer, random) {
    const at = random(answer.length);
    const more = bytes(random, 1 + random(64));
    return Buffer.concat([answer.subarray(0, at), more, answer.subarray(at)]);
  },
  function remove(answer, random) {
    const at = random(answer.length);
    return Buffer.concat([answer.subarray(0, at), answer.subarray(at + 1 + random(16))]);
  },
  function repeat(answer, random) {
    return Buffer.concat(Array<Buffer>(2 + random(500)).fill(answer));
  },
  function splice(answer, random, before) {
    const at = random(answer.length);
    return Buffer.concat([answer.subarray(0, at), before.subarray(random(before.length + 1))]);
  },
  function grow(answer, random) {
    return Buffer.concat([answer, Buffer.alloc(random(2 * 1024 * 1024), random(256))]);
  },
];

function changed(random: Random): Deliver {
  const from = random(7);
  const change = CHANGES[random(CHANGES.length)] as (typeof CHANGES)[number];
  let before: Buffer = Buffer.alloc(0);
  return (answer, socket, step) => {
    const next = step < from ? answer : change(Buffer.from(answer), random, before);
    before = answer;
    socket.write(next);
    if (step >= from) setTimeout(() => socket.destroy(), LEAVES_MS);
  };
}

/** The time from the start to the result; a failed check is a result too. */
async function timed(work: Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work.catch(() => undefined);
  return performance.now() - started;
}

async function attack(type: DestinationType, seed: number): Promise<string[]> {
  const random = randomOf(seed);
  const server = await startScripted(type, { deliver: changed(random) });
  const destination = await openDestination(type, server.settings, { allowPrivate: true });
  const sending = timed(destination.send(testEvents('fuzz', 3)));
  const check_ms = await timed(destination.check());
  // Events that wait for others are sent at once.
  const closed = destination.close();
  const send_ms = await sending;
  server.close();
  await closed;
  const late = send_ms > SEND_MAX_MS || check_ms > CHECK_MAX_MS;
  return late ? [`seed ${seed}: send ${send_ms} ms, check ${check_ms} ms`] : [];
}

/**
 * The longest time that the event loop was held: of the wall clock and this process's CPU time the
 * lesser, because other processes and threads do not count.
 */
function watch() {
  const start = process.memoryUsage();
  let last = performance.now();
  let held_ms = 0;
  let memory_bytes = 0;
  let cpu = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(cpu);
    cpu = process.cpuUsage();
    const elapsed_ms = performance.now() - last;
    last = performance.now();
    held_ms = Math.max(held_ms, Math.min(elapsed_ms, (user + system) / 1_000));
    const now = process.memoryUsage();
    const more = now.heapUsed + now.external - start.heapUsed - start.external;
    memory_bytes = Math.max(memory_bytes, more);
  }, 10);
  return () => {
    clearInterval(timer);
    return { held_ms, memory_bytes };
  };
}

describe.each(DESTINATION_TYPES)(`%s (seed ${SEED})`, (type) => {
  test('every send ends in time and nothing is held, whatever the server answers', async () => {
    const thrown: unknown[] = [];
    const onThrown = (error: unknown): void => void thrown.push(error);
    process.on('uncaughtException', onThrown);
    process.on('unhandledRejection', onThrown);
    const late: string[] = [];
    const attackFrom = async (first: number, count: number): Promise<void> => {
      const seeds = Array.from({ length: count }, (_one, at) => first + at);
      const worker = async (): Promise<void> => {
        for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
          late.push(...(await attack(type, seed)));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
    };
    // Loads what the library loads for an answer, an error and a broken connection.
    await attackFrom(1, WARM_UP);
    const stop = watch();
    await attackFrom(SEED + 1, COUNT);
    const { held_ms, memory_bytes } = stop();
    process.off('uncaughtException', onThrown);
    process.off('unhandledRejection', onThrown);
    expect({ late, thrown }).toEqual({ late: [], thrown: [] });
    expect(held_ms).toBeLessThan(HELD_MAX_MS);
    expect(memory_bytes).toBeLessThan(MEMORY_MAX_BYTES);
  });
});
