import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fields, loadConfig, type ConfigError } from '.';

const dir = mkdtempSync(join(tmpdir(), 'bmg-tls-settings-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const path = join(dir, 'file.pem');
writeFileSync(path, 'x');

const settings = { ...fields.shared, GRPC_HOST: fields.text('a host', { default: '0.0.0.0' }) };
const all = { GRPC_TLS_CERT_FILE: path, GRPC_TLS_KEY_FILE: path, GRPC_TLS_CA_FILE: path };

const faultsOf = (env: NodeJS.ProcessEnv): string[] => {
  try {
    loadConfig(settings, env);
    return [];
  } catch (error) {
    return (error as ConfigError).faults;
  }
};

test('accepts all three files without a warning', () => {
  const { config, warnings } = loadConfig(settings, all);
  expect(config).toMatchObject(all);
  expect(warnings).toEqual([]);
});

test('names the missing files when only some are set', () => {
  const { GRPC_TLS_CA_FILE: _left_out, ...two } = all;
  expect(faultsOf(two)).toEqual([
    'GRPC_TLS_CERT_FILE also requires GRPC_TLS_CA_FILE',
    'GRPC_TLS_KEY_FILE also requires GRPC_TLS_CA_FILE',
  ]);
});

test('reports a missing file together with all other faults', () => {
  expect(faultsOf({ ...all, GRPC_TLS_KEY_FILE: `${path}.none`, DRAIN_MS: 'x' })).toEqual([
    expect.stringContaining('DRAIN_MS'),
    `GRPC_TLS_KEY_FILE names a file that cannot be read: ${path}.none`,
  ]);
});

describe('plain text', () => {
  test.each([
    ['on an address that others reach', {}, 1],
    ['on this machine only', { GRPC_HOST: '127.0.0.1' }, 0],
    [
      'with a neighbour elsewhere',
      { GRPC_HOST: '127.0.0.1', ONBOARDING_ADDR: 'onboarding:50051' },
      1,
    ],
    ['with a neighbour here', { GRPC_HOST: '::1', ONBOARDING_ADDR: 'localhost:50051' }, 0],
  ])('%s', (_name, env, warnings) => {
    const withNeighbour = { ...settings, ONBOARDING_ADDR: fields.optional(fields.addresses('x')) };
    expect(loadConfig(withNeighbour, env).warnings).toHaveLength(warnings);
  });
});
