// Wires the event log: writer, reader, waiting requests, expiry.
import type { Db } from 'mongodb';
import { createPoller } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';
import { createKeyUse, createVault } from '@bmg/common/vault';
import type { Config } from '../config';
import { createAttemptLog } from './attempt-log';
import { createPacker } from './packer';
import { createReadBudget } from './read-budget';
import { createReader } from './reader';
import { createAttempts } from './store/attempts';
import { createEventLogStore } from './store/buckets';
import { createWaiters } from './waiters';
import { EventLogWriter } from './writer';
import type { Attempt, Deliveries, Outcome } from '../delivery';

const DAY_MS = 86_400_000;
const EXPIRE_EVERY_MS = 60_000;
/** Readers hide an event this long before it is deleted, so that none disappears in a read. */
const EXPIRED_KEPT_MS = 3_600_000;

export type EventLog = ReturnType<typeof createEventLog>;

export function createEventLog(
  settings: Pick<Config, 'EVENT_LOG_DAYS' | 'EVENT_LOG_KEYRING' | 'EVENT_LOG_SEALED'>,
  { db, deliveries, log }: { db: Db; deliveries: Deliveries; log: Logger },
) {
  const { EVENT_LOG_KEYRING: ring, EVENT_LOG_SEALED: sealed } = settings;
  // A log that has no key ring is not sealed.
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
    /** Ends the waiting requests: to be stopped before the server of the RPCs. */
    waiters,
    packer,
    /** Background work. */
    upkeep: [
      createPoller('event-log-expiry', EXPIRE_EVERY_MS, expire, log),
      ...(vault ? [createKeyUse({ db, ring: 'EVENT_LOG_KEYRING', vault, log })] : []),
    ],
    /** Takes the outcome of each attempt into the log. */
    recordAttempt(
      { event_id, partner_id, endpoint_id, waba_id, number }: Attempt,
      { result, http_status, error, trace }: Outcome,
    ): void {
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
