// Makes an event of each alert, `partner.alert` unless it has a name of its own: one delivery, for one
// partner.
import { topics, type Bus, type Received } from '@bmg/common/bus';
import { eventIdOf } from '@bmg/common/messages';
import { metrics } from '@bmg/common/telemetry';
import type { Alert } from '@bmg/proto/stream';
import { createEnvelope } from './envelope';

/** The name of an alert without a name of its own. */
const ALERT_EVENT = 'partner.alert';

/** Returns the handler of the topic `alert`. */
export function deliverAlerts(
  bus: Pick<Bus, 'publish'>,
  public_url: string,
): (batch: Received<Alert>[]) => Promise<void> {
  const envelope = createEnvelope(public_url);
  return async (batch) => {
    await bus.publish(
      batch.map(({ message, span }) => {
        const { partner_id, occurrence, timestamp, data, event: name = ALERT_EVENT } = message;
        const event_id = eventIdOf(occurrence, partner_id);
        const event = {
          event: name,
          waba_id: null,
          phone_number_id: null,
          timestamp,
          data,
        };
        metrics.events_normalised.inc({ event: name });
        return {
          topic: topics.delivery,
          key: `${partner_id}|alert`,
          span,
          message: {
            event_id,
            partner_id,
            event: name,
            waba_id: '',
            phone_number_id: undefined,
            conversation: 'alert',
            body: envelope(event, event_id),
            received_at_ms: timestamp * 1_000,
          },
        };
      }),
    );
  };
}
