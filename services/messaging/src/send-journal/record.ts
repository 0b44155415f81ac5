// The file of a journal of sends: records of equal size, the first of which identifies the file.
//
// A note is written before its attempt is claimed, in the state `claiming`. One byte changes it to
// `leaving`, right before the first byte of the request leaves. So a note that is still `claiming`
// when its process is dead proves that the attempt was not sent. A record that is missing, damaged
// or `leaving` proves nothing.
import { crc32 } from 'node:zlib';
import type { NotedAttempt } from '../claims';

export const RECORD_BYTES = 256;
/** Attempts that one process has noted at a time; the connections to the upstream are fewer. */
export const NOTES_MAX = 1_024;
export const FILE_BYTES = (1 + NOTES_MAX) * RECORD_BYTES;
export const FORMAT = 1;

type RecordState = 'header' | 'claiming' | 'leaving';

const LETTERS: Record<RecordState, string> = { header: 'H', claiming: 'C', leaving: 'L' };
export const LEAVING = Buffer.from(LETTERS.leaving);
/** The state is not part of the checksum, because it is changed by itself. */
const STATE_CHARS = 1;
const CHECKSUM_CHARS = 8;

/** Identifies the file. Its notes are complete only until the machine boots again. */
export interface Header {
  format: number;
  journal_id: string;
  boot_id: string;
  /** Device and inode of the file and of its lock: a copy is not the journal. */
  file: string;
  lock: string;
}

export type Note = NotedAttempt;

/** Returns undefined if the content is too large for a record. */
export function encodeRecord(state: RecordState, content: Header | Note): Buffer | undefined {
  const json = JSON.stringify(content);
  const text = `${LETTERS[state]}${checksum(json)}${json}`;
  if (Buffer.byteLength(text) > RECORD_BYTES) return undefined;
  const bytes = Buffer.alloc(RECORD_BYTES, ' ');
  bytes.write(text);
  return bytes;
}

/** Returns the content of a whole record in this state, else undefined. */
export function decodeRecord(state: RecordState, bytes: Buffer): object | undefined {
  const text = bytes.toString('utf8').trimEnd();
  if (text[0] !== LETTERS[state]) return undefined;
  const json = text.slice(STATE_CHARS + CHECKSUM_CHARS);
  if (text.slice(STATE_CHARS, STATE_CHARS + CHECKSUM_CHARS) !== checksum(json)) return undefined;
  return JSON.parse(json) as object;
}

const checksum = (json: string): string => crc32(json).toString(16).padStart(CHECKSUM_CHARS, '0');
