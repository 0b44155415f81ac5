// What the three engines have in common: how each is started and recognised, and a health check
// over its own protocol without its client library.
import { connect } from 'node:net';
import { HOST } from './ports';
import type { Log } from './processes';

const ANSWER_LIMIT_MS = 2_000;
const ANSWER_MAX_BYTES = 64 * 1024;

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

/**
 * Sends one request over a raw TCP connection. Resolves with the first result of `isAnswer` that is
 * not undefined; it gets all bytes received so far. False when the connection fails, closes or
 * times out.
 */
export function ask(
  port: number,
  request: Buffer,
  isAnswer: (bytes: Buffer) => boolean | undefined,
): Promise<boolean> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const socket = connect({ host: HOST, port });
    const limit = setTimeout(() => finish(false), ANSWER_LIMIT_MS);
    const finish = (answer: boolean): void => {
      clearTimeout(limit);
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write(request));
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      const answer = isAnswer(bytes);
      if (answer !== undefined) finish(answer);
      else if (bytes.length > ANSWER_MAX_BYTES) finish(false);
    });
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
  });
}
