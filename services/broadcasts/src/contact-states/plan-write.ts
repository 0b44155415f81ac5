// Combines all pending changes of one chunk into one write. No I/O.
import { randomBytes } from 'node:crypto';
import { applyChanges, tallyOf, type Change, type Moved } from '../ground/contact-state';
import type { Swap } from '../records';
import type { Chunk, ChunkOwner } from '../ground/types';

/** The condition under which changes are applied; if it does not hold, all of them are refused. */
export interface Guard {
  /** The claim under which a worker acts. */
  fence?: number;
  /** The broadcast that a status event is about. */
  salt?: string;
  /**
   * The partner that a status event's callback data names, and the number that its message was sent
   * from. A partner with an upstream token writes any callback data, with any request id in it.
   */
  owner?: ChunkOwner;
}

export interface Applied {
  /** For each change, whether it moved its contact. */
  moved: boolean[];
  /** The chunk after the changes; undefined when it does not exist. */
  chunk: Chunk | undefined;
  /** The guard failed: the chunk has another holder, owner or broadcast. */
  refused: boolean;
}

/** Changes of one caller that wait to be written. */
export interface PendingChanges {
  changes: Change[];
  guard: Guard;
  conflicts: number;
  resolve: (applied: Applied) => void;
  reject: (error: unknown) => void;
}

export interface PlannedWrite {
  swap: Swap;
  /** The chunk once the write is stored. */
  next: Chunk;
  pending: PendingChanges[];
  /** Resolves every caller's promise; called once the write is stored. */
  answer: () => void;
}

/** Returns undefined when there is nothing to write; the callers then have their results. */
export function planWrite(
  chunk: Chunk | undefined,
  pending: PendingChanges[],
): PlannedWrite | undefined {
  if (!chunk) {
    for (const { resolve, changes } of pending) resolve(unchanged(changes, undefined, false));
    return undefined;
  }
  const { progress } = chunk;
  let state: Omit<Moved, 'moved'> = { ...progress, claimed: progress.claimed ?? [] };
  const results = pending.map(({ guard, changes }) => {
    if (!guardHolds(chunk, guard)) return undefined;
    const { moved, ...after } = applyChanges(state, changes);
    state = after;
    return moved;
  });
  const answerWith = (stored: Chunk): void => {
    for (const [at, { resolve, changes }] of pending.entries()) {
      const moved = results[at];
      resolve(moved ? { moved, chunk: stored, refused: false } : unchanged(changes, stored, true));
    }
  };
  if (state.states === progress.states) {
    answerWith(chunk);
    return undefined;
  }
  const tally = tallyOf(state.states);
  const next: Chunk = {
    ...chunk,
    progress: {
      states: state.states,
      failures: state.failures,
      claimed: state.claimed,
      tally,
      done: tally.waiting + tally.in_flight === 0,
      rev: progress.rev + 1,
      writer: randomBytes(9).toString('base64url'),
    },
  };
  return {
    swap: { _id: chunk._id, fence: chunk.fence, rev: progress.rev, progress: next.progress },
    next,
    pending,
    answer: () => answerWith(next),
  };
}

const guardHolds = (chunk: Chunk, { fence, salt, owner }: Guard): boolean =>
  (fence === undefined || chunk.fence === fence) &&
  (salt === undefined || chunk.salt === salt) &&
  (owner === undefined ||
    (chunk.owner?.partner_id === owner.partner_id &&
      chunk.owner.phone_number_id === owner.phone_number_id));

const unchanged = (changes: Change[], chunk: Chunk | undefined, refused: boolean): Applied => ({
  moved: changes.map(() => false),
  chunk,
  refused,
});
