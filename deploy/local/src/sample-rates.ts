// The invented rate card that a mesh with the emulator starts with, so that messages have a price.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Settings } from './mesh';
import { ROOT } from './paths';

const CLI = path.join(ROOT, 'deploy/cli/dist/main.js');
const SAMPLE = path.join(ROOT, 'deploy/local/sample-rates.csv');
const LIMIT_MS = 30_000;
const run = promisify(execFile);

/** What the program printed as its error; without any, why it did not run. */
function reasonOf(error: unknown): string {
  const { stderr = '', message } = error as Error & { stderr?: string };
  return stderr.trim().split('\n').at(-1) || message;
}

/**
 * Loads the sample rate card, unless a card is loaded or the upstream is a real one, whose prices
 * the operator knows. Returns a line for people; undefined if there was nothing to load. A mesh
 * without prices works, so a failure is a warning.
 */
export async function loadSampleRates(settings: Settings): Promise<string | undefined> {
  if (settings['EMULATOR_URL'] === undefined) return undefined;
  const args = ['--enable-source-maps', CLI, 'rates', 'load', SAMPLE, '--if-none'];
  const env = { ...process.env, MESSAGING_ADDR: settings['MESSAGING_ADDR'] };
  try {
    const { stdout } = await run(process.execPath, args, { cwd: ROOT, env, timeout: LIMIT_MS });
    return stdout.startsWith('Loaded') ? 'loaded the sample rate card: invented prices' : undefined;
  } catch (error) {
    return `warning: the sample rate card was not loaded (${reasonOf(error)}). The mesh works, but messages have no price until you load it: npx bmg rates load ${path.relative(ROOT, SAMPLE)}`;
  }
}
