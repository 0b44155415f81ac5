// The rules of the chart: network policies, secrets and certificates, probes, scaling, and the
// values that it refuses.
import { CALLER_NAMES, namesOf } from '@bmg/common/identity';
import { facts, SERVICES } from './facts';
import { arrows, componentOf, podsOf } from './manifest-parts';
import { example, manifests, refusal, type Values } from './render';
import { hasGo, helm } from './tools';
import { of, textOf } from './variants';

const BUILD_LIMIT_MS = 20 * 60_000;

const describeChart = hasGo ? describe : describe.skip;

if (hasGo) beforeAll(() => void helm(), BUILD_LIMIT_MS);

describeChart('network policies', () => {
  test('allows exactly the gRPC calls of the design', () => {
    const calls = arrows(of('production', 'NetworkPolicy'));
    expect(calls).toEqual([
      'broadcasts → messaging',
      'broadcasts → onboarding',
      'broadcasts → templates',
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
      'webhooks → onboarding',
    ]);
  });

  test('only services that call the upstream or a partner reach public addresses', () => {
    const outside = of('production', 'NetworkPolicy')
      .filter(({ spec }) => JSON.stringify(spec.egress ?? []).includes('0.0.0.0/0'))
      .map(({ metadata }) => componentOf(metadata));
    expect(outside.sort()).toEqual([
      'messaging',
      'number-admin',
      'onboarding',
      'templates',
      'webhooks',
    ]);
  });

  test('denies all other traffic of every pod of the release', () => {
    const [deny] = of('production', 'NetworkPolicy').filter(({ metadata }) =>
      metadata.name.endsWith('default-deny'),
    );
    expect(deny?.spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(deny?.spec.ingress).toBeUndefined();
    expect(JSON.stringify(deny?.spec.egress)).toMatch(/"port":53/);
    for (const { metadata } of podsOf(manifests(textOf('production')))) {
      expect(metadata.labels).toMatchObject(deny?.spec.podSelector.matchLabels);
    }
  });
});

/** The names that identify callers, as the services are told. */
const identitiesOf = (variant: string): string[] => {
  const [, identities] =
    /GRPC_IDENTITIES"?(?::|\n\s+value:) "?([^"\n]+)/.exec(textOf(variant)) ?? [];
  return (identities as string).split(',');
};

describeChart('secrets and certificates', () => {
  test('a service gets only the secrets that it reads', () => {
    const seen = Object.fromEntries(
      of('minimal', 'Deployment').map(({ metadata, spec }) => [
        componentOf(metadata),
        (spec.template.spec.volumes as Array<{ secret?: { items: Array<{ key: string }> } }>)
          .flatMap(({ secret }) => secret?.items ?? [])
          .map(({ key }) => key),
      ]),
    );
    expect(seen).toMatchObject({
      gateway: ['REDIS_URL', 'KEY_PEPPER'],
      fanout: ['REDIS_URL'],
      'number-admin': ['REDIS_URL', 'PLATFORM_PIN'],
      operator: [],
    });
    expect(Object.values(seen).filter((keys) => keys.includes('ENCRYPTION_KEYRING'))).toHaveLength(
      1,
    );
  });

  test('a certificate carries its service’s mesh identity and its DNS name', () => {
    const certificates = of('production', 'Certificate');
    expect(certificates.map(({ metadata }) => componentOf(metadata)).sort()).toEqual(
      [...Object.keys(SERVICES), 'operator'].sort(),
    );
    for (const { metadata, spec } of certificates) {
      expect(spec.dnsNames).toContain(componentOf(metadata));
      expect(spec.dnsNames).toContain(metadata.name);
      // The certificate identifies exactly this caller, and only in this namespace.
      const names = (spec.dnsNames as string[]).map((name) => `DNS:${name}`).join(', ');
      const identities = identitiesOf('production');
      // onboarding makes no calls, so it is not a caller.
      expect(namesOf(names, identities)).toEqual(
        CALLER_NAMES.filter((name) => name === componentOf(metadata)),
      );
      expect(namesOf(names.replaceAll('.svc', '-other.svc'), identities)).toEqual([]);
    }
  });
});

describeChart('probes and scaling', () => {
  test('probes use gRPC, or HTTP where mutual TLS is on', () => {
    const probes = (variant: string) =>
      Object.fromEntries(
        of(variant, 'Deployment').map(({ metadata, spec }) => [
          componentOf(metadata),
          Object.keys(spec.template.spec.containers[0].readinessProbe ?? {})[0],
        ]),
      );
    expect(probes('minimal')).toMatchObject({
      gateway: 'httpGet',
      messaging: 'grpc',
      fanout: 'httpGet',
    });
    expect(probes('production')).toMatchObject({ messaging: 'httpGet' });
  });

  test('KEDA scales each Kafka consumer on its own lag, with a single autoscaler', () => {
    const scaled = of('production', 'ScaledObject');
    const read = Object.entries(facts()).filter(([, { consumes }]) => consumes.length > 0);
    expect(scaled.map(({ metadata }) => componentOf(metadata)).sort()).toEqual(
      read.map(([name]) => name).sort(),
    );
    const own = of('production', 'HorizontalPodAutoscaler').map(({ metadata }) =>
      componentOf(metadata),
    );
    expect(own.sort()).toEqual(['gateway', 'number-admin']);
    const [fanout] = scaled.filter(({ metadata }) => componentOf(metadata) === 'fanout');
    expect(fanout?.spec.triggers[1]).toMatchObject({
      type: 'kafka',
      metadata: {
        consumerGroup: 'bmg.fanout',
        topic: 'bmg.upstream-webhook.v1',
        tls: 'enable',
        sasl: 'scram_sha512',
      },
      authenticationRef: { name: 'bmg-kafka' },
    });
  });
});

describeChart('the chart refuses, with a reason,', () => {
  test.each<[string, string, Values, RegExp]>([
    ['a typo at the top', 'minimal', { ingres: {} }, /ingres/],
    ['a typo in a service', 'minimal', { services: { gateway: { replica: 2 } } }, /replica/],
    ['a service that does not exist', 'minimal', { services: { gatway: {} } }, /gatway/],
    ['a setting that no service reads', 'minimal', { settings: { RATE_LIMIT: 5 } }, /RATE_LIMIT/],
    ['a secret among the settings', 'minimal', { settings: { KEY_PEPPER: 'x' } }, /KEY_PEPPER/],
    [
      'a setting out of its range',
      'minimal',
      { settings: { DELIVERY_SHARE: 0 } },
      /DELIVERY_SHARE/,
    ],
    [
      'a setting of the wrong kind',
      'minimal',
      { settings: { UPSTREAM_APP_ID: 12 } },
      /UPSTREAM_APP_ID/,
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
