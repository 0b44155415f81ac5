// The memory and the rate of reads: pages of the log, single events, failed deliveries. A call
// reserves the bytes that its read may take before it queries the database, and keeps the bytes
// that it took until its reply is written. So callers that do not read their replies cannot make
// the process grow.
import { ApiError } from '@bmg/common/errors';
import { anySignal, pause } from '@bmg/common/lifecycle';
import { createByteRate, createPool } from '@bmg/common/overload';
import { untilReplied, type Call } from '@bmg/common/rpc';
import { metrics, type Logger } from '@bmg/common/telemetry';

/** The reservation of one call. */
export interface Room {
  /**
   * Waits a short time for free bytes. Throws RATE_LIMIT_EXCEEDED if the partner's share stays
   * full, SERVICE_UNAVAILABLE if all of the budget does.
   */
  reserve(bytes: number): Promise<void>;
  /** The read has ended: keeps `bytes` reserved, and adds `cost` to the partner's rate. */
  took(bytes: number, cost?: number): void;
}

const MIB = 1024 * 1024;
/**
 * Bytes of content. A page takes about eight times as much at its peak: buckets as read, unpacked,
 * as text and as the encoded reply.
 */
export const READ_BYTES_MAX = 24 * MIB;
/** The share of one partner. */
export const READ_SHARE_BYTES = 8 * MIB;
const BYTES_PER_S = 16 * MIB;
/** Calls that wait for room, in this process and of one partner. */
const WAITING_MAX = 512;
const WAITING_SHARE = 32;
const WAIT_MS = 2_000;
const RETRY_AFTER_S = 1;

interface Waiting {
  partner_id: string;
  bytes: number;
  start(): void;
}

/** The bytes that are reserved, in all and by partner. */
function createSpace() {
  const reserved = new Map<string, number>();
  let all_reserved = 0;
  /** In order of arrival. */
  const queue = new Set<Waiting>();

  const ofPartner = (partner_id: string): number => reserved.get(partner_id) ?? 0;
  // A single read always fits, or a large one would be refused for ever.
  const isShareFull = (partner_id: string, bytes: number): boolean =>
    ofPartner(partner_id) > 0 && ofPartner(partner_id) + bytes > READ_SHARE_BYTES;
  const isFull = (bytes: number): boolean =>
    all_reserved > 0 && all_reserved + bytes > READ_BYTES_MAX;
  const change = (partner_id: string, bytes: number): void => {
    const left = ofPartner(partner_id) + bytes;
    all_reserved += bytes;
    if (left > 0) reserved.set(partner_id, left);
    else reserved.delete(partner_id);
  };
  return {
    /** Waits until the bytes are free; throws once the signal is aborted. */
    async take(partner_id: string, bytes: number, late: AbortSignal): Promise<void> {
      if (!isFull(bytes) && !isShareFull(partner_id, bytes)) return change(partner_id, bytes);
      const started = new AbortController();
      const waiting = { partner_id, bytes, start: () => started.abort() };
      queue.add(waiting);
      await pause(WAIT_MS, anySignal(started.signal, late));
      queue.delete(waiting);
      if (started.signal.aborted) return;
      const is_own = isShareFull(partner_id, bytes) || !isFull(bytes);
      throw is_own ? shareIsFull() : noRoom();
    },
    give(partner_id: string, bytes: number): void {
      change(partner_id, -bytes);
      for (const waiting of queue) {
        if (isFull(waiting.bytes)) break;
        if (isShareFull(waiting.partner_id, waiting.bytes)) continue;
        queue.delete(waiting);
        change(waiting.partner_id, waiting.bytes);
        waiting.start();
      }
    },
  };
}

export type ReadBudget = ReturnType<typeof createReadBudget>;

export function createReadBudget(log: Logger) {
  const places = createPool(
    {
      server: 'event_log',
      reason: 'reads',
      holder: 'partner',
      max: WAITING_MAX,
      share: WAITING_SHARE / WAITING_MAX,
    },
    log,
  );
  const rate = createByteRate(BYTES_PER_S);
  const space = createSpace();
  return {
    /**
     * Runs the reads of one call. Afterwards its bytes stay reserved until the reply is written; a
     * call that fails gives them back at once.
     */
    hold<T>(
      partner_id: string,
      call: Pick<Call, 'signal'>,
      read: (room: Room) => Promise<T>,
    ): Promise<T> {
      let held = 0;
      const release = (): void => {
        space.give(partner_id, held);
        held = 0;
      };
      const room: Room = {
        reserve: (bytes) =>
          places.run(partner_id, tooManyReads, async () => {
            const late = anySignal(AbortSignal.timeout(WAIT_MS), call.signal);
            await rate.turn(partner_id, 0, late);
            if (late.aborted) throw shareIsFull();
            await space.take(partner_id, bytes, late);
            held += bytes;
          }),
        took(bytes, cost = bytes) {
          space.give(partner_id, held - bytes);
          held = bytes;
          // The partner's next read waits for it.
          rate.count(partner_id, cost);
        },
      };
      return untilReplied(call, release, () => read(room));
    },
  };
}

const tooManyReads = (): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    'too many reads of events are in flight: read their answers first',
    { retry_after_s: RETRY_AFTER_S },
  );

function shareIsFull(): ApiError {
  metrics.requests_shed.inc({ server: 'event_log', reason: 'read_bytes_of_partner' });
  return tooManyReads();
}

function noRoom(): ApiError {
  metrics.requests_shed.inc({ server: 'event_log', reason: 'read_bytes' });
  return new ApiError('SERVICE_UNAVAILABLE', 'too many reads of events are in flight: try again', {
    retry_after_s: RETRY_AFTER_S,
  });
}
