// Renders the chart with helm and reads what comes out.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './facts';
import { helm } from './tools';
import { loadAll } from './yaml';

export const CHART = join(ROOT, 'helm');
/** Helm built from source takes itself for an old one. */
export const KUBE_VERSION = ['--kube-version', '1.31.0'];
const RENDER_LIMIT_MS = 120_000;

export type Values = Record<string, unknown>;

/** The parts of a manifest that the tests look at. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  spec?: any; // any: of every kind
  stringData?: Record<string, string>;
}

export const example = (name: string): string => join(CHART, 'examples', `${name}.yaml`);

/** Helm's own text. `files` come first, `values` win over them. */
export function render(files: string[], values: Values = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-chart-'));
  const own = join(dir, 'values.json');
  writeFileSync(own, JSON.stringify(values));
  const valuesArguments = [...files, own].flatMap((file) => ['--values', file]);
  try {
    return execFileSync(
      helm(),
      ['template', 'bmg', CHART, '--namespace', 'messaging', ...KUBE_VERSION, ...valuesArguments],
      { encoding: 'utf8', stdio: 'pipe', timeout: RENDER_LIMIT_MS, env: quietEnvironment(dir) },
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What Helm says of values that it refuses. */
export function refusal(files: string[], values: Values): string {
  try {
    render(files, values);
  } catch (error) {
    return String((error as { stderr?: unknown }).stderr);
  }
  throw new Error('the values were taken');
}

export const manifests = (text: string): Manifest[] =>
  (loadAll(text) as Array<Manifest | null>).filter((one): one is Manifest => Boolean(one));

/** Helm keeps its caches and reads its settings where this says: nothing of the person who runs it counts. */
export const quietEnvironment = (dir: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: dir,
});
