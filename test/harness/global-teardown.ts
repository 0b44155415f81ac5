import { rmSync } from 'node:fs';
import type { Engines } from '../../deploy/local/src/start-engines';

export default async function teardown(): Promise<void> {
  const { bmgEngines } = globalThis as { bmgEngines?: { engines: Engines; dir: string } };
  if (!bmgEngines) return;
  await bmgEngines.engines.stop();
  rmSync(bmgEngines.dir, { recursive: true, force: true });
}
