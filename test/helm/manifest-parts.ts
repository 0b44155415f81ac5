// Extracts the parts of rendered manifests that the chart tests check.
import { facts, type SERVICES } from './facts';
import type { Manifest } from './render';

/** Valid values for the secrets. */
const SECRET_VALUES: Record<string, string> = {
  ENCRYPTION_KEYRING: 'k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  EVENT_LOG_KEYRING: 'k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  PLATFORM_PIN: '123456',
  MONGO_URL: 'mongodb://mongo.example',
  REDIS_URL: 'rediss://redis.example',
};

export const componentOf = ({ labels }: Manifest['metadata']): string =>
  labels['app.kubernetes.io/component'] ?? '';

export const componentsOf = (all: ReadonlyArray<Pick<Manifest, 'metadata'>>): string[] =>
  all.map(({ metadata }) => componentOf(metadata));

/** The variables of a container, or of the first one of a workload. */
export function envOf(container: any): Record<string, any> {
  // any: a manifest's part
  const { env } = container?.spec?.template.spec.containers[0] ?? container;
  return Object.fromEntries(
    (env as Array<{ name: string; value?: string; valueFrom?: unknown }>).map(
      ({ name, value, valueFrom }) => [name, value ?? valueFrom],
    ),
  );
}

/** Rules that check for files on this machine cannot run here. */
export const withoutFiles = (table: (typeof SERVICES)[string]): (typeof SERVICES)[string] =>
  Object.fromEntries(
    Object.entries(table).map(([name, field]) => [name, { ...field, file: false }]),
  );

/** The environment of the process. A mounted file counts as the secret that its key names. */
export function environmentOf(container: any, volumes: any[]): Record<string, string> {
  // any: a manifest's parts
  const keys = volumes
    .filter(({ secret }) => secret?.items !== undefined)
    .flatMap(({ secret }) => (secret.items as Array<{ key: string }>).map(({ key }) => key));
  return Object.fromEntries(
    Object.entries(envOf(container)).map(([name, value]: [string, string]) => {
      if (!value.startsWith('/etc/bmg/secrets/')) return [name, value];
      const setting = name.replace(/_FILE$/, '');
      expect(value).toBe(`/etc/bmg/secrets/${setting}`);
      expect(keys).toContain(setting);
      return [setting, SECRET_VALUES[setting] ?? 'a-secret'];
    }),
  );
}

export interface Pod {
  pod: any; // any: a manifest's part
  metadata: Manifest['metadata'];
}

export const podsOf = (all: Manifest[]): Pod[] =>
  all.flatMap(({ kind, metadata, spec }) => {
    if (kind === 'Pod') return [{ pod: spec, metadata }];
    const template = (spec?.jobTemplate?.spec ?? spec)?.template;
    return template?.spec ? [{ pod: template.spec, metadata: template.metadata }] : [];
  });

/** `caller → callee` for each pair that both sides' policies allow on the callee's gRPC port. */
export function arrows(policies: Manifest[]): string[] {
  const known = facts();
  const has = (
    rules: any[] | undefined,
    side: 'from' | 'to',
    other: string,
    port: number,
  ): boolean =>
    // any: a manifest's part
    (rules ?? []).some(
      (rule) =>
        (rule.ports as Array<{ port: number }>).some((one) => one.port === port) &&
        JSON.stringify(rule[side] ?? []).includes(`"app.kubernetes.io/component":"${other}"`),
    );
  const found: string[] = [];
  for (const [callee, { grpc }] of Object.entries(known)) {
    if (grpc === undefined) continue;
    for (const caller of [...Object.keys(known), 'operator']) {
      const [theirs, own] = [caller, callee].map((name) =>
        policies.find(({ metadata }) => metadata.name === `bmg-${name}`),
      );
      const out = has(theirs?.spec.egress, 'to', callee, grpc);
      const into = has(own?.spec.ingress, 'from', caller, grpc);
      expect([caller, callee, out]).toEqual([caller, callee, into]);
      if (out) found.push(`${caller} → ${callee}`);
    }
  }
  return found.sort();
}
