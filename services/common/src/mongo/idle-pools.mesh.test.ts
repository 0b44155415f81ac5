// A pool without a minimum of connections sets no timers, and still serves after it was cleared.
import { MongoClient } from 'mongodb';
import { ConnectionPool } from 'mongodb/lib/cmap/connection_pool';
import './driver-fixes';

test('an idle pool has no timer', async () => {
  const pools = new Set<ConnectionPool>();
  const { ensureMinPoolSize } = ConnectionPool.prototype;
  ConnectionPool.prototype.ensureMinPoolSize = function (this: ConnectionPool) {
    pools.add(this);
    ensureMinPoolSize.call(this);
  };
  const client = await MongoClient.connect(process.env['MONGO_URL'] as string);
  try {
    await client.db('test').command({ ping: 1 });
    expect(pools.size).toBe(1);
    for (const { minPoolSizeTimer } of pools) {
      expect(minPoolSizeTimer === undefined || Reflect.get(minPoolSizeTimer, '_destroyed')).toBe(
        true,
      );
    }
  } finally {
    ConnectionPool.prototype.ensureMinPoolSize = ensureMinPoolSize;
    await client.close();
  }
});
