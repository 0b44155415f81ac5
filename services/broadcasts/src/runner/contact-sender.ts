// One contact: marked durably, sent once, its outcome recorded. Whatever dies in between, a contact that was
// marked and has no outcome is never sent again.
import { setMaxListeners } from 'node:events';
import { metrics, startSpan } from '@bmg/common/telemetry';
import { maskPhone } from '@bmg/common/ids';
import { pause } from '@bmg/common/lifecycle';
import { stateAt, type Change } from '../ledger/contact-state';
import type { Applied } from '../ledger/ledger';
import { judge, retryDelayMs, type Outcome } from './outcome';
import { requestId } from '../request-id';
import type { RunnerDependencies } from './dependencies';
import type { HeldChunk } from './held-chunk';
import type { Flight } from './active-broadcast';

/** What a lane does about the outcomes of its sends. */
export interface Signals {
  /** Nobody could be reached: no further send for a while. */
  unreachable(): void;
  /** The upstream has answered something. */
  answered(): void;
  /** The broadcast may not go on. */
  stopped(): void;
  /** The store did not take a mark. */
  storeAway(): void;
  /** A contact has landed or waits again. */
  changed(): void;
}

export interface Sender {
  /** Those of the flights that are durably marked: only they may be sent. */
  mark(flights: Flight[]): Promise<Flight[]>;
  /** Resolves once the outcome is recorded. */
  send(flight: Flight): Promise<void>;
  /** Marked, but not to be sent now: they wait again. */
  unmark(flights: Flight[]): Promise<void>;
  /** No outcome is waited for any longer than one more try. */
  giveUp(): void;
}

/** Above what the messaging service allows the upstream. */
const SEND_LIMIT_MS = 20_000;
const RECORD_RETRY_MS = 500;
const SAY_EVERY_MS = 1_000;
/** An hour: a store that is away longer has lost us this outcome. */
const RECORD_TRIES_MAX = 7_200;

export function createSender(deps: RunnerDependencies, signals: Signals): Sender {
  const { ledger, messaging, broadcasts, pace, settings, log } = deps;
  const leaving = new AbortController();
  // Every outcome that is not recorded yet listens: as many as there are sends in flight.
  setMaxListeners(0, leaving.signal);

  /** Until the store has taken it. */
  const keepTrying = async <T>(store: () => Promise<T>): Promise<T | undefined> => {
    for (let tries = 1; tries <= RECORD_TRIES_MAX; tries += 1) {
      try {
        return await store();
      } catch (error) {
        if (tries === 1) log.warn({ err: error }, 'an outcome is not recorded yet');
        if (leaving.signal.aborted) break;
        await pause(RECORD_RETRY_MS, leaving.signal);
      }
    }
    log.error('an outcome could not be recorded: its contact will count as unknown');
    return undefined;
  };
  let saidAt = 0;
  /** One outage leaves many sends in doubt: one line a second says so. */
  const sayUnknown = (error: unknown, broadcast_id: number): void => {
    if (Date.now() - saidAt < SAY_EVERY_MS) return;
    saidAt = Date.now();
    log.warn({ err: error, broadcast_id }, 'the outcome of sends is unknown');
  };
  const example = (chunk: HeldChunk, index: number): string =>
    maskPhone(chunk.contact(index).recipient);

  const record = async ({ chunk, index }: Flight, change: Omit<Change, 'index'>): Promise<void> => {
    const applied = await keepTrying(() =>
      ledger.apply(chunk.id, [{ index, ...change }], { salt: chunk.salt }),
    );
    chunk.landed(index, applied?.chunk?.progress.done ?? false);
    if (applied?.moved[0]) metrics.broadcast_sends.inc({ outcome: change.event });
    signals.changed();
  };

  /** Waits again: nothing was sent. Only the lease's holder may say so. */
  const release = async (flights: Flight[], then: (flight: Flight) => void): Promise<void> => {
    const { chunk } = flights[0] as Flight;
    const applied = await keepTrying(() =>
      ledger.apply(
        chunk.id,
        flights.map(({ index }) => ({ index, event: 'release' })),
        { fence: chunk.fence },
      ),
    );
    for (const flight of flights) {
      if (applied && !applied.refused) then(flight);
      else chunk.flying.delete(flight.index);
    }
    if (!applied || applied.refused) chunk.lost = true;
    signals.changed();
  };
  const putBack = async (flights: Flight[]): Promise<void> => {
    await Promise.all(
      byChunk(flights).map(([, list]) => release(list, ({ chunk, index }) => chunk.putBack(index))),
    );
  };

  const markChunk = async (chunk: HeldChunk, flights: Flight[]): Promise<Flight[]> => {
    let applied: Applied;
    try {
      applied = await ledger.apply(
        chunk.id,
        flights.map(({ index }) => ({ index, event: 'mark' })),
        { fence: chunk.fence },
      );
    } catch (error) {
      // It may have been stored or not; either way nothing is sent of it now.
      log.warn({ err: error, chunk: chunk.id }, 'contacts could not be marked');
      signals.storeAway();
      void putBack(flights);
      return [];
    }
    if (applied.refused || !applied.chunk) {
      chunk.lost = true;
      for (const { index } of flights) chunk.flying.delete(index);
      return [];
    }
    const { states, done } = applied.chunk.progress;
    const marked = flights.filter((_, at) => applied.moved[at]);
    const others = flights.filter((_, at) => !applied.moved[at]);
    for (const { index } of others) {
      // In flight although not by this mark: whoever that was, it is not sent on a guess.
      if (stateAt(states, index) === 'in_flight')
        chunk.grace(index, Date.now() + settings.grace_ms);
      else chunk.landed(index, done);
    }
    return marked;
  };

  const conclude = async (flight: Flight, outcome: Outcome): Promise<void> => {
    const { work, chunk, index } = flight;
    const refuse = (code: string): Promise<void> =>
      record(flight, { event: 'refuse', code, example: example(chunk, index) });
    if (outcome.kind === 'unknown') {
      chunk.grace(index, Date.now() + settings.grace_ms);
      signals.changed();
      return;
    }
    if (outcome.kind === 'refused') return refuse(outcome.code);
    if (outcome.kind === 'stop') {
      const { code, message } = outcome;
      if (!work.stop) {
        // What is in flight is refused with it: once is enough to say so.
        work.stop = { code, message };
        await keepTrying(() => broadcasts.stop(work.id, { code, message }));
      }
      await refuse(code);
      signals.stopped();
      return;
    }
    const delay = retryDelayMs(outcome, chunk.tried(index));
    if (delay === undefined) return refuse(outcome.code);
    if (outcome.reason === 'throttled') await pace.slowDown(work.broadcast.phone_number_id);
    if (outcome.reason === 'unreachable') signals.unreachable();
    metrics.broadcast_sends.inc({ outcome: `retry_${outcome.reason}` });
    const due = Date.now() + delay;
    await release([flight], () => chunk.postpone(index, due));
  };

  return {
    async mark(flights) {
      const marked = await Promise.all(
        byChunk(flights).map(([chunk, list]) => markChunk(chunk, list)),
      );
      const all = new Set(marked.flat());
      // In the order of the turns.
      return flights.filter((flight) => all.has(flight));
    },
    unmark: putBack,
    async send(flight) {
      const { work, chunk, index } = flight;
      const span = startSpan('broadcast contact');
      try {
        await messaging.sendBroadcastMessage(work.request(chunk, index), {
          deadline: Date.now() + SEND_LIMIT_MS,
          span: span.spanContext(),
          request_id: requestId({ chunk_id: chunk.id, index, salt: chunk.salt }),
        });
      } catch (error) {
        const outcome = judge(error);
        if (outcome.kind === 'unknown') sayUnknown(error, work.id);
        if (outcome.kind !== 'retry' || outcome.reason !== 'unreachable') signals.answered();
        return conclude(flight, outcome);
      } finally {
        span.end();
      }
      signals.answered();
      return record(flight, { event: 'sent' });
    },
    giveUp: () => leaving.abort(),
  };
}

function byChunk(flights: Flight[]): Array<[HeldChunk, Flight[]]> {
  const groups = new Map<HeldChunk, Flight[]>();
  for (const flight of flights) {
    const group = groups.get(flight.chunk);
    if (group) group.push(flight);
    else groups.set(flight.chunk, [flight]);
  }
  return [...groups];
}
