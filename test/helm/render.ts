// Renders the chart with helm and parses the manifests.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './facts';
import { helm } from './tools';
import { loadAll } from '../testkit/yaml';

export const CHART = join(ROOT, 'helm');
/** Helm built from source reports an old version. */
export const KUBE_VERSION = ['--kube-version', '1.31.0'];
const RENDER_LIMIT_MS = 120_000;

export type Values = Record<string, unknown>;

/** The parts of a manifest that the tests check. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  spec?: any; // any: of every kind
  stringData?: Record<string, string>;
  data?: Record<string, string>;
  /** The type of a Secret. */
  type?: string;
}

export const example = (name: string): string => join(CHART, 'examples', `${name}.yaml`);

/** The text that helm renders, with the same words for certificates, which are new each time. */
export const render = (files: string[], values: Values = {}): string =>
  renderExactly(files, values).replace(
    /^( {2}(?:tls\.crt|tls\.key|ca\.crt): ).+$/gm,
    `$1${Buffer.from('made by helm').toString('base64')}`,
  );

/** `values` override `files`. */
export function renderExactly(files: string[], values: Values = {}): string {
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

/** Helm's error about values that it refuses. */
export function refusal(files: string[], values: Values): string {
  try {
    render(files, values);
  } catch (error) {
    return String((error as { stderr?: unknown }).stderr);
  }
  throw new Error('helm accepted the values');
}

export const manifests = (text: string): Manifest[] =>
  (loadAll(text) as Array<Manifest | null>).filter((one): one is Manifest => Boolean(one));

/** Separate caches and settings for helm: those of the user have no effect. */
export const quietEnvironment = (dir: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: dir,
});
