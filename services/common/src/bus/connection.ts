// Kafka connection options from the settings: TLS and SASL. Inconsistent settings are reported at
// startup.
import { readFileSync } from 'node:fs';
import type { KafkaConfig, SASLOptions } from 'kafkajs';
import { ConfigError } from '../config';

export interface ConnectionSettings {
  KAFKA_SASL_MECHANISM: 'none' | 'plain' | 'scram-sha-256' | 'scram-sha-512';
  KAFKA_SASL_USERNAME: string | undefined;
  KAFKA_SASL_PASSWORD: string | undefined;
  KAFKA_TLS: boolean;
  KAFKA_TLS_CA_FILE: string | undefined;
}

export interface Connection {
  options: Pick<KafkaConfig, 'ssl' | 'sasl'>;
  /** Legal but risky, for the log. */
  warnings: string[];
}

export function connectionOf(settings: ConnectionSettings): Connection {
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

/** Without KAFKA_TLS_CA_FILE, Node's own authorities apply (NODE_EXTRA_CA_CERTS adds to them). */
function tlsOf(settings: ConnectionSettings, faults: string[]): KafkaConfig['ssl'] | undefined {
  const file = settings.KAFKA_TLS_CA_FILE;
  if (!settings.KAFKA_TLS) {
    if (file !== undefined) faults.push('KAFKA_TLS is required when KAFKA_TLS_CA_FILE is set');
    return undefined;
  }
  if (file === undefined) return true;
  try {
    return { ca: [readFileSync(file, 'utf8')] };
  } catch {
    faults.push(`KAFKA_TLS_CA_FILE names a file that cannot be read: ${file}`);
    return undefined;
  }
}
