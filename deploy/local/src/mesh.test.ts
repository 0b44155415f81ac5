import {
  findProcess,
  listening,
  meshSettings,
  PROCESSES,
  processEnv,
  wantedProcesses,
} from './mesh';

test('an empty environment gives the local defaults', () => {
  expect(meshSettings({})).toMatchObject({
    BASE_URL: 'http://127.0.0.1:8080/v1',
    PUBLIC_URL: 'http://127.0.0.1:8080',
    INGRESS_URL: 'http://127.0.0.1:8081',
    UPSTREAM_URL: 'http://127.0.0.1:8090',
    UPSTREAM_SDK_URL: 'http://127.0.0.1:8090/sdk.js',
    EMULATOR_WEBHOOK_URL: 'http://127.0.0.1:8081/webhooks/upstream',
    ONBOARDING_ADDR: '127.0.0.1:50051',
    NUMBER_ADMIN_ADDR: '127.0.0.1:50055',
    DESTINATIONS_ADDR: '127.0.0.1:50057',
    UPSTREAM_APP_ID: 'app-local',
    ALLOW_PRIVATE_URLS: 'true',
    RATE_LIMIT_PER_SEC: '200',
  });
});

test('no two processes listen on the same port', () => {
  const ports = PROCESSES.flatMap((one) => listening(one, meshSettings({})));
  expect(new Set(ports.map(({ port }) => port)).size).toBe(ports.length);
});

test('the environment overrides the defaults and the addresses derived from them', () => {
  const settings = meshSettings({
    GATEWAY_PORT: '18080',
    EMULATOR_PORT: '18090',
    LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    PATH: '/bin',
  });
  expect(settings).toMatchObject({
    BASE_URL: 'http://127.0.0.1:18080/v1',
    PUBLIC_URL: 'http://127.0.0.1:18080',
    UPSTREAM_URL: 'http://127.0.0.1:18090',
    LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  });
  expect(settings).not.toHaveProperty('PATH');
});

test('an empty value in the environment counts as not set', () => {
  expect(meshSettings({ UPSTREAM_URL: '', KEY_PEPPER: '' })).toEqual(meshSettings({}));
});

test('a secret in a file replaces the local default', () => {
  const settings = meshSettings({ ENCRYPTION_KEYRING_FILE: '/secrets/keyring' });
  expect(settings['ENCRYPTION_KEYRING_FILE']).toBe('/secrets/keyring');
  expect(settings).not.toHaveProperty('ENCRYPTION_KEYRING');
});

test('a given upstream replaces the emulator and its sign-up script', () => {
  const settings = meshSettings({ UPSTREAM_URL: 'https://upstream.example' });
  expect(Object.keys(settings).filter((name) => name.startsWith('EMULATOR'))).toEqual([]);
  expect(settings).not.toHaveProperty('UPSTREAM_SDK_URL');
  expect(wantedProcesses(settings).map(({ name }) => name)).not.toContain('emulator');
});

test('gives each process its own two ports, even if the caller’s environment sets them', () => {
  const settings = meshSettings({ MESSAGING_ADDR: '127.0.0.1:60052' });
  const env = { PATH: '/bin', GRPC_PORT: '1', METRICS_PORT: '2' };
  expect(processEnv(findProcess('messaging'), env, settings)).toMatchObject({
    PATH: '/bin',
    GRPC_PORT: '60052',
    METRICS_PORT: '9102',
    ONBOARDING_ADDR: '127.0.0.1:50051',
  });
  const gateway = processEnv(findProcess('gateway'), env, settings);
  expect(gateway).toMatchObject({ GATEWAY_PORT: '8080', METRICS_PORT: '9100' });
  expect(gateway).not.toHaveProperty('GRPC_PORT');
});
