// The settings of all services: one name has one meaning, every documented setting is read, and
// every setting that is read is in a table.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES as services } from '../helm/facts';

const ROOT = join(__dirname, '../..');
const directory = (name: string): string =>
  name === 'gateway' ? 'gateway/src' : `services/${name}/src`;
const named = Object.entries(services).flatMap(([service, settings]) =>
  Object.entries(settings).map(([name, field]) => ({ service, name, field })),
);
const names = [...new Set(named.map(({ name }) => name))].sort();

/** Settings whose value differs in each process. */
const OWN_DEFAULT = ['GRPC_PORT', 'METRICS_PORT'];

function sources(path: string): string[] {
  return readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => join(path, file));
}
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
/** The code of each service beside its table of settings. */
const CODE = new Map(
  Object.keys(services).map((service) => [
    service,
    sources(directory(service))
      .filter((file) => !file.endsWith('/config.ts'))
      .map(read)
      .join('\n'),
  ]),
);

describe('a setting name', () => {
  test.each(names)('%s has the same meaning in every service', (name) => {
    const shapes = named
      .filter((one) => one.name === name)
      .map(({ field: { schema, secret = false, default: fallback } }) => {
        const { optional: _optional, ...kind } = schema;
        return { kind, secret, fallback: OWN_DEFAULT.includes(name) ? undefined : fallback };
      });
    for (const shape of shapes) expect(shape).toEqual(shapes[0]);
  });

  test.each(names)('%s follows the naming rules, with its unit, and has a description', (name) => {
    expect(name).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
    for (const { field } of named.filter((one) => one.name === name)) {
      expect(field.description).toMatch(/^\S.{9,}[^.\s]$/s);
      if (field.description.startsWith('how long')) expect(name).toMatch(/_MS$/);
    }
  });
});

describe('a documented setting', () => {
  test.each([
    ['LOG_LEVEL', 'services/common/src/telemetry/log.ts'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'services/common/src/telemetry/register.ts'],
    ['EMULATOR_PORT', 'test/emulator/main.ts'],
  ])('%s is read by %s', (name, file) => {
    expect(read(file)).toContain(name);
  });

  test.each([
    'UPSTREAM_APP_SECRET',
    'UPSTREAM_VERIFY_TOKEN',
    'PLATFORM_PIN',
    'ENCRYPTION_KEYRING',
    'KEY_PEPPER',
    'OIDC_CLIENT_SECRET',
    'STRIPE_API_KEY',
    'STRIPE_WEBHOOK_SECRET',
  ])('%s is a secret without a default', (name) => {
    const fields = named.filter((one) => one.name === name).map(({ field }) => field);
    expect(fields.length).toBeGreaterThan(0);
    for (const { secret, default: fallback } of fields) {
      expect([secret, fallback]).toEqual([true, undefined]);
    }
  });
});

describe('the settings in the code', () => {
  const common = sources('services/common/src').filter((file) => !file.includes('/config/'));
  const shared = common.map(read).join('\n');

  test.each(named.map(({ service, name }) => [service, name]))(
    '%s uses %s, which is in its table',
    (service, name) => {
      const word = new RegExp(`\\b${name}\\b`);
      expect(word.test(CODE.get(service) ?? '') || word.test(shared)).toBe(true);
    },
  );

  test('only entry points and the telemetry read process.env', () => {
    const looking = Object.keys(services)
      .flatMap((service) => sources(directory(service)))
      .concat(common)
      .filter((file) => read(file).includes('process.env'));
    const allowed = /\/main\.ts$|^services\/common\/src\/telemetry\//;
    expect(looking.filter((file) => !allowed.test(file))).toEqual([]);
  });
});
