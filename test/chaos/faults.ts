// The faults of a chaos run, one row each: the effect on the target, and how it ends.
import { rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  pidOf,
  SERVICE_NAMES,
  type EngineName,
  type MeshProcessName,
  type ProcessName,
} from '@bmg/local';
import type { FaultInput } from '../emulator/faults';
import { seededRandom, type Random } from '../emulator/random';
import { between, pick, type FaultKind, type Planned } from './schedule';
import { fillDisk } from './disks';
import { CALLS } from './links';
import type { Stage } from './stage';

export interface Fault extends FaultKind {
  /** Starts the fault and returns how to end it. */
  start(stage: Stage, target: string, random: Random): Promise<() => Promise<void>>;
  /** Why the fault cannot run here. */
  missing?(stage: Stage): string | undefined;
}

export const ENGINES: readonly EngineName[] = ['kafka', 'mongo', 'redis'];
const MINUTE_MS = 60_000;
const PAUSE_MS = [1_000, 30_000] as const;
const LINK_MS = [2_000, 20_000] as const;
const UPSTREAM_MS = [4_000, 20_000] as const;
const UPSTREAM_SHARE = 0.4;
/** At most this much of Redis's writes is lost. */
const REDIS_LOST_MAX_BYTES = 200_000;

const LINKS = Object.entries(CALLS).flatMap(([caller, servers]) =>
  servers.map((server) => `${caller}>${server}`),
);

function pidOfTarget({ mesh }: Stage, target: string): number {
  const pid = pidOf(target as ProcessName, mesh.dir);
  if (pid === undefined) throw new Error(`${target} does not run`);
  return pid;
}

/** An engine may have stopped by itself, for example on a full disk. */
async function restartEngine({ mesh }: Stage, name: EngineName): Promise<void> {
  if (pidOf(name, mesh.dir) !== undefined) await mesh.killEngine(name);
  await mesh.startEngine(name);
}

const link = (
  name: string,
  weight: number,
  fault: (random: Random) => Parameters<Stage['links'][string]['set']>[0],
): Fault => ({
  name,
  weight,
  targets: LINKS,
  lasts_ms: LINK_MS,
  async start({ links }, target, random) {
    links[target]?.set(fault(random));
    return async () => links[target]?.set(undefined);
  },
});

const upstream = (name: string, effect: (random: Random) => Partial<FaultInput>): Fault => ({
  name,
  weight: 1,
  targets: ['upstream'],
  lasts_ms: UPSTREAM_MS,
  async start({ mesh }, _target, random) {
    const { id } = await mesh.emulator.fault({
      match: { method: 'POST', path: '/messages$' },
      times: -1,
      probability: UPSTREAM_SHARE,
      seed: Math.floor(random() * 1_000_000),
      ...effect(random),
    });
    return async () => void (await mesh.emulator.clearFaults(id));
  },
});

const receiver = (
  name: string,
  misbehave: (response: ServerResponse, random: Random) => void,
): Fault => ({
  name,
  weight: 0.6,
  targets: ['receiver'],
  lasts_ms: [5_000, 40_000],
  async start({ faulty }, _target, random) {
    faulty.behave((response) => misbehave(response, random));
    return async () => faulty.behave(undefined);
  },
});

const answerWith =
  (status: number) =>
  (response: ServerResponse): void =>
    void response.writeHead(status).end();

const restart = (
  name: string,
  how: 'kill' | 'terminate',
  weight: number,
  lasts_ms: Fault['lasts_ms'],
): Fault => ({
  name,
  weight,
  targets: SERVICE_NAMES,
  lasts_ms,
  async start({ mesh }, target) {
    await mesh[how](target as MeshProcessName);
    return () => mesh.start(target as MeshProcessName);
  },
});

export const FAULTS: readonly Fault[] = [
  restart('kill -9', 'kill', 4, [100, 3_000]),
  restart('rolling restart', 'terminate', 1.5, [100, 1_000]),
  {
    name: 'stop and continue',
    weight: 3,
    targets: [...SERVICE_NAMES, ...ENGINES],
    lasts_ms: PAUSE_MS,
    async start(stage, target) {
      const pid = pidOfTarget(stage, target);
      process.kill(pid, 'SIGSTOP');
      return async () => void process.kill(pid, 'SIGCONT');
    },
  },
  {
    name: 'kill engine',
    weight: 2,
    targets: ENGINES,
    lasts_ms: [300, 8_000],
    async start({ mesh }, target) {
      await mesh.killEngine(target as EngineName);
      return () => mesh.startEngine(target as EngineName);
    },
  },
  {
    // Redis answers a write before it is on the disk: a crash of the machine loses the last ones.
    name: 'redis loses its last writes',
    weight: 0.8,
    targets: ['redis'],
    lasts_ms: [300, 3_000],
    async start({ mesh }, _target, random) {
      await mesh.killEngine('redis');
      const file = join(mesh.dir, 'data/redis/appendonly.aof');
      const { size } = statSync(file);
      truncateSync(file, Math.max(0, size - between(random, [1, REDIS_LOST_MAX_BYTES])));
      return () => mesh.startEngine('redis');
    },
  },
  link('slow link', 2, (random) => ({
    kind: 'delay',
    delay_ms: pick(random, [50, 200, 1_000, 3_000]),
  })),
  link('throttled link', 1, (random) => ({
    kind: 'throttle',
    bytes_per_sec: pick(random, [1_000, 10_000, 100_000]),
  })),
  link('link resets', 2, () => ({ kind: 'reset' })),
  link('black hole', 3, () => ({ kind: 'black_hole' })),
  {
    name: 'clock step',
    weight: 2,
    targets: SERVICE_NAMES,
    lasts_ms: [8_000, 40_000],
    async start({ mesh }, target, random) {
      const minutes = pick(random, [-4, -2, -1, 1, 2, 4]);
      const file = join(mesh.dir, `${target}.clock`);
      writeFileSync(file, String(minutes * MINUTE_MS));
      return async () => rmSync(file, { force: true });
    },
  },
  {
    name: 'full disk',
    weight: 0.6,
    // The stand-in for MongoDB makes no promise about a full disk, so it is not a target.
    targets: ['kafka', 'redis'],
    lasts_ms: [2_000, 8_000],
    missing: ({ disks }) => disks.missing,
    async start(stage, target) {
      const makeRoom = fillDisk(join(stage.mesh.dir, 'data', target));
      return async () => {
        makeRoom();
        await restartEngine(stage, target as EngineName);
      };
    },
  },
  upstream('upstream answers late', (random) => ({
    delay_ms: pick(random, [1_000, 5_000, 15_000]),
  })),
  upstream('upstream answers HTML', () => ({ html: { status: 502 } })),
  upstream('upstream answers 500', () => ({ error: { code: 131_000, status: 500 } })),
  upstream('upstream answers broken JSON', () => ({ truncated: true })),
  upstream('upstream answers nothing', () => ({ empty: true })),
  upstream('upstream accepts and closes', () => ({ drop: 'after' })),
  upstream('upstream closes', () => ({ drop: 'before' })),
  upstream('upstream never answers', () => ({ hang: true })),
  {
    name: 'upstream repeats webhooks',
    weight: 1,
    targets: ['upstream webhooks'],
    lasts_ms: [5_000, 20_000],
    async start({ mesh }, _target, random) {
      await mesh.emulator.behaviour({ duplicate: between(random, [1, 2]), reorder: true });
      return async () => void (await mesh.emulator.behaviour({ duplicate: 0, reorder: false }));
    },
  },
  receiver('receiver hangs', () => undefined),
  receiver('receiver is slow', (response, random) => {
    setTimeout(() => response.writeHead(200).end(), between(random, [1_000, 9_000])).unref();
  }),
  receiver('receiver answers 500', answerWith(500)),
  receiver('receiver resets', (response) => void response.destroy()),
  receiver('receiver answers 410', answerWith(410)),
];

const RESTART_TRIES = 3;

/** Runs one planned fault to its end. */
export async function runFault(stage: Stage, planned: Planned): Promise<void> {
  const fault = FAULTS.find(({ name }) => name === planned.name) as Fault;
  const stop = await fault.start(stage, planned.target, seededRandom(planned.seed));
  await sleep(planned.lasts_ms);
  // A process may fail to start while another fault has its engine.
  for (let tries = 1; ; tries += 1) {
    try {
      return await stop();
    } catch (error) {
      if (tries === RESTART_TRIES) throw error;
    }
  }
}
