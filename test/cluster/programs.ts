// The programs of the cluster, compiled from the Go module in kubernetes/ once for this machine.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER, PROGRAMS } from './facts';
import { isInstalled, runShown } from './run';

const MODULE = join(FOLDER, 'kubernetes');
/** Our programs of this module, and one of another that has the same libraries. */
const PACKAGES: Readonly<Record<string, string>> = {
  pause: './pause',
  kube: './kube',
  etcd: './etcd',
  coredns: './coredns',
  helm: 'helm.sh/helm/v3/cmd/helm',
};
const MARK = join(PROGRAMS, 'made-from');

/** Changes when the programs must be compiled again. */
export function programsVersion(): string {
  const hash = createHash('sha256');
  const own = Object.values(PACKAGES).filter((path) => path.startsWith('./'));
  const files = ['go.mod', 'go.sum', ...own.map((path) => join(path, 'main.go'))];
  for (const file of files) hash.update(readFileSync(join(MODULE, file)));
  return hash.digest('hex').slice(0, 16);
}

export async function buildPrograms(): Promise<void> {
  const version = programsVersion();
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === version) return;
  if (!isInstalled('go'))
    throw new Error('Go 1.24 or newer is needed to build Kubernetes: https://go.dev/dl');
  mkdirSync(PROGRAMS, { recursive: true });
  console.log('compiling Kubernetes, etcd and CoreDNS, once for this machine (minutes) ...');
  const flags = ['-p', '2', '-trimpath', '-ldflags', '-s -w'];
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' };
  for (const [name, path] of Object.entries(PACKAGES)) {
    const build = ['go', 'build', ...flags, '-o', join(PROGRAMS, name), path];
    await runShown('nice', ['-n', '15', ...build], { cwd: MODULE, env });
  }
  writeFileSync(MARK, version);
}
