// The processes of the mesh that `make up` runs, and their settings. This module starts nothing.
import path from 'node:path';
import { findPid } from './processes';
import { ENGINE_NAMES, ENGINES, engineMarker } from './start-engines';
import { freePort, parsePort, HOST, type Listening } from './ports';
import type { EngineName } from './engine';
import {
  addressSetting,
  SERVICE_NAMES,
  SERVICES,
  settingPrefix,
  type ServiceName,
} from './services';

export type Settings = Record<string, string>;

/** The processes of the mesh besides the engines. */
export type MeshProcessName = ServiceName | 'emulator';
export type ProcessName = MeshProcessName | EngineName;

export interface MeshProcess {
  name: MeshProcessName;
  /** From the root of the repository; its process is also recognised by it. */
  entry: string;
  /** The setting that holds its gRPC address for callers; it listens on the port named there. */
  address?: { setting: string; port: number };
  metricsPort?: number;
  /** Its other ports, by the setting that names them. */
  ports?: Record<string, number>;
}

const EMULATOR: MeshProcess = {
  name: 'emulator',
  entry: 'test/dist/emulator/main.js',
  ports: { EMULATOR_PORT: 8090 },
};

/**
 * In the order of starting. The emulator stands in for the upstream, so it is left out when
 * UPSTREAM_URL is given.
 */
export const PROCESSES: MeshProcess[] = [EMULATOR, ...SERVICE_NAMES.map(processOf)];

function processOf(name: ServiceName): MeshProcess {
  const { workspace, grpc_port, http, metrics_port } = SERVICES[name];
  return {
    name,
    entry: `${workspace}/dist/main.js`,
    metricsPort: metrics_port,
    ...(grpc_port !== undefined && {
      address: { setting: addressSetting(name), port: grpc_port },
    }),
    ...(http && { ports: { [http.setting]: http.port } }),
  };
}

/**
 * One process's METRICS_PORT cannot be every process's, so each has a setting of its own:
 * GATEWAY_METRICS_PORT.
 */
const metricsSetting = (name: MeshProcessName): string => `${settingPrefix(name)}_METRICS_PORT`;

export const findProcess = (name: MeshProcessName): MeshProcess =>
  PROCESSES.find((one) => one.name === name) as MeshProcess;

/** In the order of stopping: callers before the services they call. */
export const STOP_ORDER: ProcessName[][] = [
  ['gateway'],
  SERVICE_NAMES.filter((name) => name !== 'gateway'),
  ['emulator'],
  ENGINE_NAMES,
];

/** Fixed values that are public in this file: the services warn when they run with them. */
export const LOCAL_SECRETS: Settings = {
  UPSTREAM_APP_ID: 'app-local',
  UPSTREAM_APP_SECRET: 'app-secret-local',
  UPSTREAM_CONFIG_ID: 'config-local',
  UPSTREAM_VERIFY_TOKEN: 'verify-local',
  PLATFORM_PIN: '000000',
  ENCRYPTION_KEYRING: 'local:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  EVENT_LOG_KEYRING: 'local:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  KEY_PEPPER: 'local-pepper-not-for-production',
};

const LOCAL_DEFAULTS: Settings = {
  ...LOCAL_SECRETS,
  UPSTREAM_API_VERSION: 'v26.0',
  ALLOW_PRIVATE_URLS: 'true',
  PAYMENT_PROCESSOR: 'none',
  RATE_LIMIT_PER_SEC: '200',
  LOG_LEVEL: 'info',
  // Listen on this machine only.
  GATEWAY_HOST: HOST,
  INGRESS_HOST: HOST,
  GRPC_HOST: HOST,
  METRICS_HOST: HOST,
  EMULATOR_HOST: HOST,
};

/** Settings of the mesh without a local default: kept in `.run/env` when they are given. */
const KEPT =
  /^(UPSTREAM|STRIPE|OTEL|KAFKA|REDIS|MONGO|PAYMENT|GATEWAY|INGRESS|EMULATOR)_[A-Z0-9_]+$/;

/** Settings of one process: a common value would make the processes collide. */
const PER_PROCESS = ['GRPC_PORT', 'METRICS_PORT'];

/**
 * All settings of the mesh except the engines' addresses: the local defaults, overridden by the
 * environment.
 */
export function meshSettings(env: NodeJS.ProcessEnv): Settings {
  const given = withoutEmpty(env);
  const kept = Object.entries(given).filter(([name]) => KEPT.test(name));
  const settings: Settings = { ...overlay(LOCAL_DEFAULTS, given), ...Object.fromEntries(kept) };
  for (const { name, address, metricsPort, ports = {} } of PROCESSES) {
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

/** Free ports for all processes of a mesh beside others, by the settings that name them. */
export async function freePorts(): Promise<Settings> {
  const settings: Settings = {};
  for (const { name, address, metricsPort, ports = {} } of PROCESSES) {
    if (address) settings[address.setting] = `${HOST}:${await freePort()}`;
    if (metricsPort) settings[metricsSetting(name)] = String(await freePort());
    for (const setting of Object.keys(ports)) settings[setting] = String(await freePort());
  }
  return settings;
}

/** A given value, or a file that holds it (NAME_FILE), replaces a default. */
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

/** The processes to run with these settings: with UPSTREAM_URL there is no emulator. */
export const wantedProcesses = (settings: Settings): MeshProcess[] =>
  PROCESSES.filter(({ name }) => name !== 'emulator' || settings['EMULATOR_URL'] !== undefined);

/** The environment of one process: the caller's, the mesh's settings, and its own ports. */
export function processEnv(
  part: MeshProcess,
  env: NodeJS.ProcessEnv,
  settings: Settings,
): NodeJS.ProcessEnv {
  const own: NodeJS.ProcessEnv = { ...env, ...settings };
  for (const name of PER_PROCESS) delete own[name];
  for (const { kind, port } of listening(part, settings)) {
    if (kind !== 'own') own[kind] = String(port);
  }
  return own;
}

export interface ServicePort extends Listening {
  name: MeshProcessName;
  /** The setting in which the process reads the port; `own`: the same name as in the mesh. */
  kind: 'GRPC_PORT' | 'METRICS_PORT' | 'own';
}

export function listening(part: MeshProcess, settings: Settings): ServicePort[] {
  const { name, address, metricsPort, ports = {} } = part;
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

const isEngine = (name: ProcessName): name is EngineName => name in ENGINES;

/** The part of a process's command line that another process with a reused pid does not have. */
export const markerOf = (name: ProcessName, dir: string): string =>
  isEngine(name) ? engineMarker(name, dir) : findProcess(name).entry;

export const pidOf = (name: ProcessName, dir: string): number | undefined =>
  findPid(path.resolve(dir), name, markerOf(name, dir));

export const runningIn = (dir: string): ProcessName[] =>
  STOP_ORDER.flat().filter((name) => pidOf(name, dir) !== undefined);

/** The addresses of a running mesh, one line each, for people. */
export function describeMesh(settings: Settings): string[] {
  const at = (name: string): string => settings[name] ?? '';
  const rows = [
    ['REST', at('BASE_URL')],
    ['Reference', `${at('PUBLIC_URL')}/docs`],
    ['Upstream webhooks', `${at('INGRESS_URL')}/webhooks/upstream`],
    [settings['EMULATOR_URL'] ? 'Upstream emulator' : 'Upstream', at('UPSTREAM_URL')],
    ['Engines', `${at('MONGO_URL')}  ${at('KAFKA_BROKERS')}  ${at('REDIS_URL')}`],
    ['Settings, logs', '.run/env, .run/<name>.log'],
  ];
  const width = Math.max(...rows.map(([title = '']) => title.length));
  const lines = rows.map(
    ([title = '', value = '']) => `${title.padEnd(width)}  ${hideSecrets(value)}`,
  );
  const fixed = Object.keys(LOCAL_SECRETS).filter((name) => at(name) === LOCAL_SECRETS[name]);
  if (fixed.length > 0)
    lines.push(`For local work only: the values of ${fixed.join(', ')} are public`);
  return lines;
}

/**
 * Masks the credentials in addresses: an engine's address from the environment may hold a password.
 */
export const hideSecrets = (address: string): string =>
  address.replaceAll(/\/\/[^/@\s]*@/g, '//***@');
