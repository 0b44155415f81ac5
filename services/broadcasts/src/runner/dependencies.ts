import type { Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Credentials } from '@bmg/common/directory';
import type { MessagingDefinition } from '@bmg/proto/messaging';
import type { Ledger } from '../ledger/ledger';
import type { Pace } from '../pace/redis-pace';
import type { Broadcasts } from '../store/broadcasts';
import type { Chunks } from '../store/chunks';

export interface RunnerDependencies {
  broadcasts: Broadcasts;
  chunks: Chunks;
  ledger: Ledger;
  pace: Pace;
  credentials: Pick<Credentials, 'forSending'>;
  messaging: Pick<Client<MessagingDefinition>, 'sendBroadcastMessage'>;
  settings: RunnerSettings;
  log: Logger;
}

export interface RunnerSettings {
  /** The part of a number's rate that broadcasts use. */
  share_percent: number;
  /** How long a status event is waited for where an answer was lost. */
  grace_ms: number;
  /** How long a worker that says nothing keeps what it has claimed. */
  lease_ms: number;
  /** How long a stop waits for the answers of what is in flight. */
  landing_limit_ms: number;
}
