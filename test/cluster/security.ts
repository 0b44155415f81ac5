// What a pod of the release may do, and what others may do to it.
import { eventually } from '../testkit/eventually';
import { meshTags } from './images';
import {
  ENGINES,
  IN_NAMESPACE,
  NAMESPACE,
  RELEASE,
  bmg,
  componentOf,
  inNamespace,
  json,
  podsOf,
} from './release';
import { apply, kubectl } from './run';

const USER = 10_001;
const STRANGER = 'stranger';
const STRANGER_LIMIT_MS = 90_000;

/** The namespace enforces the restricted profile; the kernel's view of each process must agree. */
export async function restrictedPods(): Promise<string> {
  const label = '{.metadata.labels.pod-security\\.kubernetes\\.io/enforce}';
  const level = await kubectl(['get', 'namespace', NAMESPACE, '--output', `jsonpath=${label}`]);
  if (level !== 'restricted') throw new Error(`the namespace enforces ${level || 'nothing'}`);
  let checked = 0;
  for (const pod of await podsOf()) {
    // That of `helm test` has ended.
    if (componentOf(pod) in ENGINES || pod.status.phase !== 'Running') continue;
    const name = pod.metadata.name;
    const script =
      'id -u; grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/1/status; touch /app/x 2>&1 || true; ls /var/run/secrets 2>&1 || true';
    const output = await inNamespace(['exec', name, '--', 'sh', '-c', script]);
    const wanted = [
      new RegExp(`^${USER}$`, 'm'),
      /^CapEff:\s+0+$/m,
      /^NoNewPrivs:\s+1$/m,
      /^Seccomp:\s+2$/m,
      /Read-only file system/,
      /No such file/,
    ];
    const missing = wanted.filter((one) => !one.test(output));
    if (missing.length > 0) throw new Error(`${name}: ${missing.join(', ')} is not in ${output}`);
    checked += 1;
  }
  return `${checked} pods: user ${USER}, no capabilities, seccomp, read-only, no API token`;
}

/**
 * Calls onboarding with our own command line, once without a certificate and once as another
 * service.
 */
export async function identities(): Promise<string> {
  const { partners } = await bmg<{ partners: unknown[] }>('partner', 'list');
  if (!Array.isArray(partners)) throw new Error('the operator cannot list the partners');
  const results: string[] = [];
  for (const [who, secret, refusal] of [
    ['without a certificate', undefined, 'UNAVAILABLE'],
    ['with the certificate of fanout', 'bmg-fanout-tls', 'fanout may not call'],
  ] as const) {
    const output = await callAs(secret);
    if (!output.includes(refusal)) throw new Error(`${who}: ${output.slice(0, 500)}`);
    results.push(`${who}: ${refusal}`);
  }
  return results.join(', ');
}

/**
 * Runs the command line with or without a certificate; the network takes it for the operator's pod.
 */
async function callAs(secret: string | undefined): Promise<string> {
  const tls = {
    GRPC_TLS_CERT_FILE: 'tls.crt',
    GRPC_TLS_KEY_FILE: 'tls.key',
    GRPC_TLS_CA_FILE: 'ca.crt',
  };
  const { phase, output } = await runStranger({
    command: ['bin/bmg.js', '--json', 'partner', 'list'],
    labels: { ...RELEASE, 'app.kubernetes.io/component': 'operator' },
    env: [
      { name: 'ONBOARDING_ADDR', value: 'bmg-onboarding:50051' },
      ...(secret
        ? Object.entries(tls).map(([name, file]) => ({ name, value: `/etc/bmg/tls/${file}` }))
        : []),
    ],
    secret,
  });
  if (phase !== 'Failed') throw new Error(`the command ended as ${phase}: ${output}`);
  return output;
}

interface Stranger {
  command: string[];
  labels?: Record<string, string>;
  env?: Array<{ name: string; value: string }>;
  /** A certificate, mounted at /etc/bmg/tls. */
  secret?: string | undefined;
}

/**
 * Runs a command in a pod that is not of the release, with the image of our command line, to its
 * end.
 */
export async function runStranger({
  command,
  labels = {},
  env = [],
  secret,
}: Stranger): Promise<{ phase: string; output: string }> {
  const image = meshTags().find((tag) => tag.includes('bmg-cli')) as string;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: STRANGER, labels },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: USER,
        fsGroup: USER,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: STRANGER,
          image,
          command,
          env,
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          ...(secret && { volumeMounts: [{ name: 'tls', mountPath: '/etc/bmg/tls' }] }),
        },
      ],
      ...(secret && {
        volumes: [{ name: 'tls', secret: { secretName: secret, defaultMode: 0o440 } }],
      }),
    },
  };
  await inNamespace(['delete', 'pod', STRANGER, '--ignore-not-found']);
  await apply([pod], IN_NAMESPACE);
  const ended = async (): Promise<string> => {
    const { status } = await json<{ status: { phase: string } }>(['get', 'pod', STRANGER]);
    if (!['Failed', 'Succeeded'].includes(status.phase)) throw new Error(`it is ${status.phase}`);
    return status.phase;
  };
  const phase = await eventually(ended, STRANGER_LIMIT_MS);
  const output = await inNamespace(['logs', STRANGER]);
  await inNamespace(['delete', 'pod', STRANGER]);
  return { phase, output };
}
