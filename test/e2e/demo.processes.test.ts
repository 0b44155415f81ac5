// Ctrl-C in `make demo`: however early and however often it is pressed, no process stays behind.
// The compiled demo runs in a separate folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runningIn } from '@bmg/local';
import { ENGINE_URLS, enginePorts, newPlace } from '../harness/process-mesh';
import { eventually } from '../testkit/eventually';
import { hasEnded } from '../testkit/signal-process';

const DEMO = resolve(__dirname, '../dist/demo/main.js');
const START_LIMIT_MS = 120_000;
/** The exit code that a shell reports for a process that ended on SIGINT. */
const INTERRUPTED = 130;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bmg-demo-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const startedIds = (): number[] =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.pid'))
    .map((name) => Number(readFileSync(join(dir, name), 'utf8')));

/**
 * Interrupts the demo twice at a moment, as a terminal does. Returns the processes that it started
 * and its output.
 */
async function interruptAt(
  env: NodeJS.ProcessEnv,
  moment: (printed: string) => boolean,
): Promise<{ ids: number[]; printed: string }> {
  const demo = spawn(process.execPath, ['--enable-source-maps', DEMO, dir], {
    env: { ...(await newPlace()), ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const output of [demo.stdout, demo.stderr]) {
    output.on('data', (chunk) => (printed += String(chunk)));
  }
  const ended = once(demo, 'close') as Promise<[number]>;
  await eventually(() => {
    if (demo.exitCode !== null) throw new Error(`the demo has ended: ${printed}`);
    return moment(printed);
  }, START_LIMIT_MS);
  const ids = startedIds();
  process.kill(-(demo.pid as number), 'SIGINT');
  await eventually(() => printed.includes('Interrupted'));
  demo.kill('SIGINT');
  const [code] = await ended;
  expect([code, printed.match(/^Interrupted/gm)]).toEqual([INTERRUPTED, ['Interrupted']]);
  expect(printed).not.toContain('The demo failed');
  return { ids, printed };
}

function expectNothingLeft(ids: number[]): void {
  expect(ids.filter((id) => !hasEnded(id))).toEqual([]);
  // Those that it started after the moment had a pid file too.
  expect(runningIn(dir)).toEqual([]);
  expect(startedIds()).toEqual([]);
}

test('while the engines start', async () => {
  const { ids } = await interruptAt(await enginePorts(), () => startedIds().length > 0);
  expectNothingLeft(ids);
});

test('while messages are on their way', async () => {
  const engines = Object.fromEntries(ENGINE_URLS.map((name) => [name, process.env[name]]));
  const { ids, printed } = await interruptAt(engines, (text) => text.includes('wamid.'));
  expect(printed).toContain('Send a text');
  // Every service, and the emulator.
  expect(ids.length).toBeGreaterThan(8);
  expectNothingLeft(ids);
});
