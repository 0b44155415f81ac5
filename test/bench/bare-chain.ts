// Starts the bare chain of events beside a mesh: bare-events.ts as three processes.
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@bmg/local';
import { createLoad } from './events-load';
import { HOST, type Setup } from './events-mesh';

const PARTS = ['ingress', 'fanout', 'deliver'];
/** Its processes join their groups at Kafka. */
const START_MS = 10_000;

interface Options {
  /** The events are stored there, by partner. */
  database?: string;
  /** Only these parts, beside the ones that run. */
  second?: string[];
}

/** Returns the names of its processes, which join those of the setup. */
export function startBareEvents(
  { bench, pids }: Pick<Setup, 'bench' | 'pids'>,
  port: number,
  receiver_url: string,
  { database, second }: Options = {},
): string[] {
  return (second ?? PARTS).map((part) => {
    const name = second ? `bare-${part} 2` : `bare-${part}`;
    pids[name] = bench.start(name, 'test/dist/bench/bare-events.js', {
      FLOOR_PART: part,
      FLOOR_PORT: String(port),
      RECEIVER_URL: receiver_url,
      ...(database !== undefined && { FLOOR_DATABASE: database }),
    }).pid;
    return name;
  });
}

export interface Floor extends Setup {
  port: number;
  parts: string[];
}

/**
 * The bare chain with the partners of the mesh, which is idle meanwhile: its costs are those of the
 * chain.
 */
export async function startFloor(setup: Setup, options: Options = {}): Promise<Floor> {
  const port = await freePort();
  const { kafka = 0, mongo = 0 } = setup.pids;
  const pids: Record<string, number> = {
    kafka,
    ...(options.database !== undefined && { mongo }),
  };
  const parts = startBareEvents({ ...setup, pids }, port, setup.receiver_url, options);
  await sleep(START_MS);
  return { ...setup, load: createLoad(`http://${HOST}:${port}`), pids, port, parts };
}

/** Second processes beside those of the chain. */
export async function startBeside(floor: Floor, options: Required<Options>): Promise<string[]> {
  const parts = startBareEvents(floor, floor.port, floor.receiver_url, options);
  await sleep(START_MS);
  return parts;
}
