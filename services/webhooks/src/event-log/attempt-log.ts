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
} from '../store/attempts';
import type { StoredAttempt } from '../store/event-log';

/** An attempt with the beginning of the receiver's answer. */
export interface RecordedAttempt extends StoredAttempt {
  answer: string | null;
}

export interface AttemptLog {
  /** Resolves once stored. */
  add(attempt: EventAttempt, answer: string | null): Promise<void>;
  /** By event id, in the order in which they were made; answers are null unless requested. */
  of(event_ids: string[], answers?: 'with_answers'): Promise<Map<string, RecordedAttempt[]>>;
  drain(): Promise<void>;
}

interface Added {
  attempt: EventAttempt;
  answer: string | null;
}

const RETRY_MS = 1_000;
/** A busy receiver that refuses ends many attempts in this time: they share a document. */
const APART_MS = 100;

export function createAttemptLog(
  { attempts, packer }: { attempts: Attempts; packer: Packer },
  kept_ms: number,
): AttemptLog {
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
    add: (attempt, answer) => writer.add({ attempt, answer }),
    async of(event_ids, with_answers) {
      const wanted = new Set(event_ids);
      const found = new Map<string, RecordedAttempt[]>();
      const add = (batch: EventAttempt[], answers: Array<string | null>): void => {
        for (const [index, { event_id, ...attempt }] of batch.entries()) {
          if (!wanted.has(event_id)) continue;
          const list = found.get(event_id) ?? [];
          list.push({ ...attempt, answer: answers[index] ?? null });
          found.set(event_id, list);
        }
      };
      if (with_answers) {
        for await (const { _id, attempts: batch, packed } of attempts.of(event_ids)) {
          add(batch, await answersOf(packer, _id, packed));
        }
      } else {
        for await (const { attempts: batch } of attempts.withoutAnswersOf(event_ids))
          add(batch, []);
      }
      return found;
    },
    drain: () => writer.drain(),
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
