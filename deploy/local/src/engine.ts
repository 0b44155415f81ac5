import type { Log } from './processes';

export type EngineName = 'kafka' | 'mongo' | 'redis';
export type EngineSetting = 'KAFKA_BROKERS' | 'MONGO_URL' | 'REDIS_URL';

/** Where one engine is to run. */
export interface EnginePlace {
  /** Its data: a folder that exists. */
  data: string;
  port: number;
  env: NodeJS.ProcessEnv;
  log: Log;
}

export interface EngineCommand {
  /** What is started, for people. */
  title: string;
  command: string;
  args: string[];
  /** Work before the first start, with the command's own tools. */
  format?(): Promise<void>;
  /** What the engine logs once it serves; without it, an answer on its port is enough. */
  readyLine?: string;
}

/** One engine: how it is found or fetched, started, recognised and asked whether it serves. */
export interface Engine {
  name: EngineName;
  setting: EngineSetting;
  portSetting: string;
  defaultPort: number;
  url(port: number): string;
  /** Part of the command line that only this engine in this folder has. */
  marker(data: string): string;
  /**
   * Finds or fetches all that is needed, so that what is missing is said before anything is
   * started.
   */
  prepare(place: EnginePlace): Promise<EngineCommand>;
  /** Asks in the engine's own protocol. */
  answers(port: number): Promise<boolean>;
}
