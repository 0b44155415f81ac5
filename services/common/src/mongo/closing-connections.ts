// Carries a fix for mongodb 7.8.0: a command that is written to a socket which is destroyed, but has
// not told so yet, waits for ever. The write reports a full buffer, and no `drain` follows. When
// that command is the monitor's, the server is never looked for again. Such a command fails here
// as on every closed connection.
import { MongoNetworkError } from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection';

const writeCommand = Connection.prototype.writeCommand;

Connection.prototype.writeCommand = async function (this: Connection, command, options) {
  if (!this.socket.destroyed) return writeCommand.call(this, command, options);
  const error = new MongoNetworkError('the connection is closed');
  this.onError(error);
  throw error;
};
