// Delivers logged events again: with their own ids, in the order of the log within a conversation,
// and with so few attempts at a time that live deliveries keep their share of the receiver. Replays
// of different partners take turns in the places of a process.
import { randomUUID } from 'node:crypto';
import { ApiError } from '@bmg/common/errors';
import { anySignal, createPoller, type Component } from '@bmg/common/lifecycle';
import type { Room } from './read-budget';
import { checkReplayRequest, newReplay, type ReplayRequest } from './replay-request';
import { Refused, work, type ReplayWork } from './replay-work';
import type { Progress, Replay, Replays } from '../store/replays';

export interface ReplayDependencies extends ReplayWork {
  replays: Replays;
  /** Defaults to REPLAY_LIMITS. */
  limits?: Partial<typeof REPLAY_LIMITS>;
}

export interface ReplayRunner extends Component {
  create(request: ReplayRequest, room: Room): Promise<Replay>;
  find(partner_id: string, replay_id: string): Promise<Replay>;
}

export const REPLAY_LIMITS = {
  /** Replays of different partners that this process works on. */
  running_max: 8,
  /** After this time a replay gives its place to the one whose last turn is the longest ago. */
  turn_ms: 30_000,
  /** A replay that is not done by then ends; its position shows where to continue. */
  life_ms: 24 * 3_600_000,
};
const LOOK_EVERY_MS = 2_000;
const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 15_000;
const RETRY_AFTER_S = 5;
const EXPIRED = 'not finished within 24 hours';

export function createReplayRunner(deps: ReplayDependencies): ReplayRunner {
  const { replays, log } = deps;
  const limits = { ...REPLAY_LIMITS, ...deps.limits };
  const owner = randomUUID();
  const stopped = new AbortController();
  const running = new Set<Promise<void>>();
  /** The partners whose requests are being checked: one at a time of each. */
  const creating = new Set<string>();

  const poller = createPoller(
    'replays',
    LOOK_EVERY_MS,
    async () => {
      if (running.size >= limits.running_max) return false;
      const now = Date.now();
      const replay = await replays.claim(owner, new Date(now), new Date(now + LEASE_MS));
      if (!replay) return false;
      const turn = takeTurn(deps, replay, { ...limits, stopped: stopped.signal })
        .catch((error: unknown) =>
          log.warn({ err: error, replay_id: replay._id }, 'failed to replay events'),
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
    name: 'replays',
    start: (signal) => poller.start(signal),
    async stop() {
      stopped.abort();
      await poller.stop();
      await Promise.all(running);
    },
    async create(request, room) {
      const { partner_id } = request;
      checkReplayRequest(request);
      if (creating.has(partner_id)) throw isRunning(null);
      creating.add(partner_id);
      try {
        const other = await replays.findRunning(partner_id);
        if (other) throw isRunning(other);
        const replay = await newReplay(deps, request, room);
        // Another replica may have created one meanwhile.
        if (!(await replays.create(replay))) throw isRunning(await replays.findRunning(partner_id));
        poller.wake();
        return replay;
      } finally {
        creating.delete(partner_id);
      }
    },
    async find(partner_id, replay_id) {
      const replay = await replays.find(partner_id, replay_id);
      if (!replay) throw new ApiError('NOT_FOUND', 'no replay has this replay_id');
      return replay;
    },
  };
}

const isRunning = (other: Replay | null): ApiError =>
  new ApiError('RATE_LIMIT', 'a replay is running: wait until it has ended', {
    details: { replay_id: other?._id ?? null },
    retry_after_s: RETRY_AFTER_S,
  });

/** Works on a replay until it ends, its turn is over, another replica takes over, or the process stops. */
async function takeTurn(
  deps: ReplayDependencies,
  replay: Replay,
  { turn_ms, life_ms, stopped }: { turn_ms: number; life_ms: number; stopped: AbortSignal },
): Promise<void> {
  const { replays, log } = deps;
  const lost = new AbortController();
  const ends = anySignal(stopped, lost.signal);
  const save = async (progress: Progress): Promise<void> => {
    Object.assign(replay, progress);
    if (!(await replays.update(replay, progress))) lost.abort();
  };
  const renewing = setInterval(
    () => void save({ leased_until: new Date(Date.now() + LEASE_MS) }).catch(() => undefined),
    RENEW_EVERY_MS,
  );
  const left_ms = replay.created_at.getTime() + life_ms - Date.now();
  const over = anySignal(ends, AbortSignal.timeout(Math.max(0, Math.min(turn_ms, left_ms))));
  try {
    if (left_ms > 0) await work(deps, replay, { save, over, stopped: ends });
    if (replay.position >= replay.last) await save({ status: 'completed', ended_at: new Date() });
    else if (Date.now() >= replay.created_at.getTime() + life_ms) {
      await save({ status: 'failed', ended_at: new Date(), error: EXPIRED });
    } else {
      // A replay that a shutdown interrupted goes before those that had their turn.
      await save({ leased_until: stopped.aborted ? new Date(0) : new Date() });
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await save({
      status: 'failed',
      ended_at: new Date(),
      failed_event_id: error.event.event_id,
      error: error.outcome.error,
    });
  } finally {
    clearInterval(renewing);
  }
  const { _id, partner_id, status, delivered } = replay;
  log.info({ replay_id: _id, partner_id, status, delivered }, 'replay');
}
