// The classes of work at MongoDB. Each has connections of its own, so that long work does not hold
// those of requests.

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
