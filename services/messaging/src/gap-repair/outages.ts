// After an outage of the ingress, repairs the messages whose statuses may have fallen into it without
// waiting until they are overdue.
import type { Received } from '@bmg/common/bus';
import type { Logger } from '@bmg/common/telemetry';
import type { Outage } from '@bmg/proto/stream';
import type { OverdueRecords } from './store';

export interface OutageDependencies {
  overdue: Pick<OverdueRecords, 'expedite'>;
  delay_ms: number;
  now: () => Date;
  log: Logger;
}

/** Customers read most messages within a day. */
const LOOKBACK_MS = 86_400_000;
/** The upstream repeats webhooks, so most arrive soon after the outage without a repair. */
const SETTLE_MS = 300_000;

/** Returns the handler of the topic `outage`. */
export const applyOutages =
  ({ overdue, delay_ms, now, log }: OutageDependencies) =>
  async (batch: Received<Outage>[]): Promise<void> => {
    if (delay_ms === 0) return;
    for (const { message } of batch) {
      const sent = {
        from: new Date(message.from_ms - LOOKBACK_MS),
        to: new Date(message.to_ms + 1),
      };
      const at = new Date(now().getTime() + Math.min(SETTLE_MS, delay_ms));
      const expedited = await overdue.expedite(sent, at);
      log.info({ ...message, expedited }, 'checking messages after an ingress outage');
    }
  };
