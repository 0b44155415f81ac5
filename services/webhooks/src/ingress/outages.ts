// Notices when the ingress did not accept webhooks, because no replica ran or because it refused
// them, and records the outage once webhooks are accepted again.
import type { Collection, Db } from 'mongodb';
import { topics, type Bus } from '@bmg/common/bus';
import { createPoller } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';

export interface OutageWatchDependencies {
  db: Db;
  bus: Pick<Bus, 'publish'>;
  now: () => Date;
  log: Logger;
}

interface Heartbeat {
  _id: 'ingress';
  alive_at: Date;
}

/** One document: the time when a replica was last seen ready for webhooks. */
export const HEARTBEATS = 'heartbeats';

const BEAT_EVERY_MS = 5_000;
/** Several beats: a busy process is no outage. */
const OUTAGE_MIN_MS = 20_000;
/** A single refused webhook is repeated by the upstream; a run of them is an outage. */
const RUN_MIN = 3;
/**
 * Anyone can post webhooks that are refused, and an outage makes messaging check a day of messages.
 * So outages by refusals are recorded at most this often; those in between then count as one. A
 * crash forgets these, and their messages wait for their ordinary check.
 */
const REFUSALS_EVERY_MS = 600_000;

/** Refusals without an accepted webhook between them. */
interface Run {
  from: Date;
  /** Wrong signatures: the app secret may be the wrong one. */
  unauthorized: number;
  failed: number;
}

export type OutageWatch = ReturnType<typeof createOutageWatch>;

export function createOutageWatch({ db, bus, now, log }: OutageWatchDependencies) {
  const heartbeats: Collection<Heartbeat> = db.collection(HEARTBEATS);
  let run: Run | undefined;
  /** The start of the first run that has ended and is not recorded. */
  let ended: Date | undefined;
  let refusals_due_ms = 0;

  /** Strangers can post wrong signatures between two webhooks: only a lasting run counts. */
  const isOutage = ({ from, unauthorized, failed }: Run): boolean =>
    unauthorized + failed >= RUN_MIN &&
    (failed > 0 || now().getTime() - from.getTime() >= OUTAGE_MIN_MS);
  const refusalsDue = (at: Date): boolean => at.getTime() >= refusals_due_ms;
  /** The start of an outage that has ended by now. */
  const outageBefore = async (at: Date): Promise<Date | undefined> => {
    const last = (await heartbeats.findOne({ _id: 'ingress' }))?.alive_at;
    const silent = last && at.getTime() - last.getTime() >= OUTAGE_MIN_MS;
    const starts = [...(silent ? [last] : []), ...(ended && refusalsDue(at) ? [ended] : [])];
    return starts.sort((a, b) => a.getTime() - b.getTime())[0];
  };
  const beat = async (): Promise<void> => {
    const at = now();
    // The heartbeat stays at the start of the run, so that a restart within it is noticed.
    if (run && isOutage(run) && refusalsDue(at)) return;
    const from = await outageBefore(at);
    if (from) {
      const outage = { from_ms: from.getTime(), to_ms: at.getTime() };
      await bus.publish([{ topic: topics.outage, key: '', message: outage }]);
      log.warn({ from, to: at }, 'recorded an ingress outage');
      if (ended) refusals_due_ms = at.getTime() + REFUSALS_EVERY_MS;
      ended = undefined;
    }
    await heartbeats.updateOne({ _id: 'ingress' }, { $max: { alive_at: at } }, { upsert: true });
  };
  const poller = createPoller('ingress heartbeat', BEAT_EVERY_MS, beat, log);
  return {
    ...poller,
    /** Takes the status of every answer to a webhook with a signature. */
    answered(status: number): void {
      if (status === 200) {
        if (run && isOutage(run)) {
          ended ??= run.from;
          poller.wake();
        }
        run = undefined;
      } else if (status === 401 || status >= 500) {
        run ??= { from: now(), unauthorized: 0, failed: 0 };
        run[status === 401 ? 'unauthorized' : 'failed'] += 1;
      }
    },
  };
}
