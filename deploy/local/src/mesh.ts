// The mesh as `make up` runs it: which processes there are, and the settings they get. Nothing here
// starts anything.
import { ENGINE_NAMES } from './start-engines';
import { parsePort, HOST, type Listening } from './ports';
import type { EngineName } from './engine';

export type Settings = Record<string, string>;

export type ServiceName =
  | 'gateway'
  | 'onboarding'
  | 'messaging'
  | 'templates'
  | 'broadcasts'
  | 'number-admin'
  | 'webhooks'
  | 'fanout'
  | 'emulator';
export type ProcessName = ServiceName | EngineName;

export interface MeshService {
  name: ServiceName;
  /** From the root of the repository; also what its process is recognised by. */
  entry: string;
  /** The setting under which its callers find it; it listens on the port named there. */
  address?: { setting: string; port: number };
  metricsPort?: number;
  /** Ports of its own, by the setting that names them. */
  ports?: Record<string, number>;
}

/**
 * In the order of starting. The emulator stands in for the upstream, so it is left out when
 * UPSTREAM_URL is given.
 */
export const SERVICES: MeshService[] = [
  {
    name: 'emulator',
    entry: 'test/dist/emulator/main.js',
    ports: { EMULATOR_PORT: 8090 },
  },
  service('onboarding', 50_051, 9101),
  service('messaging', 50_052, 9102),
  service('templates', 50_053, 9103),
  service('broadcasts', 50_054, 9104),
  service('number-admin', 50_055, 9105),
  { ...service('webhooks', 50_056, 9106), ports: { INGRESS_PORT: 8081 } },
  { name: 'fanout', entry: 'services/fanout/dist/main.js', metricsPort: 9107 },
  {
    name: 'gateway',
    entry: 'gateway/dist/main.js',
    metricsPort: 9100,
    ports: { GATEWAY_PORT: 8080 },
  },
];

function service(name: ServiceName, port: number, metricsPort: number): MeshService {
  const entry = `services/${name}/dist/main.js`;
  return { name, entry, address: { setting: `${upper(name)}_ADDR`, port }, metricsPort };
}

function upper(name: string): string {
  return name.replaceAll('-', '_').toUpperCase();
}

/**
 * One process's METRICS_PORT cannot be every process's, so each has a setting of its own:
 * GATEWAY_METRICS_PORT.
 */
const metricsSetting = (name: ServiceName): string => `${upper(name)}_METRICS_PORT`;

export const findService = (name: ServiceName): MeshService =>
  SERVICES.find((service) => service.name === name) as MeshService;

/** In the order of stopping: who calls goes before who is called. */
export const STOP_ORDER: ProcessName[][] = [
  ['gateway'],
  SERVICES.map(({ name }) => name).filter((name) => name !== 'gateway' && name !== 'emulator'),
  ['emulator'],
  ENGINE_NAMES,
];

/** Fixed values, public in this file: the services warn when they run with them. */
export const LOCAL_SECRETS: Settings = {
  UPSTREAM_APP_ID: 'app-local',
  UPSTREAM_APP_SECRET: 'app-secret-local',
  UPSTREAM_CONFIG_ID: 'config-local',
  UPSTREAM_VERIFY_TOKEN: 'verify-local',
  PLATFORM_PIN: '000000',
  ENCRYPTION_KEYRING: 'local:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  KEY_PEPPER: 'local-pepper-not-for-production',
};

const LOCAL_DEFAULTS: Settings = {
  ...LOCAL_SECRETS,
  UPSTREAM_API_VERSION: 'v26.0',
  ALLOW_PRIVATE_URLS: 'true',
  PAYMENT_PROCESSOR: 'none',
  RATE_LIMIT_PER_SEC: '200',
  LOG_LEVEL: 'info',
  // A mesh on a desk is reached from that desk only.
  GATEWAY_HOST: HOST,
  INGRESS_HOST: HOST,
  GRPC_HOST: HOST,
  METRICS_HOST: HOST,
  EMULATOR_HOST: HOST,
};

/**
 * Settings without a local default that belong to the mesh all the same: kept in `.run/env` when
 * they are given.
 */
const KEPT =
  /^(UPSTREAM|STRIPE|OTEL|KAFKA|REDIS|MONGO|PAYMENT|GATEWAY|INGRESS|EMULATOR)_[A-Z0-9_]+$/;

/** These are of one process each; one value for all of them would make them collide. */
const PER_PROCESS = ['GRPC_PORT', 'METRICS_PORT'];

/**
 * All settings of the mesh but the engines' addresses: the local defaults, overlaid by what the
 * environment names.
 */
export function meshSettings(env: NodeJS.ProcessEnv): Settings {
  const given = withoutEmpty(env);
  const kept = Object.entries(given).filter(([name]) => KEPT.test(name));
  const settings: Settings = { ...overlay(LOCAL_DEFAULTS, given), ...Object.fromEntries(kept) };
  for (const { name, address, metricsPort, ports = {} } of SERVICES) {
    if (address) take(settings, given, address.setting, `${HOST}:${address.port}`);
    if (metricsPort) take(settings, given, metricsSetting(name), String(metricsPort));
    for (const [setting, port] of Object.entries(ports)) {
      take(settings, given, setting, String(port));
    }
  }
  const gateway = `http://${HOST}:${settings['GATEWAY_PORT']}`;
  const ingress = `http://${HOST}:${settings['INGRESS_PORT']}`;
  take(settings, given, 'PUBLIC_URL', gateway);
  settings['BASE_URL'] = `${gateway}/v1`;
  settings['INGRESS_URL'] = ingress;
  if (given['UPSTREAM_URL']) {
    delete settings['EMULATOR_PORT'];
    delete settings['EMULATOR_HOST'];
    return settings;
  }
  const emulator = `http://${HOST}:${settings['EMULATOR_PORT']}`;
  settings['UPSTREAM_URL'] = emulator;
  settings['EMULATOR_URL'] = emulator;
  take(settings, given, 'UPSTREAM_SDK_URL', `${emulator}/sdk.js`);
  take(settings, given, 'EMULATOR_WEBHOOK_URL', `${ingress}/webhooks/upstream`);
  return settings;
}

/** A default gives way to the value itself and to a file that holds it (NAME_FILE). */
function overlay(defaults: Settings, given: Settings): Settings {
  const settings: Settings = {};
  for (const [name, value] of Object.entries(defaults)) {
    const file = given[`${name}_FILE`];
    if (given[name] !== undefined) settings[name] = given[name];
    else if (file !== undefined) settings[`${name}_FILE`] = file;
    else settings[name] = value;
  }
  return settings;
}

function take(settings: Settings, given: Settings, name: string, fallback: string): void {
  settings[name] = given[name] ?? fallback;
}

const withoutEmpty = (env: NodeJS.ProcessEnv): Settings =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );

/** The services that these settings ask for. */
export const wantedServices = (settings: Settings): MeshService[] =>
  SERVICES.filter(({ name }) => name !== 'emulator' || settings['EMULATOR_URL'] !== undefined);

/**
 * What one process gets: the environment of the caller, the mesh's settings, and its own two ports.
 */
export function serviceEnv(
  service: MeshService,
  env: NodeJS.ProcessEnv,
  settings: Settings,
): NodeJS.ProcessEnv {
  const own: NodeJS.ProcessEnv = { ...env, ...settings };
  for (const name of PER_PROCESS) delete own[name];
  for (const { kind, port } of listening(service, settings)) {
    if (kind !== 'own') own[kind] = String(port);
  }
  return own;
}

export interface ServicePort extends Listening {
  name: ServiceName;
  /**
   * The setting in which the process itself reads the port, where it is one of those that differ.
   */
  kind: 'GRPC_PORT' | 'METRICS_PORT' | 'own';
}

export function listening(service: MeshService, settings: Settings): ServicePort[] {
  const { name, address, metricsPort, ports = {} } = service;
  const found: ServicePort[] = [];
  const add = (kind: ServicePort['kind'], setting: string, value: string): void => {
    found.push({ name, kind, setting, port: parsePort(setting, value) });
  };
  if (address) {
    const value = settings[address.setting] ?? '';
    add('GRPC_PORT', address.setting, value.slice(value.lastIndexOf(':') + 1));
  }
  if (metricsPort) {
    const setting = metricsSetting(name);
    add('METRICS_PORT', setting, settings[setting] ?? '');
  }
  for (const setting of Object.keys(ports)) add('own', setting, settings[setting] ?? '');
  return found;
}
