// The memory of lists of templates. An account has up to 6,000 templates, and many lists of it may
// be requested at a time: each counts while it grows, and until its reply is written.
import { ApiError } from '@bmg/common/errors';
import { createPool } from '@bmg/common/overload';
import { untilReplied, type Call } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';

export interface ListRoom {
  /** Throws when there is no room for so many bytes more. */
  grow(bytes: number): void;
}

const MIB = 1024 * 1024;
/** JSON; in memory a list takes about five times as much. */
export const LISTS_BYTES_MAX = 40 * MIB;
/** A partner's share: its largest list, or many usual ones. */
export const LISTS_BYTES_SHARE = 18 * MIB;
/** Usual lists of each partner, beside which large ones of others do not crowd them out. */
const FLOOR = { of_holder: MIB / 4, max: 8 * MIB };
const RETRY_AFTER_S = 1;

export function createListRooms(log: Logger) {
  const pool = createPool(
    {
      server: 'templates',
      reason: 'list_bytes',
      holder: 'partner',
      max: LISTS_BYTES_MAX,
      share: LISTS_BYTES_SHARE / LISTS_BYTES_MAX,
      floor: FLOOR,
    },
    log,
  );
  return {
    /** Runs a call that lists; a failed one gives its room back at once. */
    hold<T>(
      partner_id: string,
      call: Pick<Call, 'signal'>,
      list: (room: ListRoom) => Promise<T>,
    ): Promise<T> {
      let held = 0;
      const release = (): void => {
        pool.give(partner_id, held);
        held = 0;
      };
      const grow = (bytes: number): void => {
        if (!pool.take(partner_id, bytes)) throw noRoom();
        held += bytes;
      };
      return untilReplied(call, release, () => list({ grow }));
    },
  };
}

export type ListRooms = ReturnType<typeof createListRooms>;

const noRoom = (): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    'too many lists of templates are being read: wait for the answers to your other requests',
    { retry_after_s: RETRY_AFTER_S },
  );
