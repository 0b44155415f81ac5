// Starts the bare chain of events beside a mesh: bare-events.ts as three processes.
import type { Setup } from './events-mesh';

const PARTS = ['ingress', 'fanout', 'deliver'];

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
