// Bounds answers on the way out: their bytes count for the partner, or for the network of a caller
// without a key, until the socket has taken them, and reads of logs and lists have a pool and a
// byte rate for each partner.
import { createByteRate, createPool, networkOf, type Pool } from '@bmg/common/overload';
import type { Logger } from '@bmg/common/telemetry';
import { overloaded, rateLimited } from './rate-limited';

export type AnswerLimits = ReturnType<typeof createAnswerLimits>;
export type AnswerRoom = ReturnType<typeof createRoom>;

const MIB = 1024 * 1024;
/** Bytes of answers that no socket has taken yet, in a replica and of one partner. */
export const ANSWER_BYTES_MAX = 96 * MIB;
export const ANSWER_BYTES_SHARE = 16 * MIB;
/** Reserved for small answers of each partner, so that others do not crowd them out. */
const ANSWER_BYTES_FLOOR = { of_holder: MIB / 4, max: 16 * MIB };
/** Pages, documents and errors for callers without a key. */
const OPEN_ANSWER_BYTES_MAX = 64 * MIB;
const OPEN_ANSWER_BYTES_SHARE = 16 * MIB;
/** Whole events and rows of the ledger, or a list of small items. */
export type ReadKind = 'log' | 'list';

/** Reads in flight of all partners, of each kind; most of those of logs wait for events. */
const READS_MAX = 2_000;
/** One partner's share. That of lists is more than the burst of the default rate limit. */
export const READ_SHARE: Readonly<Record<ReadKind, number>> = { log: 32, list: 256 };
/** Bytes per second for all reads of one partner together, in a replica. */
export const READ_BYTES_PER_S = 8 * MIB;
const RETRY_AFTER_S = 1;

export function createAnswerLimits(server: string, log: Logger) {
  const of_partners = { server, holder: 'partner' } as const;
  const answers = createPool(
    {
      ...of_partners,
      reason: 'answer_bytes',
      max: ANSWER_BYTES_MAX,
      share: ANSWER_BYTES_SHARE / ANSWER_BYTES_MAX,
      floor: ANSWER_BYTES_FLOOR,
    },
    log,
  );
  const open_answers = createPool(
    {
      server,
      reason: 'open_answer_bytes',
      holder: 'network',
      max: OPEN_ANSWER_BYTES_MAX,
      share: OPEN_ANSWER_BYTES_SHARE / OPEN_ANSWER_BYTES_MAX,
    },
    log,
  );
  const readsOf = (kind: ReadKind): Pool =>
    createPool(
      { ...of_partners, reason: 'reads', max: READS_MAX, share: READ_SHARE[kind] / READS_MAX },
      log,
    );
  const reads: Record<ReadKind, Pool> = { log: readsOf('log'), list: readsOf('list') };
  return {
    /** Room for the answer to a request of this partner, at first for none of its bytes. */
    answerRoom: (partner_id: string): AnswerRoom => createRoom(answers, partner_id),
    /** Bounds the answer of a request without a known partner. */
    openAnswerRoom: (address: string): AnswerRoom => createRoom(open_answers, networkOf(address)),
    /** Throws beyond the partner's share of such reads in flight; returns how to leave. */
    enterRead(partner_id: string, kind: ReadKind): () => void {
      const pool = reads[kind];
      if (!pool.take(partner_id)) throw rateLimited('reads', RETRY_AFTER_S, tooManyReads(kind));
      return () => pool.give(partner_id);
    },
    /** Bytes per second of a partner's reads; an answer is counted once its size is known. */
    read_rate: createByteRate(READ_BYTES_PER_S),
  };
}

const tooManyReads = (kind: ReadKind): string =>
  `too many reads of ${kind}s at a time: at most ${READ_SHARE[kind]} of one partner may be in flight`;
const TOO_MANY_BYTES =
  'too many bytes of answers are not read yet: read the answers to your other requests, then try again';

/** Counts what one request takes of a pool, until it is released. */
export function createRoom(pool: Pool, holder: string) {
  let counted = 0;
  let released = false;
  return {
    /** Counts more; false, and nothing changes, if there is no room. */
    reserve(bytes: number): boolean {
      if (released || !pool.take(holder, bytes)) return false;
      counted += bytes;
      return true;
    },
    /** Changes the bytes counted; throws, and changes nothing, if there is no room for more. */
    resize(bytes: number): void {
      if (released) return;
      if (bytes > counted && !pool.take(holder, bytes - counted)) throw overloaded(TOO_MANY_BYTES);
      if (bytes < counted) pool.give(holder, counted - bytes);
      counted = bytes;
    },
    /** Changes the bytes counted, beyond the bounds too. */
    force(bytes: number): void {
      if (released) return;
      if (bytes > counted) pool.force(holder, bytes - counted);
      else pool.give(holder, counted - bytes);
      counted = bytes;
    },
    /** Returns all of it; nothing is counted afterwards. */
    release(): void {
      if (!released) pool.give(holder, counted);
      released = true;
    },
  };
}
