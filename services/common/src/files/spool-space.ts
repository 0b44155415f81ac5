// The disk space that files take: a bound on their number and bytes, and a share of both for each
// partner. A file that arrives slowly makes room for others.
import { ApiError } from '../errors';
import { createTransfers } from '../overload';

export interface SpoolSpace {
  /** Throws when no room is left. `onEvicted` is called when the file has lost its place. */
  enter(partner_id: string, onEvicted: (reason: ApiError) => void): Place;
  used(): Used;
}

/** The disk space of one file. */
export interface Place {
  /** Throws when no room is left. */
  reserve(bytes: number): void;
  /** Marks the file as complete: it can no longer be evicted. */
  arrived(): void;
  leave(): void;
}

export interface Used {
  files: number;
  bytes: number;
}

const FILES_MAX = 256;
/** Files of one partner, which may also fill half of the disk space, and at least one largest file. */
export const FILES_OF_PARTNER = FILES_MAX / 8;
const RETRY_AFTER_S = 5;

export function createSpoolSpace(limit_bytes: number, share_bytes: number): SpoolSpace {
  const all: Used = { files: 0, bytes: 0 };
  const partners = new Map<string, Used>();
  const arriving = createTransfers();
  const makeRoom = (isFull: () => boolean, partner_id?: string): void => {
    while (isFull()) if (!arriving.evictSlowest(partner_id)) throw noRoom();
  };
  return {
    used: () => ({ ...all }),
    enter(partner_id, onEvicted) {
      const own = partners.get(partner_id) ?? { files: 0, bytes: 0 };
      makeRoom(() => own.files >= FILES_OF_PARTNER, partner_id);
      makeRoom(() => all.files >= FILES_MAX);
      partners.set(partner_id, own);
      for (const used of [all, own]) used.files += 1;
      let held_bytes = 0;
      let isHere = true;
      const leave = (): void => {
        if (!isHere) return;
        isHere = false;
        arrival.end();
        for (const used of [all, own]) {
          used.files -= 1;
          used.bytes -= held_bytes;
        }
        if (own.files === 0) partners.delete(partner_id);
      };
      const arrival = arriving.begin(partner_id, () => {
        leave();
        onEvicted(tooSlow());
      });
      return {
        reserve(bytes) {
          makeRoom(() => isHere && own.bytes + bytes > share_bytes, partner_id);
          makeRoom(() => isHere && all.bytes + bytes > limit_bytes);
          // The slowest file may be this one.
          if (!isHere) throw tooSlow();
          held_bytes += bytes;
          for (const used of [all, own]) used.bytes += bytes;
          arrival.moved(bytes);
        },
        arrived: arrival.end,
        leave,
      };
    },
  };
}

const unavailable = (message: string, cause?: unknown): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', `${message}: try again in a moment`, {
    retryable: true,
    retry_after_s: RETRY_AFTER_S,
    cause,
  });

export const noRoom = (cause?: unknown): ApiError =>
  unavailable('too many files are being transferred', cause);

const tooSlow = (): ApiError =>
  unavailable('the file arrived too slowly while too many files are being transferred');
