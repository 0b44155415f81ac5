// The compose files: valid by the compose schema, with settings that the processes read and accept,
// and with mounts and dependencies that exist.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { loadConfig } from '@bmg/common/config';
import { EVERYWHERE, facts, ROOT, SERVICES, WORKSPACES } from './facts';
import { composeSchema, hasGo } from './tools';
import { load } from '../testkit/yaml';

interface Container {
  image: string;
  build?: { context: string; dockerfile: string; target: string; args: { WORKSPACE: string } };
  environment?: Record<string, string | number>;
  healthcheck?: { test: string[] };
  volumes?: string[];
  depends_on?: string[] | Record<string, unknown>;
  read_only?: boolean;
  cap_drop?: string[];
}

interface Compose {
  name: string;
  services: Record<string, Container>;
  volumes?: Record<string, unknown>;
}

const read = (name: string): Compose =>
  load(readFileSync(join(ROOT, 'deploy', name), 'utf8')) as Compose;
const engines = read('compose.yaml');
const mesh = read('compose.mesh.yaml');
const FETCH_LIMIT_MS = 6 * 60_000;

/** What compose makes of `${NAME:-fallback}`. */
const valueOf = (value: string | number, given: Record<string, string>): string =>
  String(value).replaceAll(
    /\$\{(\w+):-([^}]*)\}/g,
    (_all, name: string, fallback: string) => given[name] || fallback,
  );

/** The environment of a container if `given` is that of `docker compose`. */
const environment = (name: string, given: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(mesh.services[name]?.environment ?? {}).map(([key, value]) => [
      key,
      valueOf(value, given),
    ]),
  );

(hasGo ? test : test.skip)(
  'both files are valid by the schema of compose',
  () => {
    const { $schema: _draft, ...schema } = composeSchema() as Record<string, unknown>;
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats(ajv);
    const validate = ajv.compile(schema);
    for (const file of [engines, mesh]) {
      validate(file);
      expect(validate.errors ?? []).toEqual([]);
    }
    expect(validate({ ...engines, servces: {} })).toBe(false);
    expect(validate({ services: { mongo: { ...engines.services['mongo'], prots: [] } } })).toBe(
      false,
    );
  },
  FETCH_LIMIT_MS,
);

test('has one container for each process, built from its workspace', () => {
  const built = Object.entries(mesh.services).map(([name, { build }]) => [
    name,
    build?.args.WORKSPACE,
  ]);
  expect(Object.fromEntries(built)).toEqual({ ...WORKSPACES, emulator: 'test' });
  for (const { build } of Object.values(mesh.services)) {
    expect(existsSync(join(ROOT, 'deploy', build?.context ?? '', build?.dockerfile ?? ''))).toBe(
      true,
    );
    expect(readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8')).toContain(
      ` AS ${build?.target}\n`,
    );
  }
});

test.each(Object.keys(SERVICES))('%s reads and accepts all its settings', (name) => {
  const env = environment(name);
  const table = SERVICES[name] ?? {};
  expect(Object.keys(env).filter((one) => !(one in table) && !(one in EVERYWHERE))).toEqual([]);
  expect(() => loadConfig(table, env)).not.toThrow();
  expect(env).toHaveProperty('OTEL_EXPORTER_OTLP_ENDPOINT');
});

test('an issuer for people reaches its readers from the environment; there is none by default', () => {
  const given: Record<string, string> = {
    OIDC_ISSUER: 'https://login.example.com/acme',
    OIDC_CLIENT_ID: 'messaging-console',
    OIDC_CLIENT_SECRET: 'secret-of-the-client',
  };
  const read = Object.entries(SERVICES).flatMap(([name, table]) =>
    Object.keys(table).flatMap((setting) => (setting in given ? [{ name, table, setting }] : [])),
  );
  expect([...new Set(read.map(({ name }) => name))]).toEqual(['gateway', 'onboarding']);
  for (const { name, table, setting } of read) {
    const [set, unset] = [given, {}].map(
      (env) => loadConfig(table, environment(name, env)).config as Record<string, unknown>,
    );
    expect([set?.[setting], unset?.[setting]]).toEqual([given[setting], undefined]);
  }
});

test('health checks use each service’s metrics port, callers its gRPC port', () => {
  for (const [name, { metrics, grpc }] of Object.entries(facts())) {
    expect(mesh.services[name]?.healthcheck?.test.join(' ')).toContain(
      "fetch('http://127.0.0.1:' + process.env.METRICS_PORT + '/readyz')",
    );
    expect(environment(name)['METRICS_PORT']).toBe(String(metrics));
    if (grpc === undefined) continue;
    const setting = `${name.replace('-', '_').toUpperCase()}_ADDR`;
    const callers = Object.values(mesh.services).flatMap(({ environment: env = {} }) =>
      setting in env ? [env[setting]] : [],
    );
    expect(new Set(callers)).toEqual(new Set([`${name}:${grpc}`]));
  }
});

test('the CLI and the emulator read all their settings', () => {
  const sources = (paths: string[]): string =>
    paths.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');
  const emulator = sources(['test/emulator/main.ts']);
  for (const name of Object.keys(environment('emulator'))) expect(emulator).toContain(`'${name}'`);
  const cli = sources(['session', 'commands/platform'].map((name) => `deploy/cli/src/${name}.ts`));
  for (const name of Object.keys(environment('cli'))) expect(cli).toContain(`'${name}'`);
});

test('our containers write only to the temporary folder and have no capabilities', () => {
  for (const { read_only, cap_drop } of Object.values(mesh.services)) {
    expect([read_only, cap_drop]).toEqual([true, ['ALL']]);
  }
});

test('mounted files and awaited services exist', () => {
  const names = Object.keys({ ...engines.services, ...mesh.services });
  for (const file of [engines, mesh]) {
    for (const { volumes = [], depends_on = [] } of Object.values(file.services)) {
      for (const volume of volumes.map((one) => one.split(':')[0] as string)) {
        if (volume.startsWith('.'))
          expect([volume, existsSync(join(ROOT, 'deploy', volume))]).toEqual([volume, true]);
        else expect(Object.keys(file.volumes ?? {})).toContain(volume);
      }
      const waits = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      for (const name of waits) expect(names).toContain(name);
    }
  }
});
