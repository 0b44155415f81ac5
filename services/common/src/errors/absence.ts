// Recognises driver errors that mean "the database or broker is unavailable", and determines
// whether the operation may have been executed, which decides whether a repeat is safe.

/** nothing_done: the operation never reached the server. unknown: it may have reached it. */
export type Absence = 'nothing_done' | 'unknown';

const BY_NAME: Record<string, Absence> = {
  MongoServerSelectionError: 'nothing_done',
  MongoNotConnectedError: 'nothing_done',
  MongoTopologyClosedError: 'nothing_done',
  MongoClientClosedError: 'nothing_done',
  MongoServerClosedError: 'nothing_done',
  MongoPoolClosedError: 'nothing_done',
  MongoPoolClearedError: 'nothing_done',
  MongoWaitQueueTimeoutError: 'nothing_done',
  PoolClearedOnNetworkError: 'unknown',
  MongoNetworkError: 'unknown',
  MongoNetworkTimeoutError: 'unknown',
  MongoOperationTimeoutError: 'unknown',
  MongoWriteConcernError: 'unknown',
};
const KAFKA =
  /^KafkaJS(Connection|RequestTimeout|NumberOfRetriesExceeded|BrokerNotFound|LockTimeout)/;

/** Error codes of a MongoDB server that is not, or no longer, the primary. */
const NOT_PRIMARY = new Set([10_107, 13_435, 10_058]);
const SHUTTING_DOWN = new Set([91, 189, 11_600, 11_602, 13_436]);
/** A time limit passed, a lock or a conflicting write was in the way, or the command was killed. */
const OVERLOADED = new Set([50, 262, 24, 112, 11_601]);

/** The connection was never established. */
const NOT_CONNECTED = new Set<unknown>(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

const CAUSES_MAX = 5;

/** Undefined for any other error. Searches the error's causes too. */
export function absenceIn(error: unknown): Absence | undefined {
  let one = error;
  for (let depth = 0; depth < CAUSES_MAX && one instanceof Error; depth += 1) {
    const found = absenceOf(one);
    if (found) return found;
    one = one.cause;
  }
  return undefined;
}

const isUnconnected = ({ cause }: Error): boolean =>
  NOT_CONNECTED.has((cause as { code?: unknown } | undefined)?.code);

function absenceOf(error: Error): Absence | undefined {
  const { name, code } = error as Error & { code?: unknown };
  if (Object.hasOwn(BY_NAME, name)) return isUnconnected(error) ? 'nothing_done' : BY_NAME[name];
  if (KAFKA.test(name)) return 'unknown';
  if (!name.startsWith('Mongo') || typeof code !== 'number') return undefined;
  if (NOT_PRIMARY.has(code)) return 'nothing_done';
  // Part of a bulk write may have been executed.
  return SHUTTING_DOWN.has(code) || OVERLOADED.has(code) ? 'unknown' : undefined;
}
