// Bounds what partners read from the message records at a time and per second, so that searches leave the
// database and the event loop to the sends of others.
import { ApiError } from '@bmg/common/errors';
import { createByteRate, createPool } from '@bmg/common/overload';
import type { Logger } from '@bmg/common/telemetry';

/** What a read costs, in units of about 1,000 records looked at. */
const COSTS = { page: 1, timeline: 1, days: 5, search: 20 } as const;

export interface RecordReads {
  /** Throws RATE_LIMIT_EXCEEDED if too many reads of the partner, or of all, are in progress. */
  run<T>(partner_id: string, kind: keyof typeof COSTS, read: () => Promise<T>): Promise<T>;
}

/** Half of them for one partner: four searches, or 80 pages. */
export const UNITS_MAX = 160;
/** Of one partner: five searches, or 100 pages. Beyond it reads wait, at most for those in progress. */
const UNITS_PER_S = 100;

export function createRecordReads(log: Logger, units_per_s = UNITS_PER_S): RecordReads {
  const pool = createPool(
    { server: 'messages', reason: 'reads', holder: 'partner', max: UNITS_MAX },
    log,
  );
  const rate = createByteRate(units_per_s);
  return {
    async run(partner_id, kind, read) {
      const units = COSTS[kind];
      if (!pool.take(partner_id, units)) throw tooManyReads();
      try {
        await rate.turn(partner_id, units);
        return await read();
      } finally {
        pool.give(partner_id, units);
      }
    },
  };
}

const tooManyReads = (): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    'too many messages are being read: try again in a moment, or filter by recipient or message_id',
    { retry_after_s: 1 },
  );
