// The shared Redis. A start does not wait for it and no request requires it: everything in it
// (buckets, versions, memory of deliveries) has a local fallback.
import { Redis, type Command } from 'ioredis';
import { authorities } from '../config';
import type { Component } from '../lifecycle';
import type { Logger } from '../telemetry';

/** Far longer than a healthy round trip; after it the fallback is used. */
const COMMAND_LIMIT_MS = 250;
const CONNECT_LIMIT_MS = 2_000;
const RECONNECT_MAX_MS = 1_000;

export interface RedisConnection extends Component {
  readonly redis: Redis;
  /** True while commands are worth sending. */
  up(): boolean;
}

export interface RedisSettings {
  REDIS_URL: string;
  REDIS_TLS_CA_FILE?: string | undefined;
  REDIS_KEY_PREFIX: string;
}

/**
 * Gives up a command after its limit, as the option `commandTimeout` does, but not before the answers
 * that have arrived are read: a process that was busy for longer would treat a healthy Redis as
 * unreachable, and fail every request in flight.
 */
class PatientRedis extends Redis {
  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    const timer = setTimeout(
      // An immediate runs after the sockets of its turn have been read.
      () => setImmediate(() => command.reject(new Error('Command timed out'))),
      COMMAND_LIMIT_MS,
    );
    const clear = (): void => clearTimeout(timer);
    command.promise.then(clear, clear);
    return super.sendCommand(command, stream);
  }
}

export function openRedis(settings: RedisSettings, log: Logger): RedisConnection {
  const ca = authorities('REDIS_TLS_CA_FILE', settings.REDIS_TLS_CA_FILE, {
    by: 'the scheme rediss in REDIS_URL',
    isOn: settings.REDIS_URL.startsWith('rediss:'),
  });
  const redis = new PatientRedis(settings.REDIS_URL, {
    ...(ca !== undefined && { tls: { ca } }),
    keyPrefix: settings.REDIS_KEY_PREFIX,
    lazyConnect: true,
    // Needs a permission of its own if users have minimal rights.
    disableClientInfo: true,
    enableOfflineQueue: false,
    // Sends the commands of one turn of the event loop in one write.
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_LIMIT_MS,
    retryStrategy: (times) => Math.min(50 * times, RECONNECT_MAX_MS),
  });
  let is_outage_logged = false;
  redis.on('error', (error) => {
    if (is_outage_logged) return;
    is_outage_logged = true;
    log.warn({ err: error }, 'Redis is unavailable, using local fallback');
  });
  redis.on('ready', () => {
    if (is_outage_logged) log.info('Redis is available again');
    is_outage_logged = false;
  });
  return {
    name: 'redis',
    redis,
    up: () => redis.status === 'ready',
    start: () => redis.connect().catch(() => undefined),
    async stop() {
      redis.disconnect();
    },
  };
}
