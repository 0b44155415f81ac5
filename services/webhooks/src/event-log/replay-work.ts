// One turn of a replay: delivers the events of its positions, bucket by bucket, until it is done or
// its time is over.
import { groupBy } from '@bmg/common/collections';
import { pause } from '@bmg/common/lifecycle';
import { isExtraEvent, passesFilter, type ExtraEvent } from '@bmg/common/messages';
import { unsampled } from '@bmg/common/telemetry';
import type { Turn } from './leased-work';
import { SEARCH_MAX, type EventWithAttempts, type ReadEvent, type Reader } from './reader';
import type { Room } from './read-budget';
import {
  attemptNow,
  type Attempt,
  type AttemptNowDependencies,
  type Outcome,
  type Receiver,
  type Receivers,
} from '../delivery';
import type { Progress, Replay } from './store/replays';

export interface ReplayWork extends AttemptNowDependencies {
  reader: Reader;
  receivers: Receivers;
}

/** The positions to work on, and how far the work is. */
export type Positions = Pick<
  Replay,
  'partner_id' | 'waba_id' | 'events' | 'event_ids' | 'last' | 'position' | 'ahead' | 'delivered'
>;

/** False if the process stopped first, null if the receiver does not want it. Throws to end. */
export type Deliver = (event: EventWithAttempts) => Promise<boolean | null>;

type PositionTurn = Turn<Pick<Progress, 'position' | 'ahead' | 'delivered'>>;

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

/** Keeps the order of the log within a conversation. Ends when all is done or the turn is over. */
export async function work(
  reader: Reader,
  replay: Positions,
  turn: PositionTurn,
  deliver: Deliver,
): Promise<void> {
  const { partner_id, waba_id, events: names, last } = replay;
  const match = { waba_id: waba_id ?? undefined, events: names ?? undefined };
  const positions = await listedPositions(reader, replay);
  while (replay.position < last && !turn.over.aborted) {
    const first = replay.position + 1;
    const end = positions ? last : Math.min(last, replay.position + SEARCH_MAX);
    const bucket = await reader.bucket(partner_id, { first, last: end }, match, positions);
    const events = bucket?.events ?? [];
    for (let at = 0; at < events.length && !turn.over.aborted; at += PAGE) {
      await deliverPage(replay, turn, events.slice(at, at + PAGE), deliver);
    }
    if (!turn.over.aborted) await turn.save({ position: bucket?.last ?? end, ahead: [] });
  }
}

/** Undefined for a replay of a period. */
async function listedPositions(
  reader: Reader,
  { partner_id, event_ids }: Positions,
): Promise<ReadonlySet<number> | undefined> {
  if (!event_ids) return undefined;
  const positions = await reader.positions(partner_id, new Set(event_ids), UNBUDGETED);
  return new Set(positions.values());
}

/** One after the other within a Kafka partition, and so within a conversation. */
async function deliverPage(
  replay: Positions,
  { save, over }: PositionTurn,
  page: EventWithAttempts[],
  deliver: Deliver,
): Promise<void> {
  const done = new Set(replay.ahead);
  const left = page.filter(({ seq }) => !done.has(seq));
  const lanes = groupBy(left, ({ partition }) => String(partition % REPLAY_IN_FLIGHT));
  let delivered = 0;
  const ended = await Promise.allSettled(
    [...lanes.values()].map(async (lane) => {
      for (const event of lane) {
        if (over.aborted) return;
        const is_delivered = await deliver(event);
        if (is_delivered === false) return;
        done.add(event.seq);
        if (is_delivered) delivered += 1;
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

/**
 * Posts the event until the receiver takes it. Throws Refused if it does not; false if the process
 * stops first. Null for an extra event that the receiver does not ask for.
 */
export async function deliverAgain(
  deps: ReplayWork,
  event: ReadEvent,
  endpoint_id: string | undefined,
  stopped: AbortSignal,
): Promise<boolean | null> {
  for (let retries = 0; !stopped.aborted; retries += 1) {
    const receiver = await deps.receivers.of(event.partner_id, unsampled(), stopped);
    if (isExtraEvent(event.event) && !asksFor(receiver, endpoint_id, event.event)) return null;
    const attempt = {
      // At least 2, so that every attempt of the replay has a number of its own.
      ...attemptOf(event, event.attempts + retries + 2),
      endpoint_id,
      is_replay: true,
      // Conversations are not logged; the events of one share their partition.
      ordering_key: `replay-${event.partition}`,
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

export const attemptOf = (event: ReadEvent, number: number): Attempt => ({
  event_id: event.event_id,
  partner_id: event.partner_id,
  event: event.event,
  waba_id: event.waba_id,
  body: event.envelope,
  received_at_ms: event.received_at.getTime(),
  number,
  span: undefined,
});

function asksFor(receiver: Receiver, endpoint_id: string | undefined, event: ExtraEvent): boolean {
  if (endpoint_id === undefined) return receiver.extra_events.includes(event);
  const endpoint = receiver.endpoints.find((one) => one.endpoint_id === endpoint_id);
  return endpoint !== undefined && passesFilter(endpoint, event);
}
