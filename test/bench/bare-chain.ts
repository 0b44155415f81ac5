// Starts the bare chain of events beside a mesh: bare-events.ts as three processes.
import type { Setup } from './events-mesh';

const PARTS = ['ingress', 'fanout', 'deliver'];

/** Returns the names of its processes, which join those of the setup. */
export function startBareEvents(
  { bench, pids }: Pick<Setup, 'bench' | 'pids'>,
  port: number,
  receiver_url: string,
): string[] {
  return PARTS.map((part) => {
    const name = `bare-${part}`;
    pids[name] = bench.start(name, 'test/dist/bench/bare-events.js', {
      FLOOR_PART: part,
      FLOOR_PORT: String(port),
      RECEIVER_URL: receiver_url,
    }).pid;
    return name;
  });
}
