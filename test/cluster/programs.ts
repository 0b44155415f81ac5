// The programs of the cluster, compiled from their Go modules once for this machine.
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FOLDER, KUBECTL, PROGRAMS } from './facts';
import { isInstalled, run, runShown, words } from './run';

/** The package of each program. */
type Packages = Readonly<Record<string, string>>;

const KUBERNETES: Packages = { pause: './pause', kube: './kube', etcd: './etcd' };

/**
 * Modules that are compiled by themselves, since they name other libraries of Kubernetes. `sum` is
 * the hash of all their files, as go.sum would have it: among them is a go.sum of their libraries.
 */
interface Source {
  module: string;
  version: string;
  sum: string;
  packages: Packages;
  /** A folder beside kubernetes/ with a main program of ours. */
  ours?: string;
}

const HELM: Source = {
  module: 'helm.sh/helm/v3',
  version: 'v3.18.6',
  sum: 'h1:S/2CqcYnNfLckkHLI0VgQbxgcDaU3N4A/46E3n9wSNY=',
  packages: { helm: './cmd/helm' },
};
export const KEDA: Source = {
  module: 'github.com/kedacore/keda/v2',
  version: 'v2.17.2',
  sum: 'h1:xlrcK5TKABJF9PebK79sgL07s/csGjL3H4m72OkZXxk=',
  packages: { keda: './cmd/operator', 'keda-adapter': './cmd/adapter' },
};
const SOURCES: readonly Source[] = [
  HELM,
  {
    module: 'github.com/coredns/coredns',
    version: 'v1.12.1',
    sum: 'h1:haptbGscSbdWU46xrjdPj1vp3wvH1Z2FgCSQKEdgN5s=',
    packages: { coredns: './dns' },
    ours: 'dns',
  },
  {
    module: 'github.com/cloudnativelabs/kube-router/v2',
    version: 'v2.1.0',
    sum: 'h1:xWsptKtmZ44L+NjwFKoFAFlVdxCz8fka9A/eYJe95Ok=',
    packages: { 'kube-router': './cmd/kube-router' },
  },
  KEDA,
];
const DOWNLOAD_LIMIT_MS = 10 * 60_000;
const MARK = join(PROGRAMS, 'made-from');

/** Changes when the programs must be compiled again. */
export function programsVersion(): string {
  const hash = createHash('sha256').update(JSON.stringify(SOURCES));
  const mains = Object.values(KUBERNETES).map((path) => join('kubernetes', path, 'main.go'));
  for (const file of ['kubernetes/go.mod', 'kubernetes/go.sum', 'dns/main.go', ...mains]) {
    hash.update(readFileSync(join(FOLDER, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** The folder of the module's files, fetched from the Go module proxy. */
export async function sourceOf({ module, version, sum }: Source): Promise<string> {
  const answer = await run('go', words`mod download -json ${module}@${version}`, {
    limit_ms: DOWNLOAD_LIMIT_MS,
  });
  const { Dir, Sum } = JSON.parse(answer) as { Dir: string; Sum: string };
  if (Sum !== sum) throw new Error(`${module}@${version} has the hash ${Sum} instead of ${sum}`);
  return Dir;
}

/**
 * A build from source calls itself v0.0.0 without these; charts that name a version refuse that.
 */
function versionFlags(): string {
  const modules = readFileSync(join(FOLDER, 'kubernetes/go.mod'), 'utf8');
  const kubernetes = /^\sk8s\.io\/kubernetes (v\S+)/m.exec(modules)?.[1] ?? '';
  const [major, minor] = kubernetes.slice(1).split('.');
  const of_kubernetes = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap(
    (path) => [
      `${path}.gitVersion=${kubernetes}`,
      `${path}.gitMajor=${major}`,
      `${path}.gitMinor=${minor}`,
    ],
  );
  const all = [...of_kubernetes, `${HELM.module}/internal/version.version=${HELM.version}`];
  return all.map((one) => `-X ${one}`).join(' ');
}

export async function buildPrograms(): Promise<void> {
  const version = programsVersion();
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === version) return;
  if (!isInstalled('go'))
    throw new Error('Go 1.24 or newer is needed to build Kubernetes: https://go.dev/dl');
  mkdirSync(PROGRAMS, { recursive: true });
  console.log(
    'compiling Kubernetes, etcd, CoreDNS, kube-router and KEDA, once for this machine (minutes) ...',
  );
  await compile(join(FOLDER, 'kubernetes'), KUBERNETES);
  for (const { ours, ...source } of SOURCES) {
    const copy = mkdtempSync(join(tmpdir(), 'bmg-go-'));
    try {
      cpSync(await sourceOf(source), copy, { recursive: true });
      if (ours) cpSync(join(FOLDER, ours), join(copy, ours), { recursive: true });
      await compile(copy, source.packages);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }
  rmSync(KUBECTL, { force: true });
  symlinkSync('kube', KUBECTL);
  writeFileSync(MARK, version);
}

async function compile(cwd: string, packages: Packages): Promise<void> {
  const flags = ['-p', '2', '-trimpath', '-ldflags', `-s -w ${versionFlags()}`];
  // The list of KEDA's vendored libraries is in its module, the libraries are not.
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false -mod=readonly' };
  for (const [name, path] of Object.entries(packages)) {
    const build = ['go', 'build', ...flags, '-o', join(PROGRAMS, name), path];
    await runShown('nice', ['-n', '15', ...build], { cwd, env });
  }
}
