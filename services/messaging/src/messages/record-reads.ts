// Bounds the partners' reads of message records, concurrently and per second, so that searches
// leave the database and the event loop to the sends of others.
import { ApiError } from '@bmg/common/errors';
import { createByteRate, createPool } from '@bmg/common/overload';
import type { Logger } from '@bmg/common/telemetry';

/**
 * The most that a read may cost, in units of 1,000 records: this much is reserved while it runs.
 */
const COSTS = { page: 1, timeline: 1, days: 5, search: 20 } as const;
/** Records of a unit. */
const RECORDS_OF_UNIT = 1_000;

export type LookedAt = (records: number) => void;

/** Half of them for one partner: four searches, or 80 pages. */
export const UNITS_MAX = 160;
/**
 * A partner's share: 100 pages, or 100,000 records of searches. Further reads wait for those in
 * progress at most.
 */
const UNITS_PER_S = 100;

export function createRecordReads(log: Logger, units_per_s = UNITS_PER_S) {
  const pool = createPool(
    { server: 'messages', reason: 'reads', holder: 'partner', max: UNITS_MAX },
    log,
  );
  const rate = createByteRate(units_per_s);
  return {
    /**
     * Throws RATE_LIMIT_EXCEEDED if too many reads of the partner, or of all, are in progress. A
     * read that reports how many records it examined is charged to the partner's rate by that
     * number.
     */
    async run<T>(
      partner_id: string,
      kind: keyof typeof COSTS,
      read: (looked_at: LookedAt) => Promise<T>,
    ): Promise<T> {
      const units = COSTS[kind];
      // A failed read may have cost all of it.
      let cost: number = units;
      const turn = async (): Promise<T> => {
        try {
          await rate.turn(partner_id, 0);
          return await read((records) => (cost = Math.max(1, records / RECORDS_OF_UNIT)));
        } finally {
          rate.count(partner_id, cost);
        }
      };
      return pool.run(partner_id, tooManyReads, turn, units);
    },
  };
}

export type RecordReads = ReturnType<typeof createRecordReads>;

const tooManyReads = (): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    'too many messages are being read: try again in a moment, or filter by recipient or message_id',
    { retry_after_s: 1 },
  );
