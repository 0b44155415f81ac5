// The interface for tests and the demo: start and stop the engines and the background mesh.
export { describeMesh } from './describe';
export type { EngineName } from './engine';
export { engineFiles, type EngineFiles } from './engine-files';
export { mongo } from './engine-mongo';
export { redis } from './engine-redis';
export { readEnv } from './env-file';
export { LocalError } from './errors';
export { isUp } from './health';
export { requireJars } from './jars';
export { javaFlags } from './java';
export type { MeshProcessName, ProcessName, Settings } from './mesh';
export { RUN_DIR } from './paths';
export { freePort } from './ports';
export { commandLine, launch, logSince, logTail, stopProcess } from './processes';
export { pidOf, runningIn } from './running';
export {
  enginePid,
  startEngine,
  startEngines,
  stopEngine,
  type EngineOptions,
  type Engines,
  type EnginesOptions,
  type RunningEngine,
} from './start-engines';
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
export { startService, up, upEngines, type Mesh, type UpOptions } from './start-mesh';
export { clean, down, stopSince, type DownOptions } from './stop-mesh';
export { findJava } from './tools';
