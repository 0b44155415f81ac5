// The programs of the cluster, compiled from the Go module in kubernetes/ once for this machine.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER, KUBECTL, PROGRAMS } from './facts';
import { isInstalled, runShown } from './run';

/** The Go modules of this folder, and what is compiled of each: the package of every program. */
const MODULES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  kubernetes: {
    pause: './pause',
    kube: './kube',
    etcd: './etcd',
    // Another module, with the same libraries.
    helm: 'helm.sh/helm/v3/cmd/helm',
  },
  dns: { coredns: '.' },
  policies: { 'kube-router': 'github.com/cloudnativelabs/kube-router/v2/cmd/kube-router' },
  scaling: {
    keda: 'github.com/kedacore/keda/v2/cmd/operator',
    'keda-adapter': 'github.com/kedacore/keda/v2/cmd/adapter',
  },
};
const MARK = join(PROGRAMS, 'made-from');

/** Changes when the programs must be compiled again. */
export function programsVersion(): string {
  const hash = createHash('sha256');
  const files = Object.entries(MODULES).flatMap(([module, packages]) => [
    join(module, 'go.mod'),
    join(module, 'go.sum'),
    ...Object.values(packages)
      .filter((path) => path.startsWith('.'))
      .map((path) => join(module, path, 'main.go')),
  ]);
  for (const file of files) hash.update(readFileSync(join(FOLDER, file)));
  return hash.digest('hex').slice(0, 16);
}

/** The version of a module in the go.mod of Kubernetes, with its `v`. */
const required = (module: string): string =>
  new RegExp(`^\\s${module} (v\\S+)`, 'm').exec(
    readFileSync(join(FOLDER, 'kubernetes/go.mod'), 'utf8'),
  )?.[1] ?? '';

/**
 * A build from source calls itself v0.0.0 without these; charts that name a version refuse that.
 */
function versionFlags(): string {
  const kubernetes = required('k8s.io/kubernetes');
  const [major, minor] = kubernetes.slice(1).split('.');
  const of_kubernetes = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap(
    (path) => [
      `${path}.gitVersion=${kubernetes}`,
      `${path}.gitMajor=${major}`,
      `${path}.gitMinor=${minor}`,
    ],
  );
  const all = [
    ...of_kubernetes,
    `helm.sh/helm/v3/internal/version.version=${required('helm.sh/helm/v3')}`,
  ];
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
  const flags = ['-p', '2', '-trimpath', '-ldflags', `-s -w ${versionFlags()}`];
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' };
  for (const [module, packages] of Object.entries(MODULES)) {
    for (const [name, path] of Object.entries(packages)) {
      const build = ['go', 'build', ...flags, '-o', join(PROGRAMS, name), path];
      await runShown('nice', ['-n', '15', ...build], { cwd: join(FOLDER, module), env });
    }
  }
  rmSync(KUBECTL, { force: true });
  symlinkSync('kube', KUBECTL);
  writeFileSync(MARK, version);
}
