// The client of Kafka: its connection from the settings (TLS and SASL), and its log. Inconsistent
// settings are reported at startup.
import {
  Kafka,
  logLevel,
  type Admin,
  type KafkaConfig,
  type LogEntry,
  type SASLOptions,
} from 'kafkajs';
import { authorities, ConfigError } from '../config';
import type { Logger } from '../telemetry';
import './kafkajs-fixes';

export interface ConnectionSettings {
  KAFKA_SASL_MECHANISM: 'none' | 'plain' | 'scram-sha-256' | 'scram-sha-512';
  KAFKA_SASL_USERNAME: string | undefined;
  KAFKA_SASL_PASSWORD: string | undefined;
  KAFKA_TLS: boolean;
  KAFKA_TLS_CA_FILE: string | undefined;
}

export interface KafkaSettings extends ConnectionSettings {
  KAFKA_BROKERS: string;
  KAFKA_TOPIC_PREFIX: string;
  KAFKA_REPLICATION: number;
}

const CONNECT_LIMIT_MS = 3_000;
const REQUEST_LIMIT_MS = 10_000;

export function createKafka(settings: KafkaSettings, clientId: string, log: Logger): Kafka {
  const { options, warnings } = connectionOf(settings);
  for (const warning of warnings) log.warn(warning);
  return new Kafka({
    ...options,
    clientId,
    brokers: settings.KAFKA_BROKERS.split(','),
    connectionTimeout: CONNECT_LIMIT_MS,
    requestTimeout: REQUEST_LIMIT_MS,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 5 },
    logLevel: logLevel.WARN,
    logCreator: () => createClientLog(log),
  });
}

/** Works with a connection of its own; `retries` replaces the client's number of them. */
export async function withAdmin<T>(
  kafka: Kafka,
  work: (admin: Admin) => Promise<T>,
  retries?: number,
): Promise<T> {
  const admin = kafka.admin(retries === undefined ? {} : { retry: { retries } });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** The options of the connection, and warnings for the log: what is legal but risky. */
export function connectionOf(settings: ConnectionSettings): {
  options: Pick<KafkaConfig, 'ssl' | 'sasl'>;
  warnings: string[];
} {
  const faults: string[] = [];
  const warnings: string[] = [];
  const sasl = saslOf(settings, faults);
  const ssl = tlsOf(settings, faults);
  if (faults.length > 0) throw new ConfigError(faults);
  if (sasl?.mechanism === 'plain' && ssl === undefined) {
    warnings.push('KAFKA_SASL_MECHANISM plain without KAFKA_TLS: the password travels in clear');
  }
  return { options: { ...(ssl && { ssl }), ...(sasl && { sasl }) }, warnings };
}

function saslOf(settings: ConnectionSettings, faults: string[]): SASLOptions | undefined {
  const mechanism = settings.KAFKA_SASL_MECHANISM;
  if (mechanism === 'none') {
    if (settings.KAFKA_SASL_USERNAME !== undefined) {
      faults.push('KAFKA_SASL_MECHANISM is required when KAFKA_SASL_USERNAME is set');
    }
    return undefined;
  }
  const { KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = settings;
  for (const name of ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const) {
    if (settings[name] === undefined) faults.push(`${name} is required for SASL ${mechanism}`);
  }
  if (username === undefined || password === undefined) return undefined;
  return { mechanism, username, password } as SASLOptions;
}

function tlsOf(settings: ConnectionSettings, faults: string[]): KafkaConfig['ssl'] | undefined {
  const file = settings.KAFKA_TLS_CA_FILE;
  try {
    const ca = authorities('KAFKA_TLS_CA_FILE', file, {
      by: 'KAFKA_TLS',
      isOn: settings.KAFKA_TLS,
    });
    if (!settings.KAFKA_TLS) return undefined;
    return ca === undefined ? true : { ca: [ca] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(...error.faults);
    return undefined;
  }
}

/**
 * While no broker answers, the client reports every attempt, several times a second: each error is
 * passed on once in this time.
 */
export const REPEAT_MS = 30_000;
/** Errors that are remembered; the oldest is forgotten first. */
export const KINDS_MAX = 50;

interface Kind {
  logged_ms: number;
  repeated: number;
}

/** `now` is a monotonic clock in milliseconds. */
export function createClientLog(
  log: Logger,
  now: () => number = () => performance.now(),
): (entry: LogEntry) => void {
  const kinds = new Map<string, Kind>();
  return ({ namespace, label, log: { message, error } }) => {
    const fields = { kafka: namespace, reason: error as unknown };
    if (label !== 'ERROR') return log.debug(fields, message);
    const known = kinds.get(message);
    if (known && now() - known.logged_ms < REPEAT_MS) {
      known.repeated += 1;
      return;
    }
    log.warn({ ...fields, ...(known?.repeated && { repeated: known.repeated }) }, message);
    kinds.delete(message);
    kinds.set(message, { logged_ms: now(), repeated: 0 });
    const [oldest] = kinds.keys();
    if (kinds.size > KINDS_MAX && oldest !== undefined) kinds.delete(oldest);
  };
}
