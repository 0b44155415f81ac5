// Delivers logged events again: with their own ids, in the order of the log within a conversation,
// and with so few attempts at a time that live deliveries keep their share of the receiver. Replays
// of different partners take turns in the places of a process.
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { unsampled } from '@bmg/common/telemetry';
import { createLeasedWork, type Turn } from './leased-work';
import type { Room } from './read-budget';
import type { Reader } from './reader';
import { deliverAgain, Refused, work, type ReplayWork } from './replay-work';
import type { Range } from './store/buckets';
import type { Progress, Replay, Replays } from './store/replays';

export interface ReplayDependencies extends ReplayWork {
  replays: Replays;
  /** Defaults to REPLAY_LIMITS. */
  limits?: Partial<typeof REPLAY_LIMITS>;
}

export interface ReplayRequest {
  partner_id: string;
  /** Absent: to the webhook URL. */
  endpoint_id?: string | undefined;
  waba_id: string | undefined;
  events: string[] | undefined;
  from: Date | undefined;
  to: Date | undefined;
  event_ids: string[];
}

const REPLAY_LIMITS = {
  /** Replays of different partners that this process works on. */
  running_max: 8,
  /** After this time a replay gives its place to the one that has waited longest. */
  turn_ms: 30_000,
  /** A replay that is not done by then ends; its position shows where to continue. */
  life_ms: 24 * 3_600_000,
};
const RETRY_AFTER_S = 5;
const EVENT_IDS_MAX = 1_000;
const KEPT_MS = 30 * 86_400_000;
const RECEIVER_TIMEOUT_MS = 5_000;
const EXPIRED = 'not finished within 24 hours';

export type ReplayRunner = ReturnType<typeof createReplayRunner>;

export function createReplayRunner(deps: ReplayDependencies) {
  const { replays, log } = deps;
  const limits = { ...REPLAY_LIMITS, ...deps.limits };
  /** Partners with a replay request being checked; each may have one. */
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
    async create(request: ReplayRequest, room: Room): Promise<Replay> {
      const { partner_id } = request;
      checkRequest(request);
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
    async find(partner_id: string, replay_id: string): Promise<Replay> {
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

/** The refusals that need no query. */
function checkRequest({ from, to, event_ids }: ReplayRequest): void {
  const is_list = event_ids.length > 0;
  if (is_list && (from ?? to)) throw invalidField('event_ids', 'cannot be combined with from, to');
  if (!is_list && !from) {
    throw missingFields(['from', 'event_ids'], 'from or event_ids is required');
  }
  if (event_ids.length > EVENT_IDS_MAX) {
    throw invalidField('event_ids', `must have at most ${EVENT_IDS_MAX} items`);
  }
}

async function newReplay(
  { reader, receivers }: ReplayWork,
  request: ReplayRequest,
  room: Room,
): Promise<Replay> {
  const { partner_id, endpoint_id, from, to, event_ids, events, waba_id } = request;
  const timeout = AbortSignal.timeout(RECEIVER_TIMEOUT_MS);
  const receiver = await receivers.of(partner_id, unsampled(), timeout);
  if (endpoint_id !== undefined) {
    const endpoint = receiver.endpoints.find((one) => one.endpoint_id === endpoint_id);
    if (!endpoint) throw invalidField('endpoint_id', 'is not one of your webhook endpoints');
    if (endpoint.status !== 'active') {
      throw invalidField(
        'endpoint_id',
        `is ${endpoint.status}: make it active, then replay events`,
      );
    }
  } else if (!receiver.webhook_url) {
    throw missingFields(['webhook_url'], 'no webhook_url is set: set one, then replay events');
  }
  const is_list = event_ids.length > 0;
  const { first, last } = is_list
    ? await rangeOfIds(reader, request, room)
    : await reader.range(partner_id, { after: undefined, from, to: to ?? new Date() });
  const now = Date.now();
  return {
    _id: newId('rpl', now),
    partner_id,
    ...(endpoint_id !== undefined && { endpoint_id }),
    running: partner_id,
    status: 'running',
    first,
    last,
    position: first - 1,
    delivered: 0,
    waba_id: waba_id ?? null,
    events: events ?? null,
    event_ids: is_list ? event_ids : null,
    created_at: new Date(now),
    ended_at: null,
    failed_event_id: null,
    error: null,
    owner: '',
    leased_until: new Date(0),
    expires_at: new Date(now + KEPT_MS),
  };
}

async function rangeOfIds(
  reader: Reader,
  { partner_id, event_ids }: ReplayRequest,
  room: Room,
): Promise<Range> {
  const positions = await reader.positions(partner_id, new Set(event_ids), room);
  const unknown = event_ids.findIndex((id) => !positions.has(id));
  if (unknown >= 0) throw invalidField(`event_ids[${unknown}]`, 'is not an event of your log');
  const all = [...positions.values()];
  return { first: Math.min(...all), last: Math.max(...all) };
}

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
