// Kafka connection options from the settings: TLS and SASL. Inconsistent settings are reported at
// startup.
import type { KafkaConfig, SASLOptions } from 'kafkajs';
import { authorities, ConfigError } from '../config';

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
