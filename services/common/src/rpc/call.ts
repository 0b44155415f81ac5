// The context of a call: deadline, trace, request id. The target is part of the message instead.
import { Metadata } from '@grpc/grpc-js';
import {
  parseTraceparent,
  traceparent,
  type SpanContext,
  type Waited,
  type Waits,
} from '../telemetry';
import { ROUTE } from './rendezvous';

export interface Call {
  /** Epoch milliseconds. */
  deadline: number;
  /** The span under which further work is done. */
  span: SpanContext;
  request_id: string;
  /** Aborted when the caller cancels, and once the transport has taken the whole reply. */
  signal?: AbortSignal | undefined;
  /**
   * The request id under which the gateway records the outcome (Idempotency-Key), with a
   * fingerprint, and the key as the partner gave it.
   */
  idempotency?:
    | {
        key: string;
        fingerprint: string;
        given?: string | undefined;
        /** Set if the reply is the one of an earlier request with the key. */
        replayed?: boolean;
      }
    | undefined;
  /** What the call has waited for so far; absent if it is not reported. */
  waits?: Waits;
  /** Calls with the same route go to the same replica, if the client balances by route. */
  route?: string;
}

/** Every hop subtracts this, so that the deepest one reports the timeout. */
export const HOP_MS = 50;

const TRACE = 'traceparent';
const REQUEST_ID = 'x-request-id';
const IDEMPOTENCY_KEY = 'idempotency-key';
const FINGERPRINT = 'idempotency-fingerprint';
const GIVEN_KEY = 'idempotency-given';
const REPLAYED = 'idempotency-replayed';
const WAITED = 'waited';

/** The call of a background worker, without a request behind it. */
export const ownCall = (span: SpanContext, limit_ms: number): Call => ({
  deadline: Date.now() + limit_ms,
  span,
  request_id: '',
});

export function writeCall(metadata: Metadata, call: Call, span: SpanContext): void {
  metadata.set(TRACE, traceparent(span));
  metadata.set(REQUEST_ID, call.request_id);
  if (call.route !== undefined) metadata.set(ROUTE, call.route);
  if (call.idempotency) {
    metadata.set(IDEMPOTENCY_KEY, call.idempotency.key);
    metadata.set(FINGERPRINT, call.idempotency.fingerprint);
    if (call.idempotency.given !== undefined) metadata.set(GIVEN_KEY, call.idempotency.given);
  }
}

export function readCall(metadata: Metadata): {
  parent: SpanContext | undefined;
  request_id: string;
  idempotency: Call['idempotency'];
} {
  const text = (name: string): string | undefined => {
    const value = metadata.get(name)[0];
    return typeof value === 'string' ? value : undefined;
  };
  const key = text(IDEMPOTENCY_KEY);
  return {
    parent: parseTraceparent(text(TRACE)),
    request_id: text(REQUEST_ID) ?? '',
    idempotency:
      key === undefined
        ? undefined
        : { key, fingerprint: text(FINGERPRINT) ?? '', given: text(GIVEN_KEY) },
  };
}

/** The trailer of a reply; undefined for nearly all replies. `waited` is that of a slow call. */
export function trailerOf({ idempotency }: Call, waited: Waited | undefined): Metadata | undefined {
  if (!idempotency?.replayed && !waited) return undefined;
  const trailer = new Metadata();
  if (idempotency?.replayed) trailer.set(REPLAYED, 'true');
  if (waited) trailer.set(WAITED, JSON.stringify(waited));
  return trailer;
}

/** Returns what a slow call has waited for on the server's side. */
export function readTrailer(trailer: Metadata, { idempotency }: Call): Waited | undefined {
  if (idempotency && trailer.get(REPLAYED).length > 0) idempotency.replayed = true;
  const [waited] = trailer.get(WAITED);
  return typeof waited === 'string' ? (JSON.parse(waited) as Waited) : undefined;
}

/**
 * Runs the work of a call that holds something its reply needs, such as memory. `release` is called once the
 * reply is written or the caller has left; at once if the work fails.
 */
export async function untilReplied<T>(
  { signal }: Pick<Call, 'signal'>,
  release: () => void,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const reply = await work();
    if (!signal || signal.aborted) release();
    else signal.addEventListener('abort', release, { once: true });
    return reply;
  } catch (error) {
    release();
    throw error;
  }
}
