// The keys and certificates of the cluster, and a kubeconfig for each of its programs.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_PORT, CONTEXT, CONTROL, KUBECONFIG, MACHINES, STATE, type Machine } from './facts';
import { run, words } from './run';

const DAYS = 365;
const KEYS = join(STATE, 'keys');

/** The folder that a machine sees as /etc/bmg. */
export const keysOf = (machine: Machine): string => join(STATE, 'machines', machine.name);

const openssl = (args: string[]): Promise<string> => run('openssl', args, { cwd: KEYS });

interface Subject {
  name: string;
  group?: string;
  also?: string[];
}

async function certify(
  folder: string,
  file: string,
  { name, group, also = [] }: Subject,
): Promise<void> {
  const path = join(folder, file);
  const subject = `${group ? `/O=${group}` : ''}/CN=${name}`;
  const extensions = [
    'extendedKeyUsage=serverAuth,clientAuth',
    ...(also.length > 0 ? [`subjectAltName=${also.join(',')}`] : []),
  ];
  writeFileSync(`${path}.ext`, `${extensions.join('\n')}\n`);
  await openssl(
    words`req -new -newkey rsa:2048 -nodes -keyout ${path}.key -out ${path}.csr -subj ${subject}`,
  );
  await openssl([
    ...words`x509 -req -in ${path}.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days ${DAYS}`,
    ...words`-extfile ${path}.ext -out ${path}.crt`,
  ]);
}

/** A kubeconfig whose paths are those inside a machine, or of this host. */
function kubeconfig(file: string, given: { server: string; folder: string; name: string }): void {
  const { server, folder, name } = given;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: CONTEXT, cluster: { server, 'certificate-authority': join(folder, 'ca.crt') } },
    ],
    users: [
      {
        name: CONTEXT,
        user: {
          'client-certificate': join(folder, `${name}.crt`),
          'client-key': join(folder, `${name}.key`),
        },
      },
    ],
    contexts: [{ name: CONTEXT, context: { cluster: CONTEXT, user: CONTEXT } }],
    'current-context': CONTEXT,
  };
  writeFileSync(file, JSON.stringify(config, null, 2), { mode: 0o600 });
}

/** Makes the keys of a new cluster; those of a cluster that exists stay. */
export async function makeKeys(): Promise<void> {
  if (existsSync(KUBECONFIG)) return;
  mkdirSync(KEYS, { recursive: true });
  await openssl([
    ...words`req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days ${DAYS}`,
    ...words`-subj /CN=bmg-cluster`,
  ]);
  for (const machine of MACHINES) await makeMachineKeys(machine);
  await certify(KEYS, 'admin', { name: 'admin', group: 'system:masters' });
  kubeconfig(KUBECONFIG, { server: `https://127.0.0.1:${API_PORT}`, folder: KEYS, name: 'admin' });
}

async function makeMachineKeys(machine: Machine): Promise<void> {
  const folder = keysOf(machine);
  mkdirSync(folder, { recursive: true });
  await run('cp', [join(KEYS, 'ca.crt'), folder]);
  const inside = (name: string): void =>
    kubeconfig(join(folder, `${name}.conf`), {
      server: `https://${CONTROL.address}:6443`,
      folder: '/etc/bmg',
      name,
    });
  await certify(folder, 'proxy', { name: 'system:kube-proxy' });
  inside('proxy');
  if (machine.role === 'node') {
    await certify(folder, 'kubelet', {
      name: `system:node:${machine.name}`,
      group: 'system:nodes',
      also: [`DNS:${machine.name}`, `IP:${machine.address}`],
    });
    inside('kubelet');
    await certify(folder, 'policies', { name: 'bmg:policies' });
    inside('policies');
    return;
  }
  await certify(folder, 'apiserver', {
    name: 'kube-apiserver',
    also: [
      ...['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'localhost'].map(
        (name) => `DNS:${name}`,
      ),
      ...['127.0.0.1', '10.96.0.1', machine.address].map((address) => `IP:${address}`),
    ],
  });
  await certify(folder, 'admin', { name: 'kube-apiserver', group: 'system:masters' });
  await certify(folder, 'front-proxy', { name: 'front-proxy' });
  await certify(folder, 'controllers', { name: 'system:kube-controller-manager' });
  inside('controllers');
  await certify(folder, 'scheduler', { name: 'system:kube-scheduler' });
  inside('scheduler');
  await openssl(words`genrsa -out ${join(folder, 'tokens.key')} 2048`);
}
