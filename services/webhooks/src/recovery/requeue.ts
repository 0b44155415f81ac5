// Tells every replica that a partner's waiting events were made due: Redis carries the news.
import type { Component } from '@bmg/common/lifecycle';
import type { RedisConnection } from '@bmg/common/redis';
import type { Logger } from '@bmg/common/telemetry';

export interface Requeue extends Component {
  announce(partner_id: string): Promise<void>;
}

const CHANNEL = 'bmg:webhooks:requeue';

export function createRequeue(
  connection: RedisConnection,
  reload: (partner_id: string) => Promise<void>,
  log: Logger,
): Requeue {
  const subscriber = connection.redis.duplicate({
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
  });
  subscriber.on('error', () => undefined);
  subscriber.on('message', (_channel: string, partner_id: string) => {
    reload(partner_id).catch((error: unknown) =>
      log.warn({ err: error, partner_id }, 'waiting events could not be looked at again'),
    );
  });
  return {
    name: 'requeue',
    async start() {
      subscriber.connect().catch(() => undefined);
      void subscriber.subscribe(CHANNEL).catch(() => undefined);
    },
    async stop() {
      subscriber.disconnect();
    },
    async announce(partner_id) {
      // Without Redis at least what this replica schedules is looked at.
      await connection.redis.publish(CHANNEL, partner_id).catch(() => reload(partner_id));
    },
  };
}
