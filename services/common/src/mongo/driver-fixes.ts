// Carries fixes for mongodb 7.8.0.
import { MongoNetworkError } from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection';
import { ConnectionPool } from 'mongodb/lib/cmap/connection_pool';

// A command that is written to a socket which is destroyed, but has not emitted close, waits for
// ever: the write reports a full buffer, and no `drain` follows. If it is a command of the monitor,
// the driver never reconnects to the server. With the fix it fails as on every closed connection.
const writeCommand = Connection.prototype.writeCommand;

Connection.prototype.writeCommand = async function (this: Connection, command, options) {
  if (!this.socket.destroyed) return writeCommand.call(this, command, options);
  const error = new MongoNetworkError('the connection is closed');
  this.onError(error);
  throw error;
};

// Every pool checks ten times a second whether it has its minimum
// of connections, even if the minimum is zero. The check also drops connections that a failure has
// made stale; that still happens when the pool becomes ready again and when a connection is taken
// from it.
const { ensureMinPoolSize } = ConnectionPool.prototype;

ConnectionPool.prototype.ensureMinPoolSize = function (this: ConnectionPool) {
  ensureMinPoolSize.call(this);
  if (this.options.minPoolSize === 0) clearTimeout(this.minPoolSizeTimer);
};
