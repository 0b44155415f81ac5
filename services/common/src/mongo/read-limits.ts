// Gives every read a time limit at the server, which the driver has no setting for: `timeoutMS` is
// without effect in mongodb 7.8.0. A read that ended only at the socket would go on at the server.
import { MongoNetworkTimeoutError, MongoOperationTimeoutError } from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection';
import { operationLimit } from './work-classes';

const READS = new Set(['find', 'aggregate', 'count', 'distinct']);

const { command: send } = Connection.prototype;

Connection.prototype.command = async function (this: Connection, namespace, command, ...rest) {
  const [name = ''] = Object.keys(command);
  if (!READS.has(name) || this.socketTimeoutMS === 0) {
    return send.call(this, namespace, command, ...rest);
  }
  const { maxTimeMS = operationLimit(this.socketTimeoutMS) } = command;
  const limited = { ...command, maxTimeMS };
  try {
    return await send.call(this, namespace, limited, ...rest);
  } catch (error) {
    if (!(error instanceof MongoNetworkTimeoutError)) throw error;
    // The server hangs. The driver repeats a network error, which would take twice the time limit.
    throw new MongoOperationTimeoutError(error.message, { cause: error });
  }
};
