// The journals of processes that are dead: which of their attempts were certainly not sent.
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@bmg/common/telemetry';
import { stateOf } from './lock';
import { identityOf, JOURNAL_ENDING, LOCK_ENDING, readBootId } from './own-journal';
import {
  decodeRecord,
  FILE_BYTES,
  FORMAT,
  NOTES_MAX,
  RECORD_BYTES,
  type Header,
  type Note,
} from './record';

/** Journals read in one pass: each restart leaves one at most. */
const JOURNALS_MAX = 64;

/**
 * Calls `settle` with the notes of each journal in the folder whose process is dead, and then
 * removes it. A journal from before a restart of the machine, a copy and a damaged one have no
 * notes. Rejects if `settle` does; then the journal stays.
 */
export async function settleLeftJournals(
  dir: string,
  settle: (notes: Note[]) => Promise<void>,
  log: Logger,
): Promise<void> {
  const names = await readdir(dir);
  const ids = new Set(
    names
      .filter((name) => name.endsWith(JOURNAL_ENDING) || name.endsWith(LOCK_ENDING))
      .map((name) => name.slice(0, name.lastIndexOf('.'))),
  );
  for (const id of [...ids].sort().slice(0, JOURNALS_MAX)) {
    const path = join(dir, id + JOURNAL_ENDING);
    const lock_path = join(dir, id + LOCK_ENDING);
    const lock = await stateOf(lock_path);
    if (lock === 'held') continue;
    // Only its lock proves that the process is dead.
    const notes = lock === 'released' ? await readNotes({ path, lock_path, id }, log) : [];
    if (notes.length > 0) await settle(notes);
    await Promise.all([path, lock_path].map((file) => rm(file, { force: true })));
  }
}

interface Left {
  id: string;
  path: string;
  lock_path: string;
}

/** The notes that prove that their attempts were not sent. */
async function readNotes({ id, path, lock_path }: Left, log: Logger): Promise<Note[]> {
  try {
    const file = await open(path, 'r');
    try {
      // Fails if the disk has lost what was written.
      await file.sync();
      const bytes = Buffer.alloc(FILE_BYTES);
      const { bytesRead } = await file.read(bytes, 0, FILE_BYTES, 0);
      const header = decodeRecord('header', recordAt(bytes, 0)) as Header | undefined;
      const proves =
        bytesRead === FILE_BYTES &&
        header?.format === FORMAT &&
        header.journal_id === id &&
        header.boot_id === (await readBootId()) &&
        header.file === identityOf(await file.stat({ bigint: true })) &&
        header.lock === identityOf(await stat(lock_path, { bigint: true }));
      if (!proves) return [];
      return Array.from({ length: NOTES_MAX }, (_unused, at) => recordAt(bytes, at + 1)).flatMap(
        (record) => (decodeRecord('claiming', record) as Note | undefined) ?? [],
      );
    } finally {
      await file.close();
    }
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ENOENT') {
      log.warn({ err, journal: id }, 'failed to read the journal of a dead process');
    }
    return [];
  }
}

const recordAt = (bytes: Buffer, at: number): Buffer =>
  bytes.subarray(at * RECORD_BYTES, (at + 1) * RECORD_BYTES);
