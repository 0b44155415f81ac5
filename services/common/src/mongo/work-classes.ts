// The classes of work at MongoDB, and their time limits. Each has connections of its own, so that
// long work does not hold those of requests.
import { MongoNetworkTimeoutError, MongoOperationTimeoutError } from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection';

interface WorkClass {
  /** The time limit of a command on its connection. */
  socketTimeoutMS: number;
  /** The most connections of a process. */
  maxPoolSize: number;
}

export const WORK_CLASSES = {
  /** Requests and events. */
  interactive: { socketTimeoutMS: 10_000, maxPoolSize: 50 },
  /** Counts and changes of many documents, in pages that end in seconds. */
  background: { socketTimeoutMS: 61_000, maxPoolSize: 5 },
  index_builds: { socketTimeoutMS: 600_000, maxPoolSize: 1 },
} as const satisfies Record<string, WorkClass>;

const ANSWER_MARGIN_MS = 1_000;

/**
 * The longest `maxTimeMS` on a connection. It is below the limit of the socket, so that the server
 * ends the operation and its answer arrives.
 */
export const operationLimit = (socketTimeoutMS: number): number =>
  socketTimeoutMS - ANSWER_MARGIN_MS;

/**
 * For a cursor that is read for minutes: the server adds up the times of all its batches, so only
 * the socket limits each of them.
 */
export const LONG_CURSOR = { maxTimeMS: 0 } as const;

// Gives every read a time limit at the server, which the driver has no setting for: `timeoutMS` is
// without effect in mongodb 7.8.0. A read that ended only at the socket would go on at the server.
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
