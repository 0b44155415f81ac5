// Chunks of contacts. Every access is by the chunk's id, which follows from the broadcast's id, so
// that the cost does not grow with the number of broadcasts.
import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import { parseExact } from '@bmg/common/json';
import { allWaiting, emptyTally } from '../ground/contact-state';
import type { Contact, Broadcast, Chunk, ChunkProgress, ContactChunk } from '../ground/types';
import { chunkId, chunkIds, numberOf } from '../ground/request-id';
import { BROADCASTS, type Broadcasts } from './broadcasts';
import type { Logger } from '@bmg/common/telemetry';

export interface ChunkHead {
  _id: string;
  done: boolean;
  lease_until: Date;
}

export type ChunkCount = Pick<ChunkProgress, 'tally' | 'failures'> & { broadcast_id: number };

/** A new progress value, valid only for one revision (`rev`) of one claim (`fence`). */
export interface Swap {
  _id: string;
  fence: number;
  rev: number;
  progress: ChunkProgress;
}

const NEVER = new Date(0);

const chunkCollection = (db: Db): Collection<Chunk> => db.collection('chunks');
const contactCollection = (db: Db): Collection<ContactChunk> => db.collection('contacts');

export const createChunkStore = (db: Db) => ({
  insert: (broadcast: Broadcast, pages: Contact[][]): Promise<void> =>
    insertChunks(db, broadcast, pages),
  ...createProgressStore(chunkCollection(db), ownersOf(db)),
  ...createLeaseStore(chunkCollection(db), ownersOf(db)),
  ...createContactStore(contactCollection(db)),
  async remove(ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    await contactCollection(db).deleteMany({ _id: { $in: ids } });
    await chunkCollection(db).deleteMany({ _id: { $in: ids } });
  },
});

export type Chunks = ReturnType<typeof createChunkStore>;

/**
 * A write of all chunks of the largest broadcast, 16 MiB, would hold up every other write for half
 * a second. Chunks have 256 KiB at most.
 */
const INSERTED_AT_ONCE = 4;

async function insertChunks(
  db: Db,
  { _id: broadcast_id, salt, partner_id, phone_number_id }: Broadcast,
  pages: Contact[][],
): Promise<void> {
  for (let from = 0; from < pages.length; from += INSERTED_AT_ONCE) {
    await contactCollection(db).insertMany(
      pages
        .slice(from, from + INSERTED_AT_ONCE)
        .map((page, at) => toDocument(broadcast_id, from + at, page)),
    );
  }
  if (pages.length === 0) return;
  await chunkCollection(db).insertMany(
    pages.map((page, at) => ({
      _id: chunkId(broadcast_id, at),
      broadcast_id,
      salt,
      owner: { partner_id, phone_number_id },
      progress: {
        states: allWaiting(page.length),
        tally: { ...emptyTally(), waiting: page.length },
        failures: [],
        done: false,
        rev: 0,
        writer: '',
      },
      fence: 0,
      worker: null,
      lease_until: NEVER,
    })),
  );
}

type AddOwners = (chunks: Chunk[]) => Promise<Chunk[]>;

/** Completes chunks that an earlier release stored; the others need no query. */
const ownersOf =
  (db: Db): AddOwners =>
  async (chunks) => {
    const ids = chunks.flatMap(({ owner, broadcast_id }) => (owner ? [] : [broadcast_id]));
    if (ids.length === 0) return chunks;
    const found = await db
      .collection<Broadcast>(BROADCASTS)
      .find({ _id: { $in: [...new Set(ids)] } })
      .project<Pick<Broadcast, '_id' | 'partner_id' | 'phone_number_id'>>({
        partner_id: 1,
        phone_number_id: 1,
      })
      .toArray();
    const owners = new Map(
      found.map(({ _id, partner_id, phone_number_id }) => [_id, { partner_id, phone_number_id }]),
    );
    return chunks.map((chunk) => {
      const owner = chunk.owner ?? owners.get(chunk.broadcast_id);
      return owner ? { ...chunk, owner } : chunk;
    });
  };

const createProgressStore = (chunks: Collection<Chunk>, addOwners: AddOwners) => ({
  /** The chunks come with their owners. */
  load: async (ids: string[]): Promise<Chunk[]> =>
    addOwners(await chunks.find({ _id: { $in: ids } }).toArray()),
  /** Returns how many of the swaps found their revision. */
  async swap(swaps: Swap[]): Promise<number> {
    const operations = swaps.map(({ _id, fence, rev, progress }): AnyBulkWriteOperation<Chunk> => ({
      updateOne: {
        filter: { _id, fence, 'progress.rev': rev },
        update: { $set: { progress } },
      },
    }));
    const { matchedCount } = await chunks.bulkWrite(operations, { ordered: false });
    return matchedCount;
  },
  async heads(ids: string[]): Promise<ChunkHead[]> {
    const found = await chunks
      .find({ _id: { $in: ids } })
      .project<Chunk>({ 'progress.done': 1, lease_until: 1 })
      .toArray();
    return found.map(({ _id, progress: { done }, lease_until }) => ({ _id, done, lease_until }));
  },
  async counts(ids: string[]): Promise<ChunkCount[]> {
    const found = await chunks
      .find({ _id: { $in: ids } })
      .project<Chunk>({ broadcast_id: 1, 'progress.tally': 1, 'progress.failures': 1 })
      .toArray();
    return found.map(({ broadcast_id, progress }) => ({ broadcast_id, ...progress }));
  },
});

const createLeaseStore = (chunks: Collection<Chunk>, addOwners: AddOwners) => ({
  /** Returns null when the chunk is done or another worker holds its lease. */
  async claim(_id: string, worker: string, now: Date, until: Date): Promise<Chunk | null> {
    // Returns the document before the update: the one after it may already contain a later change.
    const before = await chunks.findOneAndUpdate(
      { _id, 'progress.done': false, lease_until: { $lte: now } },
      { $set: { worker, lease_until: until }, $inc: { fence: 1 } },
      { returnDocument: 'before' },
    );
    if (!before) return null;
    const [chunk = before] = await addOwners([before]);
    return { ...chunk, worker, lease_until: until, fence: before.fence + 1 };
  },
  async renew(held: Array<{ id: string; fence: number }>, until: Date): Promise<void> {
    if (held.length === 0) return;
    await chunks.bulkWrite(
      held.map(({ id, fence }) => ({
        updateOne: { filter: { _id: id, fence }, update: { $set: { lease_until: until } } },
      })),
      { ordered: false },
    );
  },
  /** Ends the lease, so that another worker can claim the chunk at once. */
  async release(_id: string, fence: number): Promise<void> {
    await chunks.updateOne({ _id, fence }, { $set: { worker: null, lease_until: NEVER } });
  },
});

const createContactStore = (contacts: Collection<ContactChunk>) => ({
  /** Returns null once the contacts are deleted. */
  async contacts(id: string): Promise<Contact[] | null> {
    const found = await contacts.findOne({ _id: id });
    return found && toContacts(found);
  },
  async removeContacts(ids: string[]): Promise<void> {
    if (ids.length > 0) await contacts.deleteMany({ _id: { $in: ids } });
  },
});

function toDocument(broadcast_id: number, at: number, page: Contact[]): ContactChunk {
  const hasParams = page.some(({ params }) => params !== null);
  return {
    _id: chunkId(broadcast_id, at),
    broadcast_id,
    recipients: JSON.stringify(page.map(({ recipient }) => recipient)),
    params: hasParams ? JSON.stringify(page.map(({ params }) => params)) : null,
  };
}

function toContacts({ recipients, params }: ContactChunk): Contact[] {
  const given = params === null ? [] : (parseExact(params) as Array<Contact['params']>);
  return (JSON.parse(recipients) as string[]).map((recipient, at) => ({
    recipient,
    params: given[at] ?? null,
  }));
}

/**
 * Contacts are personal data: they are deleted as soon as their broadcast has ended. Never rejects:
 * contacts that could not be deleted are swept later.
 */
export async function removeContactsOf(
  broadcast: Pick<Broadcast, '_id' | 'public_id' | 'partner_id' | 'chunk_count'>,
  deps: {
    chunks: Pick<Chunks, 'removeContacts'>;
    broadcasts: Pick<Broadcasts, 'contactsRemoved'>;
    log: Logger;
  },
): Promise<void> {
  try {
    await deps.chunks.removeContacts(chunkIds(broadcast));
    await deps.broadcasts.contactsRemoved(broadcast._id);
  } catch (error) {
    const { partner_id } = broadcast;
    deps.log.warn(
      { err: error, partner_id, broadcast_id: numberOf(broadcast) },
      'failed to delete contacts',
    );
  }
}
