// Work on logged events that outlasts a request, such as a replay. One replica at a time works on a
// job, under a lease, and saves how far it is: after a crash another one goes on from there. Jobs
// take turns in the places of a process.
import { randomUUID } from 'node:crypto';
import { anySignal, createPoller, type Poller } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';

export interface Turn<P> {
  /** Stores the progress of the job. */
  save(progress: P): Promise<void>;
  /** Aborted when no further event may be started; one that was started is still posted. */
  over: AbortSignal;
  /** Aborted when the process stops or another replica has taken over: nothing more is posted. */
  stopped: AbortSignal;
}

export interface Jobs<J, P> {
  /** Claims the free job that has waited longest. */
  claim(owner: string, now: Date, leased_until: Date): Promise<J | null>;
  /** False if another replica has taken over. */
  update(job: J, progress: P): Promise<boolean>;
}

export interface LeasedWorkOptions<J, P> {
  /** For logs, in the plural. */
  name: string;
  jobs: Jobs<J, P>;
  /** When the job must have ended, in epoch milliseconds. */
  endsAt(job: J): number;
  /** Works until the job has ended or its turn is over; true once it has ended. */
  work(job: J, turn: Turn<P>): Promise<boolean>;
  /** Jobs that this process works on at a time, and the longest turn of one of them. */
  limits: { running_max: number; turn_ms: number };
  log: Logger;
}

const LOOK_EVERY_MS = 2_000;
const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 15_000;

export function createLeasedWork<J extends { _id: string }, P extends { leased_until?: Date }>(
  options: LeasedWorkOptions<J, P>,
): Poller {
  const { name, jobs, limits, log } = options;
  const owner = randomUUID();
  const stopped = new AbortController();
  const running = new Set<Promise<void>>();
  const poller = createPoller(
    name,
    LOOK_EVERY_MS,
    async () => {
      if (running.size >= limits.running_max) return false;
      const now = Date.now();
      const job = await jobs.claim(owner, new Date(now), new Date(now + LEASE_MS));
      if (!job) return false;
      const turn = takeTurn(options, job, stopped.signal)
        .catch((error: unknown) =>
          log.warn({ err: error, job: name, id: job._id }, 'failed to work on logged events'),
        )
        .finally(() => {
          running.delete(turn);
          poller.wake();
        });
      running.add(turn);
      return true;
    },
    log,
  );
  return {
    ...poller,
    async stop() {
      stopped.abort();
      await poller.stop();
      await Promise.all(running);
    },
  };
}

/** Ends with the job, its turn or the process, or when another replica takes over. */
async function takeTurn<J extends { _id: string }, P extends { leased_until?: Date }>(
  { jobs, endsAt, work, limits }: LeasedWorkOptions<J, P>,
  job: J,
  stopped: AbortSignal,
): Promise<void> {
  const lost = new AbortController();
  const ends = anySignal(stopped, lost.signal);
  const save = async (progress: P): Promise<void> => {
    Object.assign(job, progress);
    if (!(await jobs.update(job, progress))) lost.abort();
  };
  const saveLease = (leased_until: Date): Promise<void> => save({ leased_until } as P);
  const renewing = setInterval(
    () => void saveLease(new Date(Date.now() + LEASE_MS)).catch(() => undefined),
    RENEW_EVERY_MS,
  );
  const left_ms = Math.min(limits.turn_ms, endsAt(job) - Date.now());
  const over = anySignal(ends, AbortSignal.timeout(Math.max(0, left_ms)));
  try {
    const has_ended = await work(job, { save, over, stopped: ends });
    // One that a shutdown interrupted goes before those that had their turn.
    if (!has_ended) await saveLease(stopped.aborted ? new Date(0) : new Date());
  } finally {
    clearInterval(renewing);
  }
}
