// Starts the engines once for a run. Tests share them and use separate database and topic names.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngines } from '../../deploy/local/src/start-engines';

export default async function setup(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-test-'));
  const engines = await startEngines({
    dir,
    ports: 'free',
    log: (line) => process.stdout.write(`${line}\n`),
  });
  for (const name of ['MONGO_URL', 'KAFKA_BROKERS', 'REDIS_URL'] as const) {
    process.env[name] = engines[name];
  }
  process.env['BMG_TEST_DIR'] = dir;
  (globalThis as { bmgEngines?: unknown }).bmgEngines = { engines, dir };
}
