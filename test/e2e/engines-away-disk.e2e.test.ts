// Logging to a full disk: /dev/full fails every write as a full disk does.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const FULL = '/dev/full';
const LINES = 24_000;
const LINE_BYTES = 1_000;

/** Writes more lines than the buffer holds and prints its counts. */
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
  'keeps a process running when its log cannot be written, buffers lines and counts the dropped ones',
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
    // About 8 MiB are buffered until the disk has space again.
    expect(lost).toBeGreaterThan(LINES / 2);
    expect(lost).toBeLessThan(LINES);
  },
);
