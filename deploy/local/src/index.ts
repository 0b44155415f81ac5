// The interface for tests and the demo: start and stop the engines and the background mesh.
export type { EngineName } from './engine';
export { engineFiles, type EngineFiles } from './engine-files';
export { mongo } from './engine-mongo';
export { redis } from './engine-redis';
export { LocalError } from './errors';
export { isUp } from './health';
export { requireJars } from './jars';
export {
  findProcess,
  freePorts,
  meshSettings,
  pidOf,
  processEnv,
  runningIn,
  type MeshProcessName,
  type ProcessName,
  type Settings,
} from './mesh';
export { RUN_DIR } from './paths';
export { freePort } from './ports';
export { commandLine, launch, logSince, logTail, stopProcess } from './processes';
export { enginePid, startEngine, startEngines, stopEngine, type Engines } from './start-engines';
export { loadSampleRates } from './sample-rates';
export {
  addressSetting,
  NODE_FLAGS,
  SERVICE_NAMES,
  SERVICES,
  settingPrefix,
  type ServiceFacts,
  type ServiceName,
} from './services';
export { readEnv } from './settings';
export { startService, up, type Mesh } from './start-mesh';
export { clean, down, stopSince } from './stop-mesh';
export { findJava, findProgram, javaFlags } from './tools';
