// Records attempts that end after their event was logged: many in one document, written in the
// background. Reads them back by event.
import { createBatchWriter } from '@bmg/common/mongo';
import type { Packed, Packer } from './packer';
import {
  attemptsIdentity,
  newBatchId,
  type AttemptBatch,
  type Attempts,
  type EventAttempt,
} from './store/attempts';
import type { StoredAttempt } from './store/buckets';

/** An attempt with the beginning of the receiver's answer. */
export interface RecordedAttempt extends StoredAttempt {
  answer: string | null;
}

export interface FoundAttempts {
  /** Keyed by event id; each in the order in which they were made. */
  of_event: Map<string, RecordedAttempt[]>;
  /** Batches that were read for them. */
  batches: number;
}

/**
 * Attempts of one event that a read returns: more than the retry schedule makes. A partner can have
 * an event attempted again at any time, thousands of times.
 */
export const ATTEMPTS_OF_EVENT_MAX = 100;
/** Events of one query: the database merges so many sorted ranges of its index. */
const EVENTS_AT_ONCE = 100;
/** Batches read for them together. If there are more, each event's are read apart. */
const BATCHES_MAX = 2_000;

interface Added {
  attempt: EventAttempt;
  answer: string | null;
}

const RETRY_MS = 1_000;
/** A busy receiver that refuses ends many attempts in this time: they share a document. */
const APART_MS = 100;

export type AttemptLog = ReturnType<typeof createAttemptLog>;

export function createAttemptLog(
  { attempts, packer }: { attempts: Attempts; packer: Packer },
  kept_ms: number,
) {
  const writer = createBatchWriter<Added>(
    async (added) => {
      const _id = newBatchId();
      await attempts.insert({
        _id,
        attempts: added.map(({ attempt }) => attempt),
        packed: await packAnswers(packer, _id, added),
        expires_at: new Date(Date.now() + kept_ms),
      });
    },
    { retry_ms: RETRY_MS, apart_ms: APART_MS },
  );
  return {
    /** Resolves once stored. */
    add: (attempt: EventAttempt, answer: string | null): Promise<void> =>
      writer.add({ attempt, answer }),
    /** The latest attempts of each event; answers are null unless requested. */
    async of(event_ids: string[], with_answers?: 'with_answers'): Promise<FoundAttempts> {
      const of_event = new Map<string, RecordedAttempt[]>();
      let batches = 0;
      const read = async (ids: string[]): Promise<void> => {
        const limit = ids.length === 1 ? ATTEMPTS_OF_EVENT_MAX : BATCHES_MAX;
        const latest = createLatest(ids);
        let count = 0;
        const found = attempts.newest(ids, limit, with_answers !== undefined);
        for await (const { _id, attempts: batch, packed } of found) {
          count += 1;
          if (!latest.wants(batch)) continue;
          if (latest.add(batch, packed ? await answersOf(packer, _id, packed) : [])) break;
        }
        batches += count;
        // One event with very many would hide those of the others.
        if (ids.length > 1 && count === limit) for (const id of ids) await read([id]);
        else for (const [id, list] of latest.lists) of_event.set(id, list.reverse());
      };
      for (let from = 0; from < event_ids.length; from += EVENTS_AT_ONCE) {
        await read(event_ids.slice(from, from + EVENTS_AT_ONCE));
      }
      return { of_event, batches };
    },
    drain: writer.drain,
  };
}

/** Collects the latest attempts of these events from batches, newest first. */
function createLatest(event_ids: string[]) {
  const lists = new Map<string, RecordedAttempt[]>(event_ids.map((id) => [id, []]));
  let missing = lists.size;
  const roomIn = (event_id: string): RecordedAttempt[] | undefined => {
    const list = lists.get(event_id);
    return list && list.length < ATTEMPTS_OF_EVENT_MAX ? list : undefined;
  };
  return {
    lists,
    wants: (batch: EventAttempt[]): boolean => batch.some(({ event_id }) => roomIn(event_id)),
    /** Returns true once no event has room for more. */
    add(batch: EventAttempt[], answers: Array<string | null>): boolean {
      for (let index = batch.length - 1; index >= 0; index -= 1) {
        const { event_id, ...attempt } = batch[index] as EventAttempt;
        const list = roomIn(event_id);
        if (!list) continue;
        list.push({ ...attempt, answer: answers[index] ?? null });
        if (list.length === ATTEMPTS_OF_EVENT_MAX) missing -= 1;
      }
      return missing === 0;
    },
  };
}

async function answersOf(
  packer: Packer,
  id: string,
  packed: Packed,
): Promise<Array<string | null>> {
  const plain = await packer.unpack(attemptsIdentity(id), packed);
  return JSON.parse(plain.toString('utf8')) as Array<string | null>;
}

/** The batch without one client's attempts. */
export async function withoutAccountAttempts(
  packer: Packer,
  batch: AttemptBatch,
  { partner_id, waba_id }: { partner_id: string; waba_id: string },
): Promise<AttemptBatch> {
  const answers = await answersOf(packer, batch._id, batch.packed);
  const kept = batch.attempts.flatMap((attempt, index) =>
    attempt.partner_id === partner_id && attempt.waba_id === waba_id
      ? []
      : [{ attempt, answer: answers[index] ?? null }],
  );
  return {
    ...batch,
    attempts: kept.map(({ attempt }) => attempt),
    packed: await packAnswers(packer, batch._id, kept),
  };
}

const packAnswers = (packer: Packer, id: string, added: Added[]): Promise<Packed> =>
  packer.pack(
    attemptsIdentity(id),
    Buffer.from(JSON.stringify(added.map(({ answer }) => answer)), 'utf8'),
  );
