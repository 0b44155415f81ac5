import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { down } from '../../deploy/local/src';
import { QUERIES, queriesWithoutIndex } from '../queries/check-queries';
import type { Engines } from '../../deploy/local/src/start-engines';

export default async function teardown(): Promise<void> {
  const { bmgEngines } = globalThis as { bmgEngines?: { engines: Engines; dir: string } };
  if (!bmgEngines) return;
  stopMeshHosts(bmgEngines.dir);
  await stopProcessMesh(join(bmgEngines.dir, 'processes'));
  await bmgEngines.engines.stop();
  const unserved = queriesWithoutIndex(join(bmgEngines.dir, QUERIES));
  rmSync(bmgEngines.dir, { recursive: true, force: true });
  if (unserved.length === 0) return;
  throw new Error(
    `queries without an index (test/queries/check-queries.ts):\n${unserved.join('\n')}`,
  );
}

/** Kills the meshes first: they hold no needed data and would log errors when the engines stop. */
function stopMeshHosts(dir: string): void {
  for (const file of readdirSync(dir).filter((name) => /^mesh-\d+\.json$/.test(name))) {
    const { pid } = JSON.parse(readFileSync(join(dir, file), 'utf8')) as { pid: number };
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended with its worker.
    }
  }
}

async function stopProcessMesh(dir: string): Promise<void> {
  if (existsSync(dir)) await down({ dir, log: () => undefined });
}
