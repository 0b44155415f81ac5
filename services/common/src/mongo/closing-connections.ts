// Carries a fix for mongodb 7.8.0: a command that is written to a socket which is destroyed, but has
// not emitted close, waits for ever. The write reports a full buffer, and no `drain` follows. If it is
// a command of the monitor, the driver never reconnects to the server. With the fix such a command
// fails as on every closed connection.
import { MongoNetworkError } from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection';

const writeCommand = Connection.prototype.writeCommand;

Connection.prototype.writeCommand = async function (this: Connection, command, options) {
  if (!this.socket.destroyed) return writeCommand.call(this, command, options);
  const error = new MongoNetworkError('the connection is closed');
  this.onError(error);
  throw error;
};
