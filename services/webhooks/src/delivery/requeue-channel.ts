// Announces to every replica, over Redis, that a partner's stored deliveries were made due.
import type { RedisConnection } from '@bmg/common/redis';
import type { Logger } from '@bmg/common/telemetry';

const CHANNEL = 'bmg:webhooks:requeue';

export type RequeueChannel = ReturnType<typeof createRequeueChannel>;

/** `reload` makes this replica read the partner's stored deliveries again. */
export function createRequeueChannel(
  connection: RedisConnection,
  reload: (partner_id: string) => Promise<void>,
  log: Logger,
) {
  const subscriber = connection.redis.duplicate({
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
  });
  subscriber.on('error', () => undefined);
  subscriber.on('message', (_channel: string, partner_id: string) => {
    reload(partner_id).catch((error: unknown) =>
      log.warn({ err: error, partner_id }, 'failed to reload requeued deliveries'),
    );
  });
  return {
    name: 'requeue',
    async start(): Promise<void> {
      subscriber.connect().catch(() => undefined);
      void subscriber.subscribe(CHANNEL).catch(() => undefined);
    },
    async stop(): Promise<void> {
      subscriber.disconnect();
    },
    async announce(partner_id: string): Promise<void> {
      // If Redis is down, this replica reloads, and the others find overdue rows by their scan.
      await connection.redis.publish(CHANNEL, partner_id).catch(() => reload(partner_id));
    },
  };
}
