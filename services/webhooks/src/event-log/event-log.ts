// Wires the event log: writer, reader, waiting requests, expiry.
import type { Db } from 'mongodb';
import { createPoller, type Component } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';
import { createKeyUse, createVault } from '@bmg/common/vault';
import type { Config } from '../config';
import { createAttemptLog } from './attempt-log';
import { createPacker, type Packer } from './packer';
import { createReadBudget, type ReadBudget } from './read-budget';
import { createReader, type Reader } from './reader';
import { createAttempts } from './store/attempts';
import { createEventLogStore } from './store/buckets';
import { createWaiters, type Waiters } from './waiters';
import { EventLogWriter } from './writer';
import type { Attempt, Deliveries, Outcome } from '../delivery';

export interface EventLog {
  writer: EventLogWriter;
  reader: Reader;
  reads: ReadBudget;
  /** Takes the outcome of each attempt into the log. */
  recordAttempt(attempt: Attempt, outcome: Outcome): void;
  /** Ends the waiting requests: to be stopped before the server of the RPCs. */
  waiters: Waiters;
  packer: Packer;
  /** Background work. */
  upkeep: Component[];
}

const DAY_MS = 86_400_000;
const EXPIRE_EVERY_MS = 60_000;
/**
 * Readers stop showing an event this long before it is deleted, so that none disappears during a
 * read.
 */
const EXPIRED_KEPT_MS = 3_600_000;

export function createEventLog(
  settings: Pick<Config, 'EVENT_LOG_DAYS' | 'EVENT_LOG_KEYRING' | 'EVENT_LOG_SEALED'>,
  { db, deliveries, log }: { db: Db; deliveries: Deliveries; log: Logger },
): EventLog {
  const { EVENT_LOG_KEYRING: ring, EVENT_LOG_SEALED: sealed } = settings;
  // Without a key ring the log is not sealed.
  const vault = ring === undefined ? undefined : createVault(ring);
  const packer = createPacker(vault, sealed);
  const kept_ms = settings.EVENT_LOG_DAYS * DAY_MS;
  const store = createEventLogStore(db);
  const attempts = createAttemptLog({ attempts: createAttempts(db), packer }, kept_ms);
  const waiters = createWaiters(store, log);
  const reader = createReader({ store, attempts, deliveries, packer, kept_ms });
  const writer = new EventLogWriter({ store, attempts, packer, log, onGrown: waiters.grown });
  const expire = (): Promise<boolean> =>
    store.expire(new Date(Date.now() - kept_ms - EXPIRED_KEPT_MS));
  return {
    writer,
    reader,
    reads: createReadBudget(log),
    waiters,
    packer,
    upkeep: [
      createPoller('event-log-expiry', EXPIRE_EVERY_MS, expire, log),
      ...(vault ? [createKeyUse({ db, ring: 'EVENT_LOG_KEYRING', vault, log })] : []),
    ],
    recordAttempt: ({ event_id, partner_id, endpoint_id, waba_id, number }, outcome) => {
      const { result, http_status, error, trace } = outcome;
      writer.recordAttempt({
        event_id,
        partner_id,
        waba_id,
        number,
        ...(endpoint_id !== undefined && { endpoint_id }),
        at: new Date(trace?.at ?? Date.now()),
        duration_ms: trace?.duration_ms ?? 0,
        result,
        http_status: http_status ?? null,
        error,
        url: trace?.url ?? null,
        secret: trace?.secret ?? null,
        answer: trace?.answer ?? null,
      });
    },
  };
}
