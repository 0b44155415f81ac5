// The one way to change what is recorded of contacts. Changes that arrive while a write is under way make
// the next one; a write is valid for one revision of a chunk alone, so that workers and status events of
// any replica never overwrite each other, and counters are stored in the very write that moves contacts.
import { randomBytes } from 'node:crypto';
import type { Component } from '@bmg/common/lifecycle';
import { applyChanges, tallyOf, type Change } from './contact-state';
import type { Chunks, Swap } from '../store/chunks';
import type { Chunk } from '../store/types';

/** Whose changes they are: all are refused together when it does not hold. */
export interface Guard {
  /** The claim under which a worker acts. */
  fence?: number;
  /** The broadcast that a status event is about. */
  salt?: string;
}

export interface Applied {
  /** Which changes moved their contact; none when the guard did not hold. */
  moved: boolean[];
  /** How the chunk stands afterwards; undefined when there is no such chunk. */
  chunk: Chunk | undefined;
  /** The guard did not hold: somebody else owns the chunk, or it is of another broadcast. */
  refused: boolean;
}

export interface Ledger extends Component {
  /**
   * Resolves once the changes are stored. Rejects when the store does not answer: then they may have been
   * stored or not, and asking again is safe for everything but what `moved` says of marks.
   */
  apply(chunk_id: string, changes: Change[], guard?: Guard): Promise<Applied>;
  /** Takes in what a claim answered. */
  adopt(chunk: Chunk): void;
  /** The chunk as it is stored now. */
  refresh(chunk_id: string): Promise<Chunk | undefined>;
}

/** Chunks in one write. */
const WRITE_MAX = 200;
/** Chunks remembered between writes: some 2 KiB each. */
const CACHE_MAX = 4_000;
/** A chunk that others change all the time is given up for this write; its caller asks again. */
const CONFLICTS_MAX = 50;

interface Asked {
  changes: Change[];
  guard: Guard;
  conflicts: number;
  resolve: (applied: Applied) => void;
  reject: (error: unknown) => void;
}

interface Planned {
  swap: Swap;
  next: Chunk;
  answers: Array<() => void>;
  asked: Asked[];
}

export function createLedger(chunks: Pick<Chunks, 'load' | 'swap'>): Ledger {
  const cache = new Map<string, Chunk>();
  const waiting = new Map<string, Asked[]>();
  let writing: Promise<void> | undefined;

  const remember = (chunk: Chunk): void => {
    cache.delete(chunk._id);
    cache.set(chunk._id, chunk);
    if (cache.size <= CACHE_MAX) return;
    const [oldest] = cache.keys();
    if (oldest !== undefined) cache.delete(oldest);
  };
  const enqueue = (chunk_id: string, asked: Asked): void => {
    const queue = waiting.get(chunk_id);
    if (queue) queue.push(asked);
    else waiting.set(chunk_id, [asked]);
    // The turn of the event loop ends first, so that what arrives together is written together.
    writing ??= new Promise<void>((start) => setImmediate(start)).then(flush);
  };

  const flush = async (): Promise<void> => {
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, WRITE_MAX);
      for (const [id] of batch) waiting.delete(id);
      try {
        await write(batch);
      } catch (error) {
        for (const [id, queue] of batch) {
          cache.delete(id);
          for (const { reject } of queue) reject(error);
        }
      }
    }
    writing = undefined;
  };

  const write = async (batch: Array<[string, Asked[]]>): Promise<void> => {
    const unknown = batch.map(([id]) => id).filter((id) => !cache.has(id));
    if (unknown.length > 0) for (const chunk of await chunks.load(unknown)) remember(chunk);
    const planned = batch.flatMap(([id, queue]) => plan(cache.get(id), queue) ?? []);
    if (planned.length === 0) return;
    const matched = await chunks.swap(planned.map(({ swap }) => swap));
    if (matched === planned.length) {
      for (const one of planned) commit(one);
      return;
    }
    // Some revision was no longer the newest: find out which.
    const fresh = new Map<string, Chunk>();
    for (const chunk of await chunks.load(planned.map(({ swap }) => swap._id)))
      fresh.set(chunk._id, chunk);
    for (const one of planned) settle(one, fresh.get(one.swap._id));
  };

  const commit = ({ next, answers }: Planned): void => {
    remember(next);
    for (const answer of answers) answer();
  };
  const settle = (one: Planned, stored: Chunk | undefined): void => {
    if (stored) remember(stored);
    else cache.delete(one.swap._id);
    if (stored?.progress.writer === one.swap.progress.writer) return commit(one);
    for (const asked of one.asked) {
      asked.conflicts += 1;
      if (asked.conflicts > CONFLICTS_MAX) asked.reject(new Error('a chunk changes too often'));
      else enqueue(one.swap._id, asked);
    }
  };

  return {
    name: 'ledger',
    apply: (chunk_id, changes, guard = {}) =>
      new Promise((resolve, reject) =>
        enqueue(chunk_id, { changes, guard, conflicts: 0, resolve, reject }),
      ),
    adopt: remember,
    async refresh(chunk_id) {
      const [chunk] = await chunks.load([chunk_id]);
      // A write that is under way knows better; its revision is checked by the store anyhow.
      if (chunk && !writing) remember(chunk);
      return chunk;
    },
    async start() {},
    async stop() {
      while (writing) await writing;
    },
  };
}

/** All that was asked of one chunk, as one write; undefined when nothing changes, and all is answered. */
function plan(chunk: Chunk | undefined, queue: Asked[]): Planned | undefined {
  if (!chunk) {
    for (const { resolve, changes } of queue) resolve(nothing(changes, undefined, false));
    return undefined;
  }
  const { progress } = chunk;
  let state = { states: progress.states, failures: progress.failures };
  const outcomes = queue.map((asked) => {
    if (!holds(chunk, asked.guard)) return { asked, moved: undefined };
    const { moved, ...after } = applyChanges(state, asked.changes);
    state = after;
    return { asked, moved };
  });
  const tally = tallyOf(state.states);
  const next: Chunk = {
    ...chunk,
    progress: {
      ...state,
      tally,
      done: tally.waiting + tally.in_flight === 0,
      rev: progress.rev + 1,
      writer: randomBytes(9).toString('base64url'),
    },
  };
  const swap = { _id: chunk._id, fence: chunk.fence, rev: progress.rev, progress: next.progress };
  const answer = ({ asked, moved }: (typeof outcomes)[number], stands: Chunk): void =>
    asked.resolve(
      moved ? { moved, chunk: stands, refused: false } : nothing(asked.changes, stands, true),
    );
  if (state.states === progress.states) {
    for (const outcome of outcomes) answer(outcome, chunk);
    return undefined;
  }
  return {
    swap,
    next,
    asked: queue,
    answers: outcomes.map((outcome) => () => answer(outcome, next)),
  };
}

const holds = (chunk: Chunk, { fence, salt }: Guard): boolean =>
  (fence === undefined || chunk.fence === fence) && (salt === undefined || chunk.salt === salt);

const nothing = (changes: Change[], chunk: Chunk | undefined, refused: boolean): Applied => ({
  moved: changes.map(() => false),
  chunk,
  refused,
});
