// A full disk under the log: /dev/full refuses every write the way a full disk does.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const FULL = '/dev/full';
const LINES = 24_000;
const LINE_BYTES = 1_000;

/** Writes more lines than are kept, and tells what it counted. */
const SCRIPT = `
const { createLogger, flushLogs, metrics } = require('@bmg/common/telemetry');
const log = createLogger('test');
let written = 0;
const turn = async () => {
  for (let at = 0; at < 1000; at += 1) log.info({ at: written++ }, 'x'.repeat(${LINE_BYTES}));
  if (written < ${LINES}) return setImmediate(turn);
  await flushLogs();
  const [{ value }] = (await metrics.log_lines_lost.get()).values;
  process.stderr.write(JSON.stringify({ written, lost: value }));
  process.exit(0);
};
turn();
`;

const onLinux = existsSync(FULL) ? test : test.skip;

onLinux(
  'a process whose log cannot be written goes on, keeps some of it, and counts the rest',
  async () => {
    const full = openSync(FULL, 'w');
    const child = spawn(process.execPath, ['-e', SCRIPT], {
      cwd: join(ROOT, 'gateway'),
      stdio: ['ignore', full, 'pipe'],
      env: { ...process.env, LOG_LEVEL: 'info' },
    });
    closeSync(full);
    let said = '';
    child.stderr?.on('data', (chunk) => (said += String(chunk)));
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect([code, said.startsWith('{') ? '' : said]).toEqual([0, '']);
    const { written, lost } = JSON.parse(said) as { written: number; lost: number };
    expect(written).toBe(LINES);
    // Some 8 MiB are kept for when there is room again.
    expect(lost).toBeGreaterThan(LINES / 2);
    expect(lost).toBeLessThan(LINES);
  },
);
