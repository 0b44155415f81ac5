// One turn of a replay: delivers the events of its positions, bucket by bucket, until it is done or its
// time is over.
import { pause } from '@bmg/common/lifecycle';
import { unsampled } from '@bmg/common/telemetry';
import { SEARCH_MAX, type ReadEvent, type Reader } from './reader';
import type { Room } from './read-budget';
import type { Outcome } from '../delivery/attempt';
import { attemptNow, type AttemptNowDependencies } from '../delivery/attempt-now';
import type { Receivers } from '../delivery/receivers';
import type { Progress, Replay } from '../store/replays';

export interface ReplayWork extends AttemptNowDependencies {
  reader: Reader;
  receivers: Receivers;
}

export interface Turn {
  /** Stores the progress of the replay. */
  save(progress: Progress): Promise<void>;
  /** Aborted when no further event may be started; one that was started is still posted. */
  over: AbortSignal;
  /** Aborted when the process stops or another replica has taken over: nothing more is posted. */
  stopped: AbortSignal;
}

/** Attempts in flight of one replay, beside the partner's share of live deliveries. */
export const REPLAY_IN_FLIGHT = 4;
/** Events between two writes of the progress. */
const PAGE = 100;
/** Waits before an event that the receiver refused is posted again; then the replay ends. */
const RETRY_DELAYS_MS = [1_000, 5_000, 30_000];
/** At most 1,000 positions, read without content: they need no reservation. */
const UNBUDGETED: Room = { reserve: async () => {}, took: () => {} };

/** The receiver refused an event too often. */
export class Refused extends Error {
  constructor(
    readonly event: ReadEvent,
    readonly outcome: Outcome,
  ) {
    super('refused');
  }
}

/** Works until the replay is done or the turn is over. */
export async function work(deps: ReplayWork, replay: Replay, turn: Turn): Promise<void> {
  const { partner_id, waba_id, events: names, last } = replay;
  const match = { waba_id: waba_id ?? undefined, events: names ?? undefined };
  const positions = await listedPositions(deps, replay);
  while (replay.position < last && !turn.over.aborted) {
    const first = replay.position + 1;
    const end = positions ? last : Math.min(last, replay.position + SEARCH_MAX);
    const bucket = await deps.reader.bucket(partner_id, { first, last: end }, match, positions);
    const events = bucket?.events ?? [];
    for (let at = 0; at < events.length && !turn.over.aborted; at += PAGE) {
      await deliverPage(deps, replay, turn, events.slice(at, at + PAGE));
    }
    if (!turn.over.aborted) await turn.save({ position: bucket?.last ?? end, ahead: [] });
  }
}

/** Undefined for a replay of a period. */
async function listedPositions(
  { reader }: ReplayWork,
  { partner_id, event_ids }: Replay,
): Promise<ReadonlySet<number> | undefined> {
  if (!event_ids) return undefined;
  const positions = await reader.positions(partner_id, new Set(event_ids), UNBUDGETED);
  return new Set(positions.values());
}

/** One after the other within a Kafka partition, and so within a conversation. */
async function deliverPage(
  deps: ReplayWork,
  replay: Replay,
  { save, over, stopped }: Turn,
  page: ReadEvent[],
): Promise<void> {
  const done = new Set(replay.ahead);
  const left = page.filter(({ seq }) => !done.has(seq));
  const lanes = new Map<number, ReadEvent[]>();
  for (const event of left) {
    const lane = event.partition % REPLAY_IN_FLIGHT;
    lanes.set(lane, [...(lanes.get(lane) ?? []), event]);
  }
  let delivered = 0;
  const ended = await Promise.allSettled(
    [...lanes.values()].map(async (lane) => {
      for (const event of lane) {
        if (over.aborted || !(await deliver(deps, event, replay.endpoint_id, stopped))) return;
        done.add(event.seq);
        delivered += 1;
      }
    }),
  );
  const next = page.find(({ seq }) => !done.has(seq));
  const position = next ? next.seq - 1 : (page.at(-1)?.seq ?? replay.position);
  await save({
    position,
    ahead: [...done].filter((seq) => seq > position),
    delivered: replay.delivered + delivered,
  });
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}

/** False if the process stops first. */
async function deliver(
  deps: ReplayWork,
  event: ReadEvent,
  endpoint_id: string | undefined,
  stopped: AbortSignal,
): Promise<boolean> {
  const { event_id, partner_id, envelope, attempts } = event;
  for (let retries = 0; !stopped.aborted; retries += 1) {
    const receiver = await deps.receivers.of(partner_id, unsampled(), stopped);
    const attempt = {
      event_id,
      partner_id,
      endpoint_id,
      event: event.event,
      waba_id: event.waba_id,
      body: envelope,
      received_at_ms: Date.now(),
      // At least 2, so that every attempt of the replay has a number of its own.
      number: attempts + retries + 2,
      span: undefined,
    };
    const outcome = await attemptNow(deps, attempt, receiver);
    if (outcome.result === 'delivered') return true;
    // The endpoint was deleted meanwhile.
    if (outcome.result === 'dropped') throw new Refused(event, outcome);
    const delay_ms = RETRY_DELAYS_MS[retries];
    if (delay_ms === undefined) throw new Refused(event, outcome);
    await pause(delay_ms, stopped);
  }
  return false;
}
