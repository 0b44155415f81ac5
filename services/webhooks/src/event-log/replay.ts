// Delivers logged events again: with their own ids, in the order of the log within a conversation,
// and with so few attempts at a time that live deliveries keep their share of the receiver. Replays
// of different partners take turns in the places of a process.
import { ApiError } from '@bmg/common/errors';
import type { Component } from '@bmg/common/lifecycle';
import { createLeasedWork, type Turn } from './leased-work';
import type { Room } from './read-budget';
import { checkReplayRequest, newReplay, type ReplayRequest } from './replay-request';
import { deliverAgain, Refused, work, type ReplayWork } from './replay-work';
import type { Progress, Replay, Replays } from './store/replays';

export interface ReplayDependencies extends ReplayWork {
  replays: Replays;
  /** Defaults to REPLAY_LIMITS. */
  limits?: Partial<typeof REPLAY_LIMITS>;
}

export interface ReplayRunner extends Component {
  create(request: ReplayRequest, room: Room): Promise<Replay>;
  find(partner_id: string, replay_id: string): Promise<Replay>;
}

const REPLAY_LIMITS = {
  /** Replays of different partners that this process works on. */
  running_max: 8,
  /** After this time a replay gives its place to the one whose last turn is the longest ago. */
  turn_ms: 30_000,
  /** A replay that is not done by then ends; its position shows where to continue. */
  life_ms: 24 * 3_600_000,
};
const RETRY_AFTER_S = 5;
const EXPIRED = 'not finished within 24 hours';

export function createReplayRunner(deps: ReplayDependencies): ReplayRunner {
  const { replays, log } = deps;
  const limits = { ...REPLAY_LIMITS, ...deps.limits };
  /** The partners whose requests are being checked: one at a time of each. */
  const creating = new Set<string>();
  const endsAt = ({ created_at }: Replay): number => created_at.getTime() + limits.life_ms;
  const leased = createLeasedWork<Replay, Progress>({
    name: 'replays',
    jobs: replays,
    endsAt,
    work: (replay, turn) => workOn(deps, replay, endsAt(replay), turn),
    limits,
    log,
  });
  return {
    ...leased,
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
        leased.wake();
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

/** True once the replay has ended. */
async function workOn(
  deps: ReplayDependencies,
  replay: Replay,
  ends_at: number,
  turn: Turn<Progress>,
): Promise<boolean> {
  const { reader, log } = deps;
  const end = async (progress: Progress): Promise<boolean> => {
    await turn.save({ ...progress, ended_at: new Date() });
    const { _id, partner_id, status, delivered } = replay;
    log.info({ replay_id: _id, partner_id, status, delivered }, 'replay');
    return true;
  };
  try {
    if (Date.now() < ends_at) {
      await work(reader, replay, turn, (event) =>
        deliverAgain(deps, event, replay.endpoint_id, turn.stopped),
      );
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { event_id } = error.event;
    return end({ status: 'failed', failed_event_id: event_id, error: error.outcome.error });
  }
  if (replay.position >= replay.last) return end({ status: 'completed' });
  return Date.now() >= ends_at && end({ status: 'failed', error: EXPIRED });
}
