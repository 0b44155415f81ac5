// The settings that a start uses: a running mesh keeps its settings, so that added processes match.
import type { EngineName } from './engine';
import { meshSettings, type Settings } from './mesh';
import { ENGINES, rememberedPort, type EnginesOptions } from './start-engines';

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
