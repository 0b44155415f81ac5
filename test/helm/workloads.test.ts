// The rules of the chart for what runs: deployments, their addresses and settings, disruption,
// scaling, ingress, the trial's engines and the job before an upgrade.
import { facts, OPERATOR, SERVICES } from './facts';
import { componentOf, componentsOf, envOf, podsOf } from './manifest-parts';
import { example, manifests, render, renderExactly, type Manifest, type Values } from './render';
import {
  byComponent,
  componentNamed,
  describeChart,
  named,
  of,
  textOf,
  VARIANTS,
} from './variants';

const names = Object.keys(SERVICES).sort();
const mainOf = ({ spec }: Manifest) => spec.template.spec.containers[0];
const deployments = (variant: string): Manifest[] =>
  of(variant, 'Deployment').filter(({ metadata }) => componentOf(metadata) in SERVICES);

/** The settings of each service's process. */
const settings = (variant: string): Record<string, Record<string, string>> =>
  byComponent(deployments(variant), envOf);

/** Rendered from the minimal example with these values. */
const rendered = (values: Values, kind: string, file = 'minimal'): Manifest[] =>
  manifests(render([example(file)], values)).filter((one) => one.kind === kind);

/** The pods that a selector chooses. */
const selected = (variant: string, labels: Record<string, string>) =>
  podsOf(manifests(textOf(variant))).filter(({ metadata }) =>
    Object.entries(labels).every(([name, value]) => metadata.labels[name] === value),
  );

describeChart('a rollout of the chart', () => {
  test.each(Object.keys(VARIANTS))(
    'keeps every old pod until a new one is ready: %s',
    (variant) => {
      for (const { metadata, spec } of deployments(variant)) {
        expect([metadata.name, spec.strategy, spec.minReadySeconds]).toEqual([
          metadata.name,
          { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
          5,
        ]);
      }
    },
  );

  test.each([
    ['of 25 seconds, the default', {}, 30],
    ['that is configured', { settings: { STOP_TIMEOUT_MS: 40_000 } }, 45],
  ])('gives a pod five seconds more than its shutdown %s', (_name, values, seconds) => {
    const given = rendered(values, 'Deployment')
      .filter(({ metadata }) => componentOf(metadata) in SERVICES)
      .map(({ spec }) => spec.template.spec.terminationGracePeriodSeconds);
    expect(new Set(given)).toEqual(new Set([seconds]));
  });

  test('replaces the pods when a secret in the values changes', () => {
    const sums = [{}, { secrets: { values: { KEY_PEPPER: 'another' } } }].map((values) =>
      rendered(values, 'Deployment', 'trial')
        .filter(({ metadata }) => componentOf(metadata) in SERVICES)
        .map(({ spec }) => spec.template.metadata.annotations['checksum/secrets']),
    );
    expect(new Set(sums[0]).size).toBe(1);
    expect(sums[0]?.[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(sums[1]?.[0]).not.toBe(sums[0]?.[0]);
  });

  test('prepares topics and indexes of every service with a database first', () => {
    const job = named('minimal', 'Job', 'bmg-prepare');
    expect(job?.metadata.annotations).toEqual({
      'helm.sh/hook': 'post-install,pre-upgrade',
      'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
    });
    const stored = Object.entries(facts())
      .filter(([, { secrets }]) => secrets.includes('MONGO_URL'))
      .map(([name]) => name);
    const { containers } = job?.spec.template.spec ?? {};
    expect((containers as Array<{ name: string }>).map(({ name }) => name)).toEqual(stored.sort());
    for (const { args } of containers) expect(args).toEqual(['prepare']);
    expect(job?.spec).toMatchObject({ backoffLimit: 3, activeDeadlineSeconds: 3600 });
    const policy = named('minimal', 'NetworkPolicy', 'bmg-prepare');
    expect(policy?.spec.ingress).toBeUndefined();
    const ports = (policy?.spec.egress as Array<{ ports: Array<{ port: number }> }>).flatMap(
      (rule) => rule.ports.map(({ port }) => port),
    );
    expect(ports.sort()).toEqual([27017, 9092]);
  });
});

describeChart('a pod of the chart', () => {
  test('has five minutes to start, is restarted if hung, and gets calls only while it is ready', () => {
    for (const variant of ['minimal', 'production']) {
      for (const one of deployments(variant)) {
        const { livenessProbe, readinessProbe, startupProbe } = mainOf(one);
        // On a busy node a start took 87 seconds, and its pod was killed as a hung one.
        expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBe(300);
        expect(startupProbe.httpGet).toEqual(livenessProbe.httpGet);
        expect(livenessProbe).toEqual({
          httpGet: { path: '/livez', port: 'metrics' },
          periodSeconds: 10,
          timeoutSeconds: 5,
          failureThreshold: 6,
        });
        expect(readinessProbe).toEqual({
          httpGet: { path: '/readyz', port: 'metrics' },
          periodSeconds: 5,
          timeoutSeconds: 3,
          failureThreshold: 2,
        });
      }
    }
  });

  test('is spread over zones and nodes, apart from the others of its service', () => {
    for (const { metadata, spec } of deployments('production')) {
      expect(spec.template.spec.topologySpreadConstraints).toEqual(
        ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
          topologyKey,
          maxSkew: 1,
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: spec.selector.matchLabels },
        })),
      );
      expect(spec.selector.matchLabels['app.kubernetes.io/component']).toBe(componentOf(metadata));
    }
  });

  test('has the ports of its service, and is scraped at the one for metrics', () => {
    for (const one of deployments('production')) {
      const { metrics, grpc, http } = facts()[componentOf(one.metadata)] ?? {};
      expect(
        (mainOf(one).ports as Array<{ containerPort: number }>).map(
          ({ containerPort }) => containerPort,
        ),
      ).toEqual([metrics, grpc, http].filter(Boolean));
      expect(one.spec.template.metadata.annotations).toMatchObject({
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': String(metrics),
      });
    }
  });

  test('mounts secrets and certificates for its own user, read-only', () => {
    for (const variant of ['minimal', 'production']) {
      for (const one of deployments(variant)) {
        const { volumes } = one.spec.template.spec;
        for (const { secret } of volumes) if (secret) expect(secret.defaultMode).toBe(0o440);
        for (const { mountPath, readOnly } of mainOf(one).volumeMounts) {
          if (mountPath.startsWith('/etc/'))
            expect([mountPath, readOnly]).toEqual([mountPath, true]);
        }
      }
    }
  });

  test('uses the image of its service in the registry, by digest if one is given', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const image = { tag: '9.9.9', digests: { gateway: digest } };
    const images = byComponent(rendered({ image }, 'Deployment'), (one) => mainOf(one).image);
    expect(images).toMatchObject({
      gateway: `registry.example.com/bmg/bmg-gateway:9.9.9@${digest}`,
      messaging: 'registry.example.com/bmg/bmg-messaging:9.9.9',
      operator: 'registry.example.com/bmg/bmg-cli:9.9.9',
    });
    for (const { pod } of podsOf(manifests(textOf('production')))) {
      expect(pod.imagePullSecrets).toEqual([{ name: 'registry' }]);
    }
  });

  test('of messaging keeps its journal of sends in memory, beyond a restart of the container', () => {
    const [messaging] = deployments('minimal').filter(
      ({ metadata }) => componentOf(metadata) === 'messaging',
    );
    const journal = { medium: 'Memory', sizeLimit: '8Mi' };
    expect(messaging?.spec.template.spec.volumes).toContainEqual({
      name: 'journal',
      emptyDir: journal,
    });
    const { volumeMounts } = mainOf(messaging as Manifest);
    expect(volumeMounts).toContainEqual({
      name: 'journal',
      mountPath: settings('minimal')['messaging']?.['SEND_JOURNAL_DIR'],
    });
  });
});

describeChart('the settings that the chart derives', () => {
  test('drain for longer than an answer of the cluster’s DNS lives', () => {
    const drains = new Set(Object.values(settings('minimal')).map(({ DRAIN_MS }) => DRAIN_MS));
    expect(drains).toEqual(new Set(['7000']));
  });

  test('replicate topics three times, except on the single broker of a trial', () => {
    const values = ['minimal', 'trial'].map(
      (variant) =>
        new Set(Object.values(settings(variant)).flatMap((one) => one['KAFKA_REPLICATION'] ?? [])),
    );
    expect(values).toEqual([new Set(['3']), new Set(['1'])]);
  });

  test('trust one proxy exactly if the chart makes the ingress', () => {
    expect(settings('production')['gateway']?.['PROXY_HOPS']).toBe('1');
    expect(settings('minimal')['gateway']?.['PROXY_HOPS']).toBeUndefined();
  });

  test('prefer a service’s own to the common ones, and both to the derived', () => {
    const values = {
      settings: { DRAIN_MS: 3_000 },
      services: { gateway: { settings: { DRAIN_MS: 2_000 } } },
    };
    const drains = byComponent(rendered(values, 'Deployment'), (one) => envOf(one)['DRAIN_MS']);
    expect(drains).toMatchObject({ gateway: '2000', messaging: '3000' });
  });

  test('are written without an exponent, however large they are', () => {
    const text = render([example('minimal')], { settings: { AUDITED_CHANGES_MAX: 10_000_000 } });
    expect(text).toMatch(/name: AUDITED_CHANGES_MAX\n\s+value: "10000000"/);
  });

  test.each(Object.keys(VARIANTS))('name addresses at which a pod listens: %s', (variant) => {
    const services = new Map(
      of(variant, 'Service').map((one) => [one.metadata.name, one] as const),
    );
    const own = podsOf(manifests(textOf(variant))).flatMap(
      ({ pod }) => pod.containers.flatMap((one: any) => one.env ?? []), // any: a manifest's part
    ) as Array<{ name: string; value?: string }>;
    const addresses = own.filter(({ name }) => name.endsWith('_ADDR'));
    expect(addresses.length).toBeGreaterThan(0);
    for (const { name, value = '' } of addresses) {
      const [host = '', port] = value.split(':');
      const service = services.get(host);
      expect([name, service?.spec.ports[0].port]).toEqual([name, Number(port)]);
      // Each pod is resolved, and serves what it can while an engine is unreachable.
      expect(service?.spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
      expect(selected(variant, service?.spec.selector).length).toBe(1);
    }
  });
});

describeChart('the services of the chart', () => {
  test.each(Object.keys(VARIANTS))('lead to a port that the selected pods have: %s', (variant) => {
    for (const { metadata, spec } of of(variant, 'Service')) {
      const { port, targetPort = port } = spec.ports[0];
      const pods = selected(variant, spec.selector).filter(({ pod }) =>
        (pod.containers[0].ports as Array<{ name: string; containerPort: number }>).some(
          (one) => one.containerPort === port && [one.name, one.containerPort].includes(targetPort),
        ),
      );
      expect([metadata.name, pods.length]).toEqual([metadata.name, 1]);
    }
  });

  test('lose one pod at a time to a drain, and a broken pod blocks none', () => {
    const budgets = of('production', 'PodDisruptionBudget');
    expect(componentsOf(budgets).sort()).toEqual(names);
    for (const { metadata, spec } of budgets) {
      expect(spec).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
      const pods = selected('production', spec.selector.matchLabels);
      expect(pods.map((one) => componentOf(one.metadata))).toEqual([componentOf(metadata)]);
    }
  });

  test('scale from two to the limits of the values, slowly, or stay at the given number', () => {
    for (const { metadata, spec } of of('minimal', 'HorizontalPodAutoscaler')) {
      expect(spec.scaleTargetRef).toEqual({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        name: metadata.name,
      });
      expect(spec.minReplicas).toBe(2);
      expect(spec.metrics[0].resource.target).toEqual({
        type: 'Utilization',
        averageUtilization: 70,
      });
      expect(spec.behavior).toEqual({
        scaleUp: { stabilizationWindowSeconds: 90 },
        scaleDown: { stabilizationWindowSeconds: 300 },
      });
    }
    const replicas = byComponent(deployments('minimal'), ({ spec }) => spec.replicas);
    const scaled = componentsOf(of('minimal', 'HorizontalPodAutoscaler'));
    // The example switches autoscaling off for the gateway.
    expect(scaled.sort()).toEqual(names.filter((name) => name !== 'gateway'));
    expect(replicas).toEqual(
      Object.fromEntries(names.map((name) => [name, name === 'gateway' ? 3 : undefined])),
    );
    for (const { metadata, spec } of of('production', 'ScaledObject')) {
      expect(spec.scaleTargetRef).toEqual({ name: metadata.name });
      expect(spec.minReplicaCount).toBe(2);
      expect(spec.triggers[0]).toEqual({
        type: 'cpu',
        metricType: 'Utilization',
        metadata: { value: '70' },
      });
      expect(spec.triggers[1].metadata).toMatchObject({
        lagThreshold: '1000',
        offsetResetPolicy: 'earliest',
      });
    }
  });

  test('are scraped with the labels that the alerts use', () => {
    const [monitor] = of('production', 'PodMonitor');
    expect(monitor?.spec.podMetricsEndpoints).toEqual([
      {
        port: 'metrics',
        interval: '15s',
        relabelings: [
          {
            sourceLabels: ['__meta_kubernetes_pod_label_app_kubernetes_io_component'],
            targetLabel: 'service',
          },
          { targetLabel: 'job', replacement: 'bmg' },
        ],
      },
    ]);
    for (const name of names) {
      const labels = { ...monitor?.spec.selector.matchLabels, 'app.kubernetes.io/component': name };
      expect(selected('production', labels).length).toBe(1);
    }
  });

  test('run under accounts of their own, without a token', () => {
    for (const variant of Object.keys(VARIANTS)) {
      const accounts = of(variant, 'ServiceAccount') as Array<
        Manifest & { automountServiceAccountToken?: boolean }
      >;
      for (const one of accounts) expect(one.automountServiceAccountToken).toBe(false);
      const known = accounts.map(({ metadata }) => metadata.name);
      for (const { pod, metadata } of podsOf(manifests(textOf(variant)))) {
        if (pod.serviceAccountName) expect(known).toContain(pod.serviceAccountName);
        if (componentOf(metadata) in SERVICES) {
          expect(pod.serviceAccountName).toBe(`bmg-${componentOf(metadata)}`);
        }
      }
    }
  });
});

describeChart('the entry points of the chart', () => {
  const doors = () => of('production', 'Ingress');

  test('are the public paths of the gateway and of the upstream, and no others', () => {
    const paths = Object.fromEntries(
      doors().map(({ metadata, spec }) => [
        metadata.name,
        (spec.rules[0].http.paths as Array<Record<string, any>>).map(
          // any: a manifest's part
          ({ path, pathType, backend }) =>
            `${pathType} ${path} → ${backend.service.name} ${backend.service.port.name}`,
        ),
      ]),
    );
    const gateway =
      '/v1 /mcp /connect /dashboard /docs /openapi.json /asyncapi.json /collection.json';
    expect(paths).toEqual({
      'bmg-gateway': `${gateway} /environment.json /llms.txt /changelog /clients`
        .split(' ')
        .map((path) => `Prefix ${path} → bmg-gateway-http http`),
      'bmg-webhooks': ['upstream', 'payments', 'canary'].map(
        (path) => `Exact /webhooks/${path} → bmg-webhooks-http http`,
      ),
    });
  });

  test('have TLS, their own hosts, and the annotations of both kinds', () => {
    const seen = doors().map(({ metadata, spec }) => [
      spec.ingressClassName,
      spec.tls,
      spec.rules[0].host,
      metadata.annotations,
    ]);
    const own = 'nginx.ingress.kubernetes.io/proxy-';
    const issuer = { 'cert-manager.io/cluster-issuer': 'public-ca' };
    const door = (name: string, host: string, annotations: object) => [
      'nginx',
      [{ hosts: [host], secretName: `bmg-${name}-ingress-tls` }],
      host,
      { ...issuer, ...annotations },
    ];
    expect(seen).toEqual([
      door('gateway', 'messaging.example.com', {
        [`${own}body-size`]: '17m',
        [`${own}read-timeout`]: '310',
      }),
      door('webhooks', 'hooks.messaging.example.com', { [`${own}body-size`]: '5m' }),
    ]);
  });
});

describeChart('the secrets of the chart', () => {
  test('come from an entry of the store for each service, with what it reads', () => {
    const read = Object.fromEntries(
      of('production', 'ExternalSecret').map(({ spec }) => [
        spec.target.name,
        (spec.data as Array<{ secretKey: string; remoteRef: { key: string } }>).map(
          ({ secretKey, remoteRef }) => `${remoteRef.key} ${secretKey}`,
        ),
      ]),
    );
    const mounted = of('production', 'Deployment').flatMap(({ metadata, spec }) =>
      (spec.template.spec.volumes as Array<{ secret?: any }>) // any: a manifest's part
        .filter(({ secret }) => secret?.items)
        .map(({ secret }) => [
          secret.secretName as string,
          (secret.items as Array<{ key: string }>).map(
            ({ key }) => `messaging/production/${componentOf(metadata)} ${key}`,
          ),
        ]),
    );
    // The example gives onboarding a Secret of its own, which exists already.
    expect(mounted.map(([name]) => name)).toContain('bmg-onboarding-own');
    expect(read).toEqual(
      Object.fromEntries(mounted.filter(([name]) => name !== 'bmg-onboarding-own')),
    );
  });

  test('are made from the values of a trial', () => {
    const made = named('trial', 'Secret', 'bmg-secrets');
    expect(Object.keys({ ...made?.stringData, ...made?.data }).sort()).toEqual([
      'ENCRYPTION_KEYRING',
      'KEY_PEPPER',
      'PLATFORM_PIN',
      'UPSTREAM_APP_SECRET',
      'UPSTREAM_VERIFY_TOKEN',
    ]);
  });
});

describeChart('the engines of a trial', () => {
  const NEEDED = { kafka: 'KAFKA_BROKERS', mongo: 'MONGO_URL', redis: 'REDIS_URL' };
  const PORTS = { kafka: 9092, mongo: 27017, redis: 6379 };
  const reads = (name: string, setting: string): boolean => {
    const { settings: own = [], secrets = [] } = facts()[name] ?? OPERATOR;
    return [...own, ...secrets].includes(setting);
  };

  test.each(Object.entries(NEEDED))('%s is open to exactly its readers', (engine, setting) => {
    const policies = new Map(
      of('trial', 'NetworkPolicy').map(({ metadata, spec }) => [metadata.name, spec] as const),
    );
    const from = policies
      .get(`bmg-${engine}`)
      .ingress.flatMap((rule: { from: Array<{ podSelector: any }> }) =>
        rule.from.map(({ podSelector }) => podSelector.matchLabels['app.kubernetes.io/component']),
      ); // any: a manifest's part
    const readers = [...names, 'operator'].filter((name) => reads(name, setting));
    expect(from.sort()).toEqual([...readers, ...(engine === 'redis' ? [] : ['prepare'])].sort());
    const port = PORTS[engine as keyof typeof PORTS];
    for (const variant of ['trial', 'minimal']) {
      for (const { metadata, spec } of of(variant, 'NetworkPolicy')) {
        const name = componentOf(metadata);
        if (!(name in SERVICES) && name !== 'operator') continue;
        // Destinations may leave on the ports of partners' brokers, to addresses outside.
        const inside = spec.egress.filter(({ to }: { to?: object[] }) =>
          JSON.stringify(to ?? []).includes('podSelector'),
        );
        const rules = name === 'destinations' ? inside : spec.egress;
        const out = JSON.stringify(rules).includes(`"port":${port}`);
        expect([variant, name, out]).toEqual([variant, name, reads(name, setting)]);
      }
    }
  });

  test('keep their data in a volume, and are the ones that the services use', () => {
    const engines = of('trial', 'StatefulSet');
    expect(componentsOf(engines).sort()).toEqual(Object.keys(NEEDED).sort());
    for (const { spec } of engines) {
      expect(spec.volumeClaimTemplates[0].spec).toEqual({
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '4Gi' } },
      });
      const [mount] = spec.template.spec.containers[0].volumeMounts;
      expect(mount.name).toBe('data');
    }
    expect(settings('trial')['messaging']).toMatchObject({
      KAFKA_BROKERS: 'bmg-kafka.messaging.svc:9092',
      MONGO_URL: 'mongodb://bmg-mongo:27017',
      REDIS_URL: 'redis://bmg-redis:6379',
      UPSTREAM_URL: 'http://bmg-emulator:8090',
    });
  });

  test('stand beside an emulator that posts to the webhooks of the release', () => {
    const emulator = componentNamed('trial', 'Deployment', 'emulator');
    const env = envOf(emulator);
    const secret = (key: string) => ({ secretKeyRef: { name: 'bmg-secrets', key } });
    expect(env).toMatchObject({
      EMULATOR_WEBHOOK_URL: 'http://bmg-webhooks-http:8081/webhooks/upstream',
      EMULATOR_PUBLIC_URL: 'http://bmg-emulator:8090',
      UPSTREAM_APP_ID: 'app-local',
      UPSTREAM_APP_SECRET: secret('UPSTREAM_APP_SECRET'),
      UPSTREAM_VERIFY_TOKEN: secret('UPSTREAM_VERIFY_TOKEN'),
    });
  });
});

describeChart('the operator’s pod', () => {
  test('knows every service, calls the gateway inside the cluster, and runs `helm test`', () => {
    const operator = componentNamed('minimal', 'Deployment', 'operator');
    const called = Object.entries(envOf(operator))
      .filter(([name]) => name.endsWith('_ADDR'))
      .map(([, value]) => value as string);
    const expected = Object.entries(facts())
      // Only webhooks calls destinations.
      .filter(([name, { grpc }]) => grpc !== undefined && name !== 'destinations')
      .map(([name, { grpc }]) => `bmg-${name}:${grpc}`);
    expect(called.sort()).toEqual(expected.sort());
    const [smoke] = of('trial', 'Pod');
    expect(smoke?.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'test' });
    const env = JSON.stringify(smoke?.spec.containers[0].env);
    expect(env).toContain('{"name":"BASE_URL","value":"http://bmg-gateway-http:8080"}');
    expect(env).toContain('{"name":"EMULATOR_URL","value":"http://bmg-emulator:8090"}');
  });

  test.each([
    [
      'reads Kafka as a user of its own',
      {},
      ['bmg-operator', '/etc/bmg/secrets/KAFKA_SASL_PASSWORD'],
    ],
    ['gets no user of a service', { operator: { settings: null } }, [undefined, undefined]],
  ])('%s', (_name, values, expected) => {
    const made = manifests(renderExactly([example('production')], values));
    const part = (kind: string) =>
      made.find((one) => one.kind === kind && one.metadata.name === 'bmg-operator') as Manifest;
    const env = mainOf(part('Deployment')).env as Array<{ name: string; value: string }>;
    const valueOf = (name: string) => env.find((one) => one.name === name)?.value;
    expect(['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD_FILE'].map(valueOf)).toEqual(expected);
    const known = expected.every((one) => one !== undefined);
    expect(valueOf('KAFKA_BROKERS') !== undefined).toBe(known);
    expect(JSON.stringify(part('NetworkPolicy').spec.egress).includes('"port":9094')).toBe(known);
  });
});
