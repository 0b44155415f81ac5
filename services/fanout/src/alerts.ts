// Makes an event of each alert, `partner.alert` unless it has a name of its own: one delivery, for
// one partner. An extra event is made only for a partner whose filters name it.
import { topics, type Bus, type Received } from '@bmg/common/bus';
import { ALERT_EVENT, eventIdOf, isExtraEvent } from '@bmg/common/messages';
import { metrics, unsampled } from '@bmg/common/telemetry';
import type { Alert } from '@bmg/proto/stream';
import { createEnvelope } from './outgoing';
import type { Wishes } from './wishes';

export interface AlertDependencies {
  bus: Pick<Bus, 'publish'>;
  wishes: Pick<Wishes, 'of'>;
  public_url: string;
}

const nameOf = ({ event = ALERT_EVENT }: Alert): string => event;

/** Returns the handler of the topic `alert`. */
export function deliverAlerts({
  bus,
  wishes,
  public_url,
}: AlertDependencies): (batch: Received<Alert>[]) => Promise<void> {
  const envelope = createEnvelope(public_url);
  return async (batch) => {
    const wanted = await withoutUnwanted(wishes, batch);
    if (wanted.length === 0) return;
    await bus.publish(
      wanted.map(({ message, span }) => {
        const { partner_id, occurrence, timestamp, data, waba_id, phone_number_id } = message;
        const name = nameOf(message);
        const event_id = eventIdOf(occurrence, partner_id);
        const event = {
          event: name,
          waba_id: waba_id ?? null,
          phone_number_id: phone_number_id ?? null,
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
            waba_id: waba_id ?? '',
            phone_number_id,
            conversation: 'alert',
            body: envelope(event, event_id),
            received_at_ms: timestamp * 1_000,
          },
        };
      }),
    );
  };
}

async function withoutUnwanted(
  wishes: Pick<Wishes, 'of'>,
  batch: Received<Alert>[],
): Promise<Received<Alert>[]> {
  const extra = batch.filter(({ message }) => isExtraEvent(nameOf(message)));
  const [first] = extra;
  if (!first) return batch;
  const partner_ids = extra.map(({ message }) => message.partner_id);
  const wanted = await wishes.of(partner_ids, first.span ?? unsampled());
  return batch.filter(({ message }) => {
    const name = nameOf(message);
    return !isExtraEvent(name) || wanted.get(message.partner_id)?.has(name);
  });
}
