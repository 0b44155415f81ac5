// The tested variants of the chart, each rendered once per run.
import { SERVICES } from './facts';
import { componentOf } from './manifest-parts';
import { example, manifests, render, type Manifest, type Values } from './render';
import { hasGo, helm } from './tools';

const BUILD_LIMIT_MS = 20 * 60_000;

/** Rules of the rendered chart: the first one of a file may have to build helm. */
export const describeChart = (title: string, rules: () => void): void =>
  (hasGo ? describe : describe.skip)(title, () => {
    beforeAll(() => void helm(), BUILD_LIMIT_MS);
    rules();
  });

export const VARIANTS: Record<string, [string, Values]> = {
  minimal: ['minimal', {}],
  trial: ['trial', {}],
  production: ['production', {}],
  'everything optional off': [
    'minimal',
    {
      networkPolicy: { enabled: false },
      prepare: { enabled: false },
      operator: { enabled: false },
      mtls: { renewal: { enabled: false } },
    },
  ],
  'own certificates, payments, no autoscaling': [
    'minimal',
    {
      mtls: { given: true },
      settings: { PAYMENT_PROCESSOR: 'stripe' },
      ingress: {
        enabled: true,
        gateway: { host: 'api.example.com', tlsSecret: 'api' },
        webhooks: { host: 'hooks.example.com' },
      },
      services: Object.fromEntries(
        Object.keys(SERVICES).map((name) => [name, { autoscaling: { enabled: false } }]),
      ),
      tolerations: [{ key: 'messaging', operator: 'Exists', effect: 'NoSchedule' }],
      nodeSelector: { pool: 'messaging' },
      priorityClassName: 'high',
    },
  ],
  'KEDA without passwords': ['minimal', { keda: { enabled: true } }],
  'trial with certificates': [
    'trial',
    { mtls: { certManager: { enabled: true, issuerRef: { name: 'ca' } } } },
  ],
  'certificates of an own issuer': ['minimal', { mtls: { certManager: { enabled: true } } }],
  'webhooks in two deployments': [
    'production',
    { splitWebhooks: true, emulator: { enabled: true }, keda: { enabled: true } },
  ],
  'plain gRPC': ['minimal', { mtls: { enabled: false } }],
};

const rendered = new Map<string, string>();
export const textOf = (variant: string): string => {
  const [file, values] = VARIANTS[variant] as [string, Values];
  const text = rendered.get(variant) ?? render([example(file)], values);
  rendered.set(variant, text);
  return text;
};
const parsed = new Map<string, Manifest[]>();
export const of = (variant: string, kind: string): Manifest[] => {
  const all = parsed.get(variant) ?? manifests(textOf(variant));
  parsed.set(variant, all);
  return all.filter((one) => one.kind === kind);
};

/** What `take` reads of each manifest of a kind, by component. */
export const byComponent = <T>(
  all: readonly Manifest[],
  take: (manifest: Manifest) => T,
): Record<string, T> =>
  Object.fromEntries(all.map((one) => [componentOf(one.metadata), take(one)] as const));

export const named = (variant: string, kind: string, name: string): Manifest | undefined =>
  of(variant, kind).find(({ metadata }) => metadata.name === name);
export const componentNamed = (variant: string, kind: string, name: string): Manifest | undefined =>
  of(variant, kind).find(({ metadata }) => componentOf(metadata) === name);
