// Which settings a start uses: those of the running mesh where there is one, so that what joins it
// fits to it.
import type { EngineName } from './engine';
import { meshSettings, type Settings } from './mesh';
import { ENGINES, rememberedPort, type EnginesOptions } from './start-engines';

/** What was recorded wins over the environment: the processes that run were started with it. */
export function joinSettings(env: NodeJS.ProcessEnv, recorded: Settings): Settings {
  if (recorded['BASE_URL'] === undefined) return { ...meshSettings(env), ...recorded };
  // Whether there is an emulator was settled when the mesh started, too.
  const upstream = recorded['EMULATOR_URL'] ? undefined : recorded['UPSTREAM_URL'];
  return { ...meshSettings({ ...env, UPSTREAM_URL: upstream }), ...recorded };
}

/** Names in the environment that the running mesh has with another value. */
export const ignoredNames = (env: NodeJS.ProcessEnv, recorded: Settings): string[] =>
  Object.keys(recorded).filter((name) => env[name] && env[name] !== recorded[name]);

/**
 * How to start the engines beside a running mesh: ours on their old ports, others left where they
 * were named.
 */
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
