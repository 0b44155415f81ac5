import type { Feature } from '@bmg/common/service';
import type { Dependencies } from '../dependencies';
import type { Received } from '@bmg/common/bus';
import type { Statuses } from '@bmg/proto/stream';
import type { Pace } from '../pace';
import { readOpaque } from '../ground/request-id';

export const runner = ({ pace, runner: working }: Dependencies): Feature => ({
  consumers: {
    status: giveWayToOwnSends({
      pace,
      isActive: (phone_number_id) => working.isActive(phone_number_id),
    }),
  },
  workers: [working],
});

/** The first status of a message; it is reported once. */
const SENT = 'sent';
/** Older statuses, such as a backlog, are no evidence of the current rate. */
const RECENT_MS = 10_000;
const SECOND_MS = 1_000;

/**
 * A partner's own sends take precedence: each one that the upstream reports takes one pace slot
 * from the number's broadcasts, so that both together stay within the rate. Numbers without an
 * active broadcast are skipped without a call to Redis.
 */
export const giveWayToOwnSends =
  (deps: {
    pace: Pick<Pace, 'giveWay'>;
    isActive: (phone_number_id: string) => boolean;
    now?: () => number;
  }) =>
  async (batch: Received<Statuses>[]): Promise<void> => {
    const oldest = (deps.now ?? Date.now)() - RECENT_MS;
    const counts = new Map<string, number>();
    for (const { message } of batch) {
      const { phone_number_id, statuses } = message;
      if (!phone_number_id || !deps.isActive(phone_number_id)) continue;
      const own = statuses.filter(
        ({ status, timestamp, opaque }) =>
          status === SENT && timestamp * SECOND_MS >= oldest && !readOpaque(opaque),
      ).length;
      if (own > 0) counts.set(phone_number_id, (counts.get(phone_number_id) ?? 0) + own);
    }
    await Promise.all([...counts].map(([number, count]) => deps.pace.giveWay(number, count)));
  };
