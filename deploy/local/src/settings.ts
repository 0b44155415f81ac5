// The settings that a start uses: a running mesh keeps its settings, so that added processes match.
// `.run/env` has those that it was started with, as plain KEY=value lines.
import * as fs from 'node:fs';
import path from 'node:path';
import type { EngineName } from './engine';
import { meshSettings, type Settings } from './mesh';
import { ENGINES, rememberedPort, type EnginesOptions } from './start-engines';

export const envFile = (dir: string): string => path.join(dir, 'env');

/** The settings of the mesh in this folder; empty when there is none. */
export function readEnv(dir: string): Settings {
  const file = envFile(dir);
  return fs.existsSync(file) ? parseEnv(fs.readFileSync(file, 'utf8')) : {};
}

export function parseEnv(text: string): Settings {
  const settings: Settings = {};
  for (const line of text.split('\n')) {
    const at = line.indexOf('=');
    if (at > 0 && !line.startsWith('#')) settings[line.slice(0, at)] = line.slice(at + 1);
  }
  return settings;
}

export function formatEnv(settings: Settings): string {
  const lines = Object.entries(settings)
    // A value with a line break does not fit in this file; the processes get it from their
    // environment.
    .filter(([, value]) => !/[\r\n]/.test(value))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`);
  return `${lines.join('\n')}\n`;
}

/** Replaces the file atomically. Only its owner may read it: it may hold a real secret. */
export function writeEnv(dir: string, settings: Settings): void {
  fs.mkdirSync(dir, { recursive: true });
  const fresh = `${envFile(dir)}.${process.pid}`;
  fs.writeFileSync(fresh, formatEnv(settings), { mode: 0o600 });
  fs.renameSync(fresh, envFile(dir));
}

/** Recorded settings override the environment: the running processes were started with them. */
export function joinSettings(env: NodeJS.ProcessEnv, recorded: Settings): Settings {
  if (recorded['BASE_URL'] === undefined) return { ...meshSettings(env), ...recorded };
  // A recorded emulator overrides the environment too.
  const upstream = recorded['EMULATOR_URL'] ? undefined : recorded['UPSTREAM_URL'];
  return { ...meshSettings({ ...env, UPSTREAM_URL: upstream }), ...recorded };
}

/** Settings in the environment whose value differs from the running mesh's. */
export const ignoredNames = (env: NodeJS.ProcessEnv, recorded: Settings): string[] =>
  Object.keys(recorded).filter((name) => env[name] && env[name] !== recorded[name]);

/** How to start engines for a running mesh: ours on their old ports, external ones unchanged. */
export function joinEngines(
  dir: string,
  env: NodeJS.ProcessEnv,
  recorded: Settings,
): Pick<EnginesOptions, 'env' | 'ports'> {
  const joined = { ...env };
  const ports: Partial<Record<EngineName, number>> = {};
  for (const { name, setting, url } of Object.values(ENGINES)) {
    const address = recorded[setting];
    if (address === undefined) continue;
    const port = rememberedPort(dir, name);
    if (port !== undefined && url(port) === address) {
      ports[name] = port;
      delete joined[setting];
    } else {
      joined[setting] = address;
    }
  }
  return { env: joined, ports };
}
