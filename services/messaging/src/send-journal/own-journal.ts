// The journal that this process writes. Its writes are synchronous and small, and need not reach
// the disk: they survive the process, and after a restart of the machine the journal is ignored.
import { closeSync, fstatSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { ApiError } from '@bmg/common/errors';
import type { Logger } from '@bmg/common/telemetry';
import { takeLock } from './lock';
import {
  encodeRecord,
  FILE_BYTES,
  FORMAT,
  LEAVING,
  NOTES_MAX,
  RECORD_BYTES,
  type Note,
} from './record';

export interface SendJournal {
  /** Notes an attempt before it is claimed. Undefined if it must be claimed without a note. */
  note(attempt: Omit<Note, 'entry'>): JournalEntry | undefined;
}

export interface JournalEntry {
  /** Stored with the claim. */
  id: string;
  /**
   * Called in the turn of the event loop in which the first byte leaves, before it. If it throws,
   * nothing may be sent: a later process would take the attempt for one that was not.
   */
  leaving(): void;
  /** The attempt has ended: its record is used again. */
  end(): void;
}

export interface OwnJournal extends SendJournal {
  id: string;
  /**
   * Removes the journal, unless attempts are still in flight: then the next process settles them.
   */
  close(): void;
}

export const JOURNAL_ENDING = '.sends';
export const LOCK_ENDING = '.lock';
const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';

export const readBootId = async (): Promise<string> =>
  (await readFile(BOOT_ID_FILE, 'utf8')).trim();

/** Device and inode of a file. */
export const identityOf = ({ dev, ino }: { dev: bigint; ino: bigint }): string => `${dev}:${ino}`;

/** Rejects if the folder cannot hold a journal. */
export async function openOwnJournal(dir: string, log: Logger): Promise<OwnJournal> {
  const id = randomUUID();
  const path = join(dir, `${id}${JOURNAL_ENDING}`);
  const lock_path = join(dir, `${id}${LOCK_ENDING}`);
  const boot_id = await readBootId();
  // The lock first: the journal of a living process is never without it.
  const lock = await takeLock(lock_path);
  try {
    const fd = openSync(path, 'wx', 0o600);
    try {
      // All of its space, so that a full disk refuses the journal now and not a note later.
      writeAll(fd, Buffer.alloc(FILE_BYTES), 0);
      const header = encodeRecord('header', {
        format: FORMAT,
        journal_id: id,
        boot_id,
        file: identityOf(fstatSync(fd, { bigint: true })),
        lock: identityOf(statSync(lock_path, { bigint: true })),
      });
      if (!header) throw new Error('the header of a journal is too large');
      writeAll(fd, header, 0);
      fsyncSync(fd);
    } catch (error) {
      closeSync(fd);
      removeFile(path);
      throw error;
    }
    return createJournal({ id, path, lock_path, fd, lock }, log);
  } catch (error) {
    lock.close();
    removeFile(lock_path);
    throw error;
  }
}

interface Opened {
  id: string;
  path: string;
  lock_path: string;
  fd: number;
  lock: Server;
}

function createJournal({ id, path, lock_path, fd, lock }: Opened, log: Logger): OwnJournal {
  const free = Array.from({ length: NOTES_MAX }, (_unused, at) => NOTES_MAX - at);
  let last = 0;
  /** `removed`: no later process finds the notes, so they prove nothing. */
  let state: 'open' | 'failed' | 'removed' = 'open';

  const remove = (): void => {
    removeFile(path);
    state = 'removed';
  };
  const fail = (error: unknown): void => {
    if (state !== 'open') return;
    state = 'failed';
    log.warn({ err: error }, 'failed to write the journal of sends: sending without it');
    try {
      remove();
    } catch (err) {
      log.warn({ err }, 'failed to remove the journal of sends');
    }
  };
  const leaving = (record: number): void => {
    // A note that stays readable as `claiming` must stay true: then nothing is sent under it.
    if (state === 'open') {
      try {
        return writeAll(fd, LEAVING, record * RECORD_BYTES);
      } catch (error) {
        fail(error);
      }
    }
    if (state === 'removed') return;
    throw notNoted();
  };
  return {
    id,
    note(attempt) {
      if (state !== 'open') return undefined;
      const entry = `${id}.${(last += 1)}`;
      const bytes = encodeRecord('claiming', { entry, ...attempt });
      const record = bytes && free.pop();
      if (record === undefined) return undefined;
      try {
        writeAll(fd, bytes as Buffer, record * RECORD_BYTES);
      } catch (error) {
        free.push(record);
        fail(error);
        return undefined;
      }
      let has_ended = false;
      return {
        id: entry,
        leaving() {
          if (has_ended) throw notNoted();
          leaving(record);
        },
        end() {
          if (!has_ended) free.push(record);
          has_ended = true;
        },
      };
    },
    close() {
      if (state === 'open' && free.length < NOTES_MAX) return void (state = 'failed');
      if (state === 'open') remove();
      closeSync(fd);
      lock.close();
      // After the journal: one without its lock would be removed by others.
      removeFile(lock_path);
    },
  };
}

const notNoted = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'the send could not be noted: nothing was sent', {
    retryable: true,
  });

const removeFile = (path: string): void => rmSync(path, { force: true });

/** Writes all of it or throws: a full disk may take only a part. */
function writeAll(fd: number, bytes: Buffer, position: number): void {
  const written = writeSync(fd, bytes, 0, bytes.length, position);
  if (written !== bytes.length) throw new Error(`wrote ${written} of ${bytes.length} bytes`);
}
