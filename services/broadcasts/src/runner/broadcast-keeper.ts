// Everything about a number's broadcasts that is not the sending itself: what the number takes, claiming
// chunks, waiting for what is in doubt, stopping, finishing. Runs now and then, beside the sends.
import { ApiError } from '@bmg/common/errors';
import { maskPhone } from '@bmg/common/ids';
import { metrics, startSpan } from '@bmg/common/telemetry';
import { indicesOf, OUTCOME_UNKNOWN } from '../ledger/contact-state';
import { forgetContacts } from '../store/remove-contacts';
import { codeOf, isStop } from './outcome';
import { limitOf, windowOf } from '../pace/pace';
import { chunkIds, chunkNumber } from '../request-id';
import type { ChunkHead } from '../store/chunks';
import type { RunnerDependencies } from './dependencies';
import { HeldChunk } from './held-chunk';
import type { Work } from './active-broadcast';

/** How long what the directory said of a number is used; a send asks for itself. */
const ASK_EVERY_MS = 3_000;
const ASK_LIMIT_MS = 5_000;
/** How often chunks that others hold, or that wait for events, are looked at. */
const LOOK_EVERY_MS = 1_000;
/** Chunks of one broadcast on one worker: those in doubt or set aside wait here beside the current ones. */
const HELD_MAX = 40;
/** Claimed ahead: this many windows of contacts. */
const AHEAD_WINDOWS = 3;
const DIRECTORY_REQUEST = 'broadcast';

export interface Keeper {
  /** One round over a broadcast; true when it is over for this worker. */
  keep(work: Work): Promise<boolean>;
  /** False when somebody cancelled it before: then nothing may be sent. */
  start(work: Work): Promise<boolean>;
  /** Gives back what is held. */
  letGo(work: Work): Promise<void>;
}

export function createKeeper(deps: RunnerDependencies, worker: string): Keeper {
  const { broadcasts, chunks, ledger, credentials, settings, log } = deps;

  const stop = async (work: Work, error: ApiError): Promise<void> => {
    work.stop ??= { code: codeOf(error), message: error.message };
    await broadcasts.stop(work.id, work.stop);
  };

  const ask = async (work: Work): Promise<void> => {
    if (Date.now() - work.asked_at < ASK_EVERY_MS) return;
    work.asked_at = Date.now();
    const { partner_id, waba_id, phone_number_id } = work.broadcast;
    const span = startSpan('broadcast number');
    try {
      const credential = await credentials.forSending(
        { partner_id, waba_id, phone_number_id, directory_version: '' },
        {
          deadline: Date.now() + ASK_LIMIT_MS,
          span: span.spanContext(),
          request_id: `${DIRECTORY_REQUEST}_${work.id}`,
        },
      );
      work.limit_per_sec = limitOf(credential);
    } catch (error) {
      // A directory that is away changes nothing of what it said before.
      if (error instanceof ApiError && isStop(error)) await stop(work, error);
      else log.warn({ err: error, broadcast_id: work.id }, 'the number’s state is not known');
    } finally {
      span.end();
    }
  };

  const start: Keeper['start'] = async (work) => {
    if (work.started) return true;
    const moved = await broadcasts.move(work.id, 'start', { started_at: new Date() });
    const stands = moved ? undefined : (await broadcasts.load([work.id]))[0];
    work.started = moved !== null || stands?.status === 'processing';
    work.gone ||= !work.started;
    return work.started;
  };

  const finish = async (work: Work): Promise<void> => {
    if (!(await start(work))) return;
    const finished = await broadcasts.move(work.id, 'finish', { completed_at: new Date() });
    work.gone = true;
    if (!finished) return;
    log.info(
      { broadcast_id: work.id, total: finished.total, stopped: work.stop?.code },
      'broadcast completed',
    );
    await forgetContacts(deps, finished);
  };

  /** True when free chunks are left. */
  const claim = async (work: Work, heads: ChunkHead[], wanted: number): Promise<boolean> => {
    const now = Date.now();
    const held = new Set(work.chunks.map(({ id }) => id));
    const free = heads.filter(
      ({ _id, done, lease_until }) => !done && !held.has(_id) && lease_until.getTime() <= now,
    );
    // In the order of the request; a chunk that another worker was faster with is passed over.
    for (const { _id } of free.sort((a, b) => chunkNumber(a._id) - chunkNumber(b._id))) {
      if (work.chunks.length >= HELD_MAX || (!work.stop && work.ready(now) >= wanted)) return true;
      const until = new Date(Date.now() + settings.lease_ms);
      const chunk = await chunks.claim(_id, worker, new Date(), until);
      if (!chunk) continue;
      ledger.adopt(chunk);
      const people = (await chunks.contacts(_id)) ?? [];
      work.chunks.push(new HeldChunk(chunk, people, Date.now(), settings.grace_ms));
    }
    return false;
  };

  /** The rest of a stopped broadcast counts as failed, with the reason. */
  const dropWaiting = async (work: Work, chunk: HeldChunk): Promise<void> => {
    const stored = await ledger.refresh(chunk.id);
    const waiting = indicesOf(stored?.progress.states ?? '', 'waiting').filter(
      (at) => !chunk.flying.has(at),
    );
    chunk.clear();
    const [first] = waiting;
    if (!stored || first === undefined) return;
    const code = work.stop?.code ?? OUTCOME_UNKNOWN;
    const example = maskPhone(chunk.contact(first).recipient);
    const {
      moved,
      refused,
      chunk: stands,
    } = await ledger.apply(
      chunk.id,
      waiting.map((index) => ({ index, event: 'drop', code, example })),
      { fence: chunk.fence },
    );
    if (refused) chunk.lost = true;
    else if (stands) chunk.look(stands, Date.now(), settings.grace_ms);
    metrics.broadcast_sends.inc({ outcome: 'drop' }, moved.filter(Boolean).length);
  };

  /** What nobody has told in time. */
  const loseExpired = async (chunk: HeldChunk): Promise<void> => {
    const over = chunk.expired(Date.now());
    if (over.length === 0) return;
    const {
      moved,
      refused,
      chunk: stands,
    } = await ledger.apply(
      chunk.id,
      over.map((index) => ({
        index,
        event: 'lose',
        example: maskPhone(chunk.contact(index).recipient),
      })),
      { fence: chunk.fence },
    );
    if (refused) chunk.lost = true;
    else if (stands) chunk.look(stands, Date.now(), settings.grace_ms);
    metrics.broadcast_sends.inc({ outcome: OUTCOME_UNKNOWN }, moved.filter(Boolean).length);
  };

  const tend = async (work: Work, chunk: HeldChunk): Promise<void> => {
    if (work.stop && !chunk.lost && (await start(work))) await dropWaiting(work, chunk);
    if (!chunk.lost) await loseExpired(chunk);
    if (chunk.lost ? chunk.flying.size === 0 : chunk.finished()) return work.drop(chunk);
    // Idle but not done: events may have settled what is in doubt, and what was missed is found again.
    const recent = Date.now() - chunk.looked_at < LOOK_EVERY_MS;
    if (!chunk.idle() || (recent && chunk.waitsForEvents())) return;
    const stored = await ledger.refresh(chunk.id);
    if (!stored || stored.fence !== chunk.fence) chunk.lost = true;
    else chunk.look(stored, Date.now(), settings.grace_ms);
    if (chunk.finished()) work.drop(chunk);
  };

  return {
    start,
    async keep(work) {
      if (work.gone) {
        await this.letGo(work);
        return work.flying() === 0;
      }
      await ask(work);
      const before = work.chunks.length;
      for (const chunk of [...work.chunks]) await tend(work, chunk);
      const wanted = AHEAD_WINDOWS * windowOf(work.limit_per_sec ?? 1);
      const hungry = work.chunks.length < HELD_MAX && work.ready(Date.now()) < wanted;
      // Looking costs a read: at once when something has ended here, otherwise now and then.
      const look = Date.now() - work.looked_at >= LOOK_EVERY_MS || work.chunks.length < before;
      if (hungry && (look || work.more)) {
        work.looked_at = Date.now();
        const heads = await chunks.heads(chunkIds(work.broadcast));
        if (heads.every(({ done }) => done)) await finish(work);
        else work.more = await claim(work, heads, wanted);
      }
      return work.gone && work.flying() === 0;
    },
    async letGo(work) {
      for (const chunk of [...work.chunks]) {
        if (chunk.flying.size > 0) continue;
        if (!chunk.lost) {
          // A lease that cannot be given back runs out by itself.
          await chunks
            .release(chunk.id, chunk.fence)
            .catch((error: unknown) => log.warn({ err: error }, 'a lease was not given back'));
        }
        work.drop(chunk);
      }
    },
  };
}
