import type { Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Credentials } from '@bmg/common/directory';
import type { MessagingDefinition } from '@bmg/proto/messaging';
import type { StateWriter } from '../contact-states';
import type { Pace } from '../pace';
import type { Broadcasts, Chunks } from '../records';

export interface RunnerDependencies {
  broadcasts: Broadcasts;
  chunks: Chunks;
  stateWriter: StateWriter;
  pace: Pace;
  credentials: Pick<Credentials, 'forSending'>;
  messaging: Pick<Client<MessagingDefinition>, 'sendClaimedMessage' | 'settleSends'>;
  settings: RunnerSettings;
  log: Logger;
}

export interface RunnerSettings {
  /** Percentage of a number's rate that broadcasts use. */
  share_percent: number;
  /** How long to wait for a status event when the answer to a send was lost. */
  grace_ms: number;
  /** How long a chunk stays with a worker that no longer renews its lease. */
  lease_ms: number;
  /** How long a shutdown waits for the answers to sends in flight. */
  stop_limit_ms: number;
}
