import { topics } from '@bmg/common/bus';
import type { Feature } from '@bmg/common/service';
import type { DeliveryRole } from '../dependencies';

export function delivery({ bus, eventLog, dispatcher, liveShadows }: DeliveryRole): Feature {
  const { writer } = eventLog;
  bus.consumeUnsettled(
    topics.delivery,
    'webhooks',
    async (batch, heartbeat) => {
      await dispatcher.accept(writer.accept(batch), heartbeat);
      await writer.waitForRoom(heartbeat);
    },
    (partitions) => {
      liveShadows.assignPartitions(partitions.length);
      dispatcher.assignPartitions(partitions);
    },
  );
  return {
    workers: [writer, dispatcher],
    // Ends before the dispatcher, so that deliveries in flight end and are committed.
    doors: [{ name: 'intake', start: async () => {}, stop: async () => bus.pauseIntake() }],
  };
}
