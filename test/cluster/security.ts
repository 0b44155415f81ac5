// What a pod of the release may do, and what others may do to it.
import { NAMESPACE, bmg, componentOf, inNamespace, json, podsOf } from './release';
import { kubectl } from './kubectl';
import { meshTags } from './images';

const USER = 10_001;
const CLIENT = 'stranger';

/** The namespace enforces the restricted profile; the kernel's view of each process must agree. */
export async function restrictedPods(): Promise<string> {
  const label = '{.metadata.labels.pod-security\\.kubernetes\\.io/enforce}';
  const level = await kubectl(['get', 'namespace', NAMESPACE, '--output', `jsonpath=${label}`]);
  if (level !== 'restricted') throw new Error(`the namespace enforces ${level || 'nothing'}`);
  const engines = ['kafka', 'mongo', 'redis'];
  let checked = 0;
  for (const pod of await podsOf()) {
    if (engines.includes(componentOf(pod))) continue;
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

/** Calls onboarding with our own command line, once without a certificate and once as another service. */
export async function identities(): Promise<string> {
  const { partners } = await bmg<{ partners: unknown[] }>('partner', 'list');
  if (!Array.isArray(partners)) throw new Error('the operator cannot list the partners');
  const results: string[] = [];
  for (const [who, secret] of [
    ['without a certificate', undefined],
    ['with the certificate of fanout', 'bmg-fanout-tls'],
  ] as const) {
    const output = await callAs(secret);
    if (output.includes('"partners"'))
      throw new Error(`${who} it was answered: ${output.slice(0, 500)}`);
    results.push(
      `${who}: ${(/(UNAVAILABLE|PERMISSION_DENIED|UNAUTHENTICATED|[Nn]ot allowed|certificate)/.exec(output) ?? ['failed'])[0]}`,
    );
  }
  return results.join(', ');
}

async function callAs(secret: string | undefined): Promise<string> {
  const image = meshTags().find((tag) => tag.includes('bmg-cli')) as string;
  const tls = {
    GRPC_TLS_CERT_FILE: 'tls.crt',
    GRPC_TLS_KEY_FILE: 'tls.key',
    GRPC_TLS_CA_FILE: 'ca.crt',
  };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: CLIENT },
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
          name: CLIENT,
          image,
          command: ['bin/bmg.js', '--json', 'partner', 'list'],
          env: [
            { name: 'ONBOARDING_ADDR', value: 'bmg-onboarding:50051' },
            ...(secret
              ? Object.entries(tls).map(([name, file]) => ({ name, value: `/etc/bmg/tls/${file}` }))
              : []),
          ],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          ...(secret && { volumeMounts: [{ name: 'tls', mountPath: '/etc/bmg/tls' }] }),
        },
      ],
      ...(secret && {
        volumes: [{ name: 'tls', secret: { secretName: secret, defaultMode: 0o440 } }],
      }),
    },
  };
  await inNamespace(['delete', 'pod', CLIENT, '--ignore-not-found']);
  await inNamespace(['apply', '--filename', '-'], { input: JSON.stringify(pod) });
  const path = ['wait', `pod/${CLIENT}`, '--for=jsonpath={.status.phase}=Failed', '--timeout=90s'];
  await inNamespace(path).catch(() => undefined);
  const { status } = await json<{ status: { phase: string } }>(['get', 'pod', CLIENT]);
  const output = await inNamespace(['logs', CLIENT]);
  if (status.phase !== 'Failed') throw new Error(`the command ended as ${status.phase}: ${output}`);
  return output;
}
