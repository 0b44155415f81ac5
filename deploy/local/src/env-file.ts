// `.run/env`: the settings that the mesh was started with, as plain KEY=value lines.
import * as fs from 'node:fs';
import path from 'node:path';
import type { Settings } from './mesh';

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
