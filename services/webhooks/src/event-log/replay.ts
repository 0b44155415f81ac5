// Delivers logged events again: with their own ids, in the order of the log within a conversation,
// and with so few attempts at a time that live deliveries keep their share of the receiver.
import { randomUUID } from 'node:crypto';
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { createPoller, pause, type Component } from '@bmg/common/lifecycle';
import { unsampled } from '@bmg/common/telemetry';
import type { ReadEvent, Reader } from './reader';
import type { Outcome } from '../delivery/attempt';
import { attemptNow, type AttemptNowDependencies } from '../delivery/attempt-now';
import type { Receivers } from '../delivery/receivers';
import type { Progress, Replay, Replays } from '../store/replays';

export interface ReplayDependencies extends AttemptNowDependencies {
  replays: Replays;
  reader: Reader;
  receivers: Receivers;
}

export interface ReplayRequest {
  partner_id: string;
  waba_id: string | undefined;
  events: string[] | undefined;
  from: Date | undefined;
  to: Date | undefined;
  event_ids: string[];
}

export interface ReplayRunner extends Component {
  create(request: ReplayRequest): Promise<Replay>;
  find(partner_id: string, replay_id: string): Promise<Replay>;
}

/** Attempts in flight of one replay, beside the partner's share of live deliveries. */
export const REPLAY_IN_FLIGHT = 4;
/** Replays of different partners that this process works on. */
const RUNNING_MAX = 8;
const EVENT_IDS_MAX = 1_000;
const PAGE = 100;
const LOOK_EVERY_MS = 2_000;
const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 15_000;
const KEPT_MS = 30 * 86_400_000;
/** Waits before an event that the receiver refused is posted again; then the replay ends. */
const RETRY_DELAYS_MS = [1_000, 5_000, 30_000];

export function createReplayRunner(deps: ReplayDependencies): ReplayRunner {
  const { replays, log } = deps;
  const owner = randomUUID();
  const stopped = new AbortController();
  const running = new Set<Promise<void>>();

  const poller = createPoller(
    'replays',
    LOOK_EVERY_MS,
    async () => {
      if (running.size >= RUNNING_MAX) return false;
      const now = Date.now();
      const replay = await replays.claim(owner, new Date(now), new Date(now + LEASE_MS));
      if (!replay) return false;
      const work = run(deps, replay, stopped.signal)
        .catch((error: unknown) =>
          log.warn({ err: error, replay_id: replay._id }, 'failed to replay events'),
        )
        .finally(() => running.delete(work));
      running.add(work);
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
    async create(request) {
      const replay = await newReplay(deps, request);
      if (!(await replays.create(replay))) {
        const other = await replays.findRunning(request.partner_id);
        throw new ApiError('RATE_LIMIT', 'a replay is running: wait until it has ended', {
          details: { replay_id: other?._id ?? null },
          retry_after_s: 5,
        });
      }
      poller.wake();
      return replay;
    },
    async find(partner_id, replay_id) {
      const replay = await replays.find(partner_id, replay_id);
      if (!replay) throw new ApiError('NOT_FOUND', 'no replay has this replay_id');
      return replay;
    },
  };
}

async function newReplay(
  { reader, receivers }: ReplayDependencies,
  request: ReplayRequest,
): Promise<Replay> {
  const { partner_id, from, to, event_ids, events, waba_id } = request;
  const is_list = event_ids.length > 0;
  if (is_list && (from ?? to)) throw invalidField('event_ids', 'cannot be combined with from, to');
  if (!is_list && !from)
    throw missingFields(['from', 'event_ids'], 'from or event_ids is required');
  if (event_ids.length > EVENT_IDS_MAX) {
    throw invalidField('event_ids', `must have at most ${EVENT_IDS_MAX} items`);
  }
  const receiver = await receivers.of(partner_id, unsampled(), AbortSignal.timeout(5_000));
  if (!receiver.webhook_url) {
    throw missingFields(['webhook_url'], 'no webhook_url is set: set one, then replay events');
  }
  const { first, last } = is_list
    ? rangeOfIds(await reader.find(partner_id, event_ids), event_ids)
    : await reader.range(partner_id, { after: undefined, from, to: to ?? new Date() });
  const now = Date.now();
  return {
    _id: newId('rpl', now),
    partner_id,
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

function rangeOfIds(found: ReadEvent[], event_ids: string[]): { first: number; last: number } {
  const known = new Set(found.map(({ event_id }) => event_id));
  const unknown = event_ids.findIndex((id) => !known.has(id));
  if (unknown >= 0) throw invalidField(`event_ids[${unknown}]`, 'is not an event of your log');
  return { first: found[0]?.seq ?? 1, last: found.at(-1)?.seq ?? 0 };
}

/** Refused too often. */
class Refused extends Error {
  constructor(
    readonly event: ReadEvent,
    readonly outcome: Outcome,
  ) {
    super('refused');
  }
}

/** Works on a replay until it ends, another replica takes over, or the process stops. */
async function run(deps: ReplayDependencies, replay: Replay, signal: AbortSignal): Promise<void> {
  const { replays, log } = deps;
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const save = async (progress: Progress): Promise<void> => {
    Object.assign(replay, progress);
    if (!(await replays.update(replay, progress))) over.abort();
  };
  const renewing = setInterval(
    () => void save({ leased_until: new Date(Date.now() + LEASE_MS) }).catch(() => undefined),
    RENEW_EVERY_MS,
  );
  try {
    while (replay.position < replay.last && !ends.aborted) {
      const { events, next } = await nextPage(deps, replay);
      await deliverAll(deps, events, ends);
      if (ends.aborted) break;
      await save({ position: next, delivered: replay.delivered + events.length });
    }
    if (!ends.aborted) await save({ status: 'completed', ended_at: new Date() });
    else await save({ leased_until: new Date(0) });
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

async function nextPage(
  { reader }: ReplayDependencies,
  { partner_id, position, last, waba_id, events, event_ids }: Replay,
): Promise<{ events: ReadEvent[]; next: number }> {
  if (event_ids) {
    const found = await reader.find(partner_id, event_ids);
    const left = found.filter(
      (one) =>
        one.seq > position &&
        (waba_id === null || one.waba_id === waba_id) &&
        (events === null || events.includes(one.event)),
    );
    const page = left.slice(0, PAGE);
    return { events: page, next: left.length > PAGE ? (page.at(-1)?.seq ?? last) : last };
  }
  const page = await reader.page({
    partner_id,
    after: position,
    limit: PAGE,
    until: last,
    from: undefined,
    to: undefined,
    waba_id: waba_id ?? undefined,
    events: events ?? undefined,
  });
  return { events: page.events, next: page.has_more ? page.next : last };
}

/** One after the other within a Kafka partition, and so within a conversation. */
async function deliverAll(
  deps: ReplayDependencies,
  events: ReadEvent[],
  signal: AbortSignal,
): Promise<void> {
  const lanes = new Map<number, ReadEvent[]>();
  for (const event of events) {
    const lane = event.partition % REPLAY_IN_FLIGHT;
    lanes.set(lane, [...(lanes.get(lane) ?? []), event]);
  }
  const ended = await Promise.allSettled(
    [...lanes.values()].map(async (lane) => {
      for (const event of lane) {
        if (signal.aborted) return;
        await deliver(deps, event, signal);
      }
    }),
  );
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}

async function deliver(
  deps: ReplayDependencies,
  event: ReadEvent,
  signal: AbortSignal,
): Promise<void> {
  const { event_id, partner_id, envelope, attempts } = event;
  for (let retries = 0; !signal.aborted; retries += 1) {
    const receiver = await deps.receivers.of(partner_id, unsampled(), signal);
    const attempt = {
      event_id,
      partner_id,
      event: event.event,
      waba_id: event.waba_id,
      body: envelope,
      received_at_ms: Date.now(),
      // At least 2, so that every attempt of the replay has a number of its own.
      number: attempts + retries + 2,
      span: undefined,
    };
    const outcome = await attemptNow(deps, attempt, receiver);
    if (outcome.result === 'delivered') return;
    const delay_ms = RETRY_DELAYS_MS[retries];
    if (delay_ms === undefined) throw new Refused(event, outcome);
    await pause(delay_ms, signal);
  }
}
