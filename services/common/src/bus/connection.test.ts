import { ConfigError } from '../config';
import { connectionOf, type ConnectionSettings } from './client';

const settings = (overrides: Partial<ConnectionSettings> = {}): ConnectionSettings => ({
  KAFKA_SASL_MECHANISM: 'none',
  KAFKA_SASL_USERNAME: undefined,
  KAFKA_SASL_PASSWORD: undefined,
  KAFKA_TLS: false,
  KAFKA_TLS_CA_FILE: undefined,
  ...overrides,
});
const named = { KAFKA_SASL_USERNAME: 'gateway', KAFKA_SASL_PASSWORD: 'sesame' };

function faultsOf(overrides: Partial<ConnectionSettings>): string[] {
  try {
    connectionOf(settings(overrides));
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

test('connects in plain text and without authentication by default', () => {
  expect(connectionOf(settings())).toEqual({ options: {}, warnings: [] });
});

test('passes name and password to each SASL mechanism', () => {
  for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512'] as const) {
    const found = connectionOf(
      settings({ KAFKA_TLS: true, KAFKA_SASL_MECHANISM: mechanism, ...named }),
    );
    expect(found).toEqual({
      options: { ssl: true, sasl: { mechanism, username: 'gateway', password: 'sesame' } },
      warnings: [],
    });
  }
});

test('reports all missing settings at once', () => {
  expect(
    faultsOf({ KAFKA_SASL_MECHANISM: 'plain', KAFKA_TLS: true, KAFKA_TLS_CA_FILE: '/nowhere' }),
  ).toEqual([
    'KAFKA_SASL_USERNAME is required for SASL plain',
    'KAFKA_SASL_PASSWORD is required for SASL plain',
    'KAFKA_TLS_CA_FILE names a file that cannot be read: /nowhere',
  ]);
});

test('refuses settings that would have no effect', () => {
  expect(faultsOf(named)).toEqual([
    'KAFKA_SASL_MECHANISM is required when KAFKA_SASL_USERNAME is set',
  ]);
  expect(faultsOf({ KAFKA_TLS_CA_FILE: '/ca.pem' })).toEqual([
    'KAFKA_TLS is required when KAFKA_TLS_CA_FILE is set',
  ]);
});

test('warns when the password travels unencrypted', () => {
  const { warnings } = connectionOf(settings({ KAFKA_SASL_MECHANISM: 'plain', ...named }));
  expect(warnings).toEqual([
    'KAFKA_SASL_MECHANISM plain without KAFKA_TLS: the password travels in clear',
  ]);
  expect(warnings.join()).not.toContain('sesame');
});
