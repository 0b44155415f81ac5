// Starts the engines once for a run. Tests share them and use separate database and topic names.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngines } from '../../deploy/local/src/start-engines';
import teardown from './global-teardown';
import { QUERIES } from '../queries/check-queries';
import { ENGINES_LIVE_SHORT } from './world';

export default async function setup(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-test-'));
  const own = { BMG_QUERIES: join(dir, QUERIES) };
  const engines = await startEngines({
    dir,
    ports: 'free',
    env: { ...process.env, ...ENGINES_LIVE_SHORT, ...own },
    log: (line) => process.stdout.write(`${line}\n`),
  });
  Object.assign(process.env, engines.urls);
  process.env['BMG_TEST_DIR'] = dir;
  (globalThis as { bmgEngines?: unknown }).bmgEngines = { engines, dir };
  // An interrupted run has no teardown otherwise, and its engines and meshes would go on.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void teardown().finally(() => process.exit(1)));
  }
}
