import type { Log } from './processes';

export type EngineName = 'kafka' | 'mongo' | 'redis';
export type EngineSetting = 'KAFKA_BROKERS' | 'MONGO_URL' | 'REDIS_URL';

/** Where one engine runs. */
export interface EnginePlace {
  /** The folder of its data; it exists. */
  data: string;
  port: number;
  env: NodeJS.ProcessEnv;
  log: Log;
}

export interface EngineCommand {
  /** The engine's name in messages. */
  title: string;
  command: string;
  args: string[];
  /** Prepares the storage before a start. */
  format?(): Promise<void>;
  /**
   * The line that the engine logs when it is ready. If it is absent, an answer on the port counts.
   */
  readyLine?: string;
}

/** One engine: how to find or fetch, start, recognise and health-check it. */
export interface Engine {
  name: EngineName;
  setting: EngineSetting;
  portSetting: string;
  defaultPort: number;
  url(port: number): string;
  /** The part of the command line that identifies this engine in this folder. */
  marker(data: string): string;
  /**
   * Finds or fetches what the engine needs, so that a missing tool is reported before any start.
   */
  prepare(place: EnginePlace): Promise<EngineCommand>;
  /** True when the engine answers in its own protocol. */
  answers(port: number): Promise<boolean>;
}
