// Notices when the ingress did not accept webhooks, because no replica ran or because it refused
// them, and records the outage once webhooks are accepted again.
import type { Collection, Db } from 'mongodb';
import { topics, type Bus } from '@bmg/common/bus';
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';

export interface OutageWatch extends Poller {
  /** Told the status of every answer to the upstream. */
  answered(status: number): void;
}

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

export function createOutageWatch({ db, bus, now, log }: OutageWatchDependencies): OutageWatch {
  const heartbeats: Collection<Heartbeat> = db.collection(HEARTBEATS);
  let run: { from: Date; refused: number } | undefined;
  let ended: Date | undefined;

  /** The start of an outage that has ended by now. */
  const outageBefore = async (at: Date): Promise<Date | undefined> => {
    const last = (await heartbeats.findOne({ _id: 'ingress' }))?.alive_at;
    const silent = last && at.getTime() - last.getTime() >= OUTAGE_MIN_MS;
    const starts = [...(silent ? [last] : []), ...(ended ? [ended] : [])];
    return starts.sort((a, b) => a.getTime() - b.getTime())[0];
  };
  const beat = async (): Promise<void> => {
    // The heartbeat stays at the start of the run, so that a restart within it is noticed.
    if (run && run.refused >= RUN_MIN) return;
    const at = now();
    const from = await outageBefore(at);
    if (from) {
      const outage = { from_ms: from.getTime(), to_ms: at.getTime() };
      await bus.publish([{ topic: topics.outage, key: '', message: outage }]);
      log.warn({ from, to: at }, 'recorded an ingress outage');
      ended = undefined;
    }
    await heartbeats.updateOne({ _id: 'ingress' }, { $max: { alive_at: at } }, { upsert: true });
  };
  const poller = createPoller('ingress heartbeat', BEAT_EVERY_MS, beat, log);
  return {
    ...poller,
    answered(status) {
      if (status === 200) {
        if (run && run.refused >= RUN_MIN) {
          ended ??= run.from;
          poller.wake();
        }
        run = undefined;
      } else if (status === 401 || status >= 500) {
        run ??= { from: now(), refused: 0 };
        run.refused += 1;
      }
    },
  };
}
