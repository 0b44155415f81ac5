// The rules of the chart: network policies, secrets and certificates, probes, scaling, and the
// values that it refuses.
import { X509Certificate } from 'node:crypto';
import { CALLER_NAMES, namesOf } from '@bmg/common/identity';
import {
  issue,
  readAuthority,
  reasonToRenew,
  type TlsData,
} from '../../deploy/cli/src/certificates/certificate';
import { facts, SERVICES } from './facts';
import { arrows, componentOf, componentsOf, envOf, podsOf } from './manifest-parts';
import {
  example,
  manifests,
  refusal,
  render,
  renderExactly,
  type Manifest,
  type Values,
} from './render';
import {
  byComponent,
  componentNamed,
  describeChart,
  named,
  of,
  textOf,
  VARIANTS,
} from './variants';

/** A rule of a NetworkPolicy. */
interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports: Array<{ protocol: string; port: number }>;
}
interface Peer {
  ipBlock?: { cidr: string; except?: string[] };
}
/** Private networks, and those that carriers and clusters share. */
const PRIVATE =
  /^(10\.|172\.(1[6-9]|2\d|3[01])\.|192\.168\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd])/;

/** HTTPS, AMQP over TLS, and where Kafka's brokers listen. */
const BROKER_PORTS = [443, 5671, 9092, 9093, 9094, 9095, 9096];

const portsOf = ({ ports }: Rule): string[] =>
  ports.map(({ protocol, port }) => `${protocol} ${port}`);
const dnsPorts = (deny: Manifest | undefined): string[] =>
  (deny?.spec.egress as Rule[]).flatMap(portsOf).sort();

describeChart('network policies', () => {
  test('allows exactly the gRPC calls of the design', () => {
    const calls = arrows(of('production', 'NetworkPolicy'));
    expect(calls).toEqual([
      'broadcasts → messaging',
      'broadcasts → onboarding',
      'broadcasts → templates',
      'fanout → messaging',
      'fanout → onboarding',
      'gateway → broadcasts',
      'gateway → messaging',
      'gateway → number-admin',
      'gateway → onboarding',
      'gateway → templates',
      'gateway → webhooks',
      'messaging → broadcasts',
      'messaging → onboarding',
      'messaging → templates',
      'messaging → webhooks',
      'number-admin → onboarding',
      'operator → broadcasts',
      'operator → messaging',
      'operator → number-admin',
      'operator → onboarding',
      'operator → templates',
      'operator → webhooks',
      'templates → onboarding',
      'webhooks → destinations',
      'webhooks → onboarding',
    ]);
  });

  test('only callers of the upstream or of partners reach public addresses, at their ports', () => {
    const ports = of('production', 'NetworkPolicy').flatMap(({ metadata, spec }) =>
      ((spec.egress ?? []) as Rule[])
        .filter(({ to }) => JSON.stringify(to).includes('0.0.0.0/0'))
        .map((rule) => [componentOf(metadata), rule.ports.map(({ port }) => port)] as const),
    );
    expect(Object.fromEntries(ports)).toEqual({
      destinations: BROKER_PORTS,
      messaging: [443],
      'number-admin': [443],
      onboarding: [443],
      templates: [443],
      webhooks: [443],
    });
  });

  test('destinations reaches no engine, no emulator and no service', () => {
    for (const variant of ['trial', 'production']) {
      const own = componentNamed(variant, 'NetworkPolicy', 'destinations');
      const peers = ((own?.spec.egress ?? []) as Rule[]).flatMap(({ to = [] }) => to);
      expect(JSON.stringify(peers)).not.toContain('app.kubernetes.io/component');
      const env = envOf(componentNamed(variant, 'Deployment', 'destinations'));
      expect(Object.keys(env).filter((name) => /_(URL|BROKERS|ADDR)$/.test(name))).toEqual([]);
    }
  });

  test.each(Object.keys(VARIANTS))('every rule names its peers and ports: %s', (variant) => {
    for (const { metadata, spec } of of(variant, 'NetworkPolicy')) {
      const rules = [...(spec.ingress ?? []), ...(spec.egress ?? [])] as Rule[];
      for (const { from, to, ports } of rules) {
        const peers = from ?? to ?? [];
        const lists = [peers, ports, ...peers.map(Object.keys)];
        expect([metadata.name, lists.filter(({ length }) => length === 0)]).toEqual([
          metadata.name,
          [],
        ]);
      }
    }
  });

  test('only the rule for public addresses covers them', () => {
    const open = Object.keys(VARIANTS)
      .flatMap((variant) => of(variant, 'NetworkPolicy'))
      .flatMap(({ spec }) => (spec.egress ?? []) as Rule[])
      .flatMap(({ to = [], ports }) =>
        to.flatMap(({ ipBlock }) => (ipBlock ? [{ ...ipBlock, ports }] : [])),
      )
      .filter(({ cidr }) => !PRIVATE.test(cidr))
      .map(({ ports, ...block }) =>
        JSON.stringify({ ...block, ports: ports.map(({ port }) => port) }),
      );
    const inside =
      '10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16';
    const wanted = [
      { cidr: '0.0.0.0/0', except: inside.split(' ') },
      { cidr: '::/0', except: ['::1/128', 'fc00::/7', 'fe80::/10'] },
    ].flatMap((one) => [[443], BROKER_PORTS].map((ports) => JSON.stringify({ ...one, ports })));
    expect(new Set(open)).toEqual(new Set(wanted));
  });

  test.each([
    ...['kafka.to', 'mongo.to', 'redis.to', 'collector.to', 'api.to', 'dns.to'],
    ...['http.from', 'metrics.from'],
  ])('refuses an empty list of peers: networkPolicy.%s', (place) => {
    const [rule, peers] = place.split('.') as [string, string];
    for (const value of [[], [{}]]) {
      const values = { networkPolicy: { [rule]: { [peers]: value } } };
      expect(refusal([example('minimal')], values)).toContain(`networkPolicy.${place}`);
    }
  });

  test('reaches DNS at the ports that are set', () => {
    const values = { networkPolicy: { dns: { ports: [53, 5353] } } };
    const [deny] = manifests(render([example('minimal')], values)).filter(({ metadata }) =>
      metadata.name.endsWith('default-deny'),
    );
    expect(dnsPorts(deny)).toEqual(['TCP 53', 'TCP 5353', 'UDP 53', 'UDP 5353']);
  });

  test('denies all other traffic of every pod of the release', () => {
    const [deny] = of('production', 'NetworkPolicy').filter(({ metadata }) =>
      metadata.name.endsWith('default-deny'),
    );
    expect(deny?.spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(deny?.spec.ingress).toBeUndefined();
    expect(dnsPorts(deny)).toEqual(['TCP 53', 'UDP 53']);
    for (const { metadata } of podsOf(manifests(textOf('production')))) {
      expect(metadata.labels).toMatchObject(deny?.spec.podSelector.matchLabels);
    }
  });
});

/** The names that identify callers, from the settings of the services. */
const identitiesOf = (variant: string): string[] => {
  const [, identities] =
    /GRPC_IDENTITIES"?(?::|\n\s+value:) "?([^"\n]+)/.exec(textOf(variant)) ?? [];
  return (identities as string).split(',');
};

const AUTHORITY = 'bmg-mtls-ca';
const CERTIFIED = [...Object.keys(SERVICES), 'operator'].sort();

/** The caller with this name; onboarding and destinations make no calls, so they are none. */
const callersOf = (name: string): string[] => CALLER_NAMES.filter((one) => one === name);

const decoded = ({ data = {} }: Manifest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
  );

describeChart('secrets and certificates', () => {
  test('a service gets only the secrets that it reads', () => {
    const seen = byComponent(of('minimal', 'Deployment'), ({ spec }) =>
      (spec.template.spec.volumes as Array<{ secret?: { items: Array<{ key: string }> } }>)
        .flatMap(({ secret }) => secret?.items ?? [])
        .map(({ key }) => key),
    );
    const read = Object.entries(facts()).map(([name, { secrets }]) => [name, secrets]);
    expect(seen).toEqual({ ...Object.fromEntries(read), operator: [] });
    const keyed = Object.keys(seen).filter((name) => seen[name]?.includes('ENCRYPTION_KEYRING'));
    expect(keyed).toEqual(['onboarding']);
  });

  test('a certificate carries its service’s mesh identity and its DNS name', () => {
    const certificates = of('production', 'Certificate');
    expect(componentsOf(certificates).sort()).toEqual(CERTIFIED);
    for (const { metadata, spec } of certificates) {
      expect(spec.dnsNames).toContain(componentOf(metadata));
      expect(spec.dnsNames).toContain(metadata.name);
      // The certificate identifies exactly this caller, and only in this namespace.
      const names = (spec.dnsNames as string[]).map((name) => `DNS:${name}`).join(', ');
      const identities = identitiesOf('production');
      expect(namesOf(names, identities)).toEqual(callersOf(componentOf(metadata)));
      expect(namesOf(names.replaceAll('.svc', '-other.svc'), identities)).toEqual([]);
    }
  });
});

describeChart('certificates that helm makes', () => {
  test('are those of the services, signed by an authority of the release that stays', async () => {
    const now = Date.now();
    const made = manifests(renderExactly([example('minimal')])).filter(
      ({ type }) => type === 'kubernetes.io/tls',
    );
    const secrets = new Map(
      made.map((one): [string, TlsData] => [one.metadata.name, decoded(one)]),
    );
    const isAuthority = ({ metadata }: Manifest): boolean => metadata.name === AUTHORITY;
    // An authority that changes would cut off the pods that still have the previous one.
    expect(made.find(isAuthority)?.metadata.annotations).toEqual({
      'helm.sh/resource-policy': 'keep',
    });
    expect(componentsOf(made.filter((one) => !isAuthority(one))).sort()).toEqual(CERTIFIED);
    const authority = await readAuthority(secrets.get(AUTHORITY) ?? {}, now);
    for (const name of CERTIFIED) {
      const names = [name, `bmg-${name}`, `bmg-${name}.messaging.svc`];
      const data = secrets.get(`bmg-${name}-tls`) ?? {};
      const next = await issue(names, 90, authority, now);
      // The renewal finds them sound: key, issuer, ca.crt, names and time. Those that it makes fit.
      const reasons = [data, next].map((one) => reasonToRenew(one, names, authority, now));
      expect([name, reasons]).toEqual([name, [undefined, undefined]]);
      const [before, after] = [data, next].map((one) => new X509Certificate(one['tls.crt'] ?? ''));
      expect(after?.subject).toBe(before?.subject);
      expect(after?.issuer).toBe(before?.issuer);
      expect(after?.keyUsage).toEqual(before?.keyUsage);
      expect(namesOf(before?.subjectAltName, identitiesOf('minimal'))).toEqual(callersOf(name));
    }
  });

  test.each([
    ['90 days', {}, 90],
    ['as long as configured', { validDays: 30 }, 30],
    ['90 days, with the values of an older chart', { validDays: null }, 90],
  ])('are valid for %s', (_name, mtls, days) => {
    const [gateway] = manifests(renderExactly([example('minimal')], { mtls })).filter(
      ({ metadata }) => metadata.name === 'bmg-gateway-tls',
    );
    const { 'tls.crt': text = '' } = decoded(gateway as Manifest);
    const { validFrom, validTo } = new X509Certificate(text);
    expect((Date.parse(validTo) - Date.parse(validFrom)) / 86_400_000).toBe(days);
  });

  test('every example has mutual TLS; plain gRPC is a choice that opens every RPC', () => {
    for (const name of ['minimal', 'trial', 'production']) {
      expect(textOf(name)).not.toContain('GRPC_ALLOW_PLAINTEXT');
      expect(textOf(name)).toContain('GRPC_TLS_CERT_FILE');
    }
    expect(textOf('plain gRPC')).toContain('GRPC_ALLOW_PLAINTEXT');
    expect(textOf('plain gRPC')).not.toContain('GRPC_TLS_CERT_FILE');
  });

  test('the job before an upgrade needs none: those of a first upgrade do not exist yet', () => {
    const job = named('minimal', 'Job', 'bmg-prepare');
    expect(JSON.stringify(job)).not.toMatch(/tls/i);
  });

  test('cert-manager signs with an authority of the release if no issuer is named', () => {
    const variant = 'certificates of an own issuer';
    expect(of(variant, 'Issuer').map(({ metadata }) => metadata.name)).toEqual([
      'bmg-mtls-self-signed',
      'bmg-mtls-ca',
    ]);
    const issuers = of(variant, 'Certificate').map(({ metadata, spec }) => [
      metadata.name === 'bmg-mtls-ca',
      spec.issuerRef.name,
    ]);
    expect(new Set(issuers.map(String))).toEqual(
      new Set(['true,bmg-mtls-self-signed', 'false,bmg-mtls-ca']),
    );
  });
});

describeChart('the renewal of certificates that helm made', () => {
  const NAME = 'bmg-tls-renewal';
  const job = () => of('minimal', 'CronJob')[0]?.spec;

  test('may change exactly their Secrets, read the authority, and nothing else', () => {
    // any: a manifest's parts
    const roles = of('minimal', 'Role') as Array<Manifest & { rules?: Array<Record<string, any>> }>;
    expect(roles.map(({ metadata }) => metadata.name)).toEqual([NAME]);
    expect(of('minimal', 'ClusterRole')).toEqual([]);
    const granted = (roles[0]?.rules ?? []).flatMap(
      ({ apiGroups, resources, verbs, resourceNames }) =>
        resourceNames.map((name: string) => `${apiGroups} ${resources} ${name} ${verbs}`),
    );
    expect(granted.sort()).toEqual(
      [
        ' secrets bmg-mtls-ca get',
        ...CERTIFIED.map((one) => ` secrets bmg-${one}-tls get,patch`),
      ].sort(),
    );
    const [binding] = of('minimal', 'RoleBinding') as Array<Manifest & { subjects?: unknown }>;
    expect(binding).toMatchObject({
      roleRef: { kind: 'Role', name: NAME },
      subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: 'messaging' }],
    });
  });

  test('runs for every service, one at a time, with the only token, which is short-lived', () => {
    const pod = job().jobTemplate.spec.template.spec;
    expect(job()).toMatchObject({ concurrencyPolicy: 'Forbid', schedule: '37 3 * * *' });
    expect(pod.serviceAccountName).toBe(NAME);
    const [first, second, ...args] = pod.containers[0].args as string[];
    expect([first, second]).toEqual(['certificates', 'renew']);
    expect(args.filter((one) => one.startsWith('--'))).toEqual([
      '--release=bmg',
      '--valid-days=90',
    ]);
    expect(args.filter((one) => !one.startsWith('--')).sort()).toEqual(CERTIFIED);
    expect(
      textOf('minimal').match(/serviceAccountToken:\n\s+path: token\n\s+expirationSeconds: 600/g),
    ).toHaveLength(1);
    const policy = named('minimal', 'NetworkPolicy', NAME);
    expect(policy?.spec.ingress).toBeUndefined();
    expect(policy?.spec.egress).toEqual([
      {
        ports: [443, 6443].map((port) => ({ protocol: 'TCP', port })),
        to: ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'].map(
          (cidr) => ({ ipBlock: { cidr } }),
        ),
      },
    ]);
  });

  test('has a name that fits a CronJob, however long the release’s is', () => {
    const [made] = manifests(
      renderExactly([example('minimal')], { fullnameOverride: 'a'.repeat(40) }),
    ).filter(({ kind }) => kind === 'CronJob');
    expect(made?.metadata.name.length).toBeLessThanOrEqual(52);
  });

  test.each([
    'everything optional off',
    'own certificates, payments, no autoscaling',
    'certificates of an own issuer',
    'plain gRPC',
  ])('is absent with %s, and so are its rights', (variant) => {
    expect(textOf(variant)).not.toContain(NAME);
    expect(textOf(variant)).not.toMatch(/^kind: Role/m);
  });
});

describeChart('probes and scaling', () => {
  test('probes use gRPC if there is no mutual TLS', () => {
    const probes = byComponent(
      of('plain gRPC', 'Deployment'),
      ({ spec }) => Object.keys(spec.template.spec.containers[0].readinessProbe ?? {})[0],
    );
    expect(probes).toMatchObject({
      gateway: 'httpGet',
      messaging: 'grpc',
      fanout: 'httpGet',
    });
  });

  test('KEDA scales each Kafka consumer on its own lag, with a single autoscaler', () => {
    const scaled = of('production', 'ScaledObject');
    const read = Object.entries(facts()).filter(([, { consumes }]) => consumes.length > 0);
    expect(componentsOf(scaled).sort()).toEqual(read.map(([name]) => name).sort());
    const own = componentsOf(of('production', 'HorizontalPodAutoscaler'));
    expect(own.sort()).toEqual(['destinations', 'gateway', 'number-admin']);
    const [fanout] = scaled.filter(({ metadata }) => componentOf(metadata) === 'fanout');
    expect(fanout?.spec.triggers[3]).toMatchObject({
      type: 'kafka',
      metadata: {
        consumerGroup: 'bmg.fanout-webhook',
        topic: 'bmg.upstream-webhook.v2',
        tls: 'enable',
        sasl: 'scram_sha512',
      },
      authenticationRef: { name: 'bmg-fanout-kafka' },
    });
  });

  test('KEDA reads each lag as the user of the service, and trusts the authority of the engines', () => {
    const access = of('production', 'TriggerAuthentication');
    const used = byComponent(
      of('production', 'ScaledObject'),
      ({ spec }) =>
        new Set(
          (spec.triggers as Array<{ type: string; authenticationRef?: { name: string } }>)
            .filter(({ type }) => type === 'kafka')
            .map(({ authenticationRef }) => authenticationRef?.name),
        ),
    );
    expect(used).toEqual(byComponent(access, ({ metadata }) => new Set([metadata.name])));
    const specs = byComponent(access, ({ spec }) => spec);
    expect(specs['onboarding']).toMatchObject({
      env: [{ parameter: 'username', name: 'KAFKA_SASL_USERNAME' }],
      secretTargetRef: [
        { parameter: 'password', name: 'bmg-onboarding-own', key: 'KAFKA_SASL_PASSWORD' },
      ],
      configMapTargetRef: [{ parameter: 'ca', name: 'internal-ca', key: 'ca.crt' }],
    });
    expect(specs['messaging'].secretTargetRef[0].name).toBe('bmg-messaging-secrets');
  });
});

describeChart('webhooks in two deployments', () => {
  const SPLIT = 'webhooks in two deployments';
  const PARTS = ['webhooks', 'webhooks-ingress'];
  const ofParts = (kind: string): Manifest[] =>
    of(SPLIT, kind).filter(({ metadata }) => PARTS.includes(componentOf(metadata) as string));

  test('each runs the same image with its role and its ports, at the addresses of before', () => {
    const parts = ofParts('Deployment').map(({ metadata, spec }) => {
      const [container] = spec.template.spec.containers;
      return {
        name: componentOf(metadata),
        image: (container.image as string).replace(/.*\/|[:@].*/g, ''),
        role: envOf(container)['WEBHOOKS_ROLE'] as string,
        ports: (container.ports as Array<{ name: string }>).map(({ name }) => name),
      };
    });
    const image = 'bmg-webhooks';
    expect(parts).toEqual([
      { name: 'webhooks', image, role: 'delivery', ports: ['metrics', 'grpc'] },
      { name: 'webhooks-ingress', image, role: 'ingress', ports: ['metrics', 'http'] },
    ]);
    const backend = JSON.stringify(of(SPLIT, 'Ingress').map(({ spec }) => spec.rules));
    expect(backend).toContain('"bmg-webhooks-http"');
  });

  test('both are the caller webhooks, with one certificate', () => {
    expect(
      of(SPLIT, 'Certificate').filter(({ metadata }) => /webhooks/.test(metadata.name)),
    ).toHaveLength(1);
    const secrets = ofParts('Deployment').map(({ spec }) =>
      (spec.template.spec.volumes as Array<{ name: string; secret?: { secretName: string } }>)
        .filter(({ name }) => name.startsWith('tls-'))
        .map(({ secret }) => secret?.secretName),
    );
    expect(secrets).toEqual([['bmg-webhooks-tls'], ['bmg-webhooks-tls']]);
  });

  test('deliveries scale on their lag, the ingress on CPU', () => {
    expect(componentsOf(ofParts('ScaledObject'))).toEqual(['webhooks']);
    expect(componentsOf(ofParts('HorizontalPodAutoscaler'))).toEqual(['webhooks-ingress']);
  });

  test('only the ingress is open to HTTP, and both may call onboarding', () => {
    const policies = byComponent(ofParts('NetworkPolicy'), ({ spec }) => JSON.stringify(spec));
    const { http, grpc } = facts()['webhooks'] as { http: number; grpc: number };
    expect(policies['webhooks']).not.toContain(`"port":${http}`);
    expect(policies['webhooks-ingress']).toContain(`"port":${http}`);
    expect(policies['webhooks-ingress']).not.toContain(`"port":${grpc}`);
    for (const policy of Object.values(policies)) expect(policy).toContain('"onboarding"');
    const onboarding = named(SPLIT, 'NetworkPolicy', 'bmg-onboarding');
    expect(JSON.stringify(onboarding?.spec.ingress)).toContain('"webhooks-ingress"');
  });

  test('the job before an upgrade prepares the database once', () => {
    const job = named(SPLIT, 'Job', 'bmg-prepare');
    const names = (job?.spec.template.spec.containers as Array<{ name: string }>).map(
      ({ name }) => name,
    );
    expect(names.filter((name) => name.startsWith('webhooks'))).toEqual(['webhooks']);
  });
});

describeChart('the chart refuses, with a reason,', () => {
  test.each<[string, string, Values, RegExp]>([
    ['a typo at the top', 'minimal', { ingres: {} }, /ingres/],
    ['a secret among the settings', 'minimal', { settings: { KEY_PEPPER: 'x' } }, /KEY_PEPPER/],
    [
      'a setting out of its range',
      'minimal',
      { settings: { DELIVERY_SHARE: 0 } },
      /DELIVERY_SHARE/,
    ],
    [
      'a setting that this service does not read',
      'minimal',
      { services: { gateway: { settings: { DELIVERY_SHARE: 5 } } } },
      /gateway does not read DELIVERY_SHARE/,
    ],
    [
      'no public address',
      '',
      { secrets: { existing: 'bmg' }, settings: { KAFKA_BROKERS: 'kafka:9092' } },
      /settings\.PUBLIC_URL is required/,
    ],
    [
      'no brokers',
      '',
      { secrets: { existing: 'bmg' }, settings: { PUBLIC_URL: 'https://api.example' } },
      /settings\.KAFKA_BROKERS is required/,
    ],
    ['no secrets', 'minimal', { secrets: { existing: '' } }, /set exactly one of secrets/],
    [
      'two sources of secrets',
      'trial',
      { secrets: { existing: 'x' } },
      /set exactly one of secrets/,
    ],
    [
      'a secret that is missing',
      '',
      {
        engines: { enabled: true },
        settings: { PUBLIC_URL: 'https://api.example' },
        secrets: { values: { KEY_PEPPER: 'x' } },
      },
      /secrets\.values\.ENCRYPTION_KEYRING is required/,
    ],
    [
      'an ingress without its host',
      'minimal',
      { ingress: { enabled: true } },
      /ingress\.gateway\.host is required/,
    ],
  ])('%s', (_name, file, values, reason) => {
    expect(refusal(file === '' ? [] : [example(file)], values)).toMatch(reason);
  });
});
