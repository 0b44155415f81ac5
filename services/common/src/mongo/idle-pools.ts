// Carries a fix for mongodb 7.8.0: every pool checks ten times a second whether it has its minimum
// of connections, even if the minimum is zero. The check also drops connections that a failure has
// made stale; that still happens when the pool becomes ready again and when a connection is taken
// from it.
import { ConnectionPool } from 'mongodb/lib/cmap/connection_pool';

const { ensureMinPoolSize } = ConnectionPool.prototype;

ConnectionPool.prototype.ensureMinPoolSize = function (this: ConnectionPool) {
  ensureMinPoolSize.call(this);
  if (this.options.minPoolSize === 0) clearTimeout(this.minPoolSizeTimer);
};
