// What all kinds of destination have in common: the interface, and the words for their failures.
import { DestinationError } from '@bmg/common/destinations';
import {
  ConnectFailed,
  ProtocolBroken,
  RequestFailed,
  type OutboundFailure,
  type SocketGuard,
} from '@bmg/common/outbound';

export interface DestinationEvent {
  event_id: string;
  event: string;
  /** Events of one key are stored in order; undefined if no order is wanted. */
  ordering_key: string | undefined;
  /** The envelope, or the CloudEvent that has it as its data. */
  body: Buffer;
  /** Describes the body, for the types that name it. */
  content_type: string;
  received_at_ms: number;
}

/**
 * `ok` only after the other side confirmed. `error` is a short text for the failed list, without
 * secrets and addresses. `permanent`: a repetition of this event cannot succeed.
 */
export type Sent = { ok: true } | { ok: false; error: string; permanent: boolean };

export interface Destination {
  /** Throws a DestinationError that names the setting to fix: address, credential or target. */
  check(): Promise<void>;
  /** The results have the same length and order. Never rejects. */
  send(events: readonly DestinationEvent[]): Promise<Sent[]>;
  /** Waits for the events that are being sent, within their time limit. */
  close(): Promise<void>;
}

/** Decides on addresses: those of webhook URLs, with the same setting for local work. */
export type DestinationGuard = SocketGuard;

/** Limits of time. Tests that wait for one shorten it. */
export const TIMES = {
  check_ms: 10_000,
  /** From the `send` of an event to its result. */
  send_ms: 10_000,
  /** One batch; shorter, so that a hung write does not fail all that wait for it. */
  write_ms: 8_000,
  request_ms: 7_000,
  open_ms: 5_000,
  connect_ms: 3_000,
  close_ms: 1_000,
  /** How long the first event of an object waits for others. */
  gather_ms: 2_000,
};
export type Times = Readonly<typeof TIMES>;

/** The other side refused a batch because of one event, and does not name it. */
export class EventRefused extends Error {
  override readonly name = 'EventRefused';
}

/** A failure with a text for the failed list. */
export class SendFailed extends Error {
  override readonly name = 'SendFailed';
}

/** Rejects with SendFailed after `limit_ms`. The work goes on: the caller closes what it uses. */
export async function within<T>(work: Promise<T>, limit_ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new SendFailed('timeout')), limit_ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export const SENT: Sent = { ok: true };

/** An event that may be sent again. */
export const unsent = (error: string): Sent => ({ ok: false, error, permanent: false });

/** An event that the destination will never take. */
export const refused = (error: string): Sent => ({ ok: false, error, permanent: true });

/** The text for the failed list: `timeout`, `no such queue`; `failed` for a bug of ours. */
export function failureText(error: unknown): string {
  if (error instanceof SendFailed || error instanceof DestinationError) return error.message;
  if (error instanceof ProtocolBroken) return error.message;
  if (error instanceof RequestFailed) return error.reason;
  if (error instanceof ConnectFailed) return error.failure;
  return 'failed';
}

const UNREACHABLE: Readonly<Record<OutboundFailure, string>> = {
  timeout: 'names a server that does not answer in time',
  refused: 'names a server that accepts no connections',
  reset: 'names a server that breaks the connection: check the port, and whether it expects TLS',
  dns: 'names a host that does not resolve',
  tls_expired: 'names a server whose TLS certificate is not valid today',
  tls_untrusted: 'names a server whose TLS certificate no known authority has signed',
  tls_wrong_name: 'names a server whose TLS certificate is of another name',
  tls_missing: 'names a server that does not speak TLS: check the port',
  tls: 'names a server with which no TLS connection can be made',
  url_refused: 'must lead to an address on the public internet, with TLS',
  protocol: 'names a server that does not speak the expected protocol',
  aborted: 'could not be checked: try again',
};

/** The error of a check whose connection failed; `setting` is that of the address. */
export function unreachable(
  setting: string,
  failure: OutboundFailure,
  cause?: unknown,
): DestinationError {
  const problem =
    cause instanceof ProtocolBroken
      ? `names a server that broke the protocol: ${cause.detail}`
      : UNREACHABLE[failure];
  return new DestinationError(setting, problem, { cause });
}
