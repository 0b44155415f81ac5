// Carries a fix for mongodb 7.8.0: every pool looks ten times a second whether it has its minimum of
// connections, also when the minimum is none. What the look does besides, dropping connections that a
// failure has made stale, happens when the pool is ready again and when one is taken from it.
import { ConnectionPool } from 'mongodb/lib/cmap/connection_pool';

const { ensureMinPoolSize } = ConnectionPool.prototype;

ConnectionPool.prototype.ensureMinPoolSize = function (this: ConnectionPool) {
  ensureMinPoolSize.call(this);
  if (this.options.minPoolSize === 0) clearTimeout(this.minPoolSizeTimer);
};
