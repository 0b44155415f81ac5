// Why a request to a partner's server failed, in words that decide what happens next. Each library below
// (net, dns, tls, undici) has error codes of its own; they end here.
import { errors } from 'undici';

/**
 * `timeout`: no answer in time. `refused`: nothing listens there, or no route. `reset`: the connection
 * broke. `dns`: the name does not resolve. `tls`: no trusted encrypted connection. `url_refused`: the
 * URL leads where we do not go. `protocol`: the answer is not HTTP as it should be. `aborted`: we gave
 * up ourselves, for example because the service stops.
 */
export type OutboundFailure =
  'timeout' | 'refused' | 'reset' | 'dns' | 'tls' | 'url_refused' | 'protocol' | 'aborted';

/** No connection: made by the connector, which alone knows how far the attempt had come. */
export class ConnectFailed extends Error {
  override readonly name = 'ConnectFailed';

  constructor(
    readonly failure: OutboundFailure,
    /** Whether the same attempt may succeed in a moment. */
    readonly transient: boolean,
    options?: ErrorOptions,
  ) {
    super(`no connection: ${failure}`, options);
  }
}

const BY_CODE: Readonly<Record<string, OutboundFailure>> = {
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EHOSTDOWN: 'refused',
  ENETDOWN: 'refused',
  EADDRNOTAVAIL: 'refused',
  EACCES: 'refused',
  EPERM: 'refused',
  ETIMEDOUT: 'timeout',
  ETIMEOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'protocol',
  UND_ERR_ABORTED: 'aborted',
  UND_ERR_CLOSED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
};

const TLS_CODE = /^(?:ERR_SSL|ERR_TLS|EPROTO)/;
const SYSTEM_CODE = /^E[A-Z0-9]+$/;

/** The failure behind an error of a request; null for one that is a mistake of ours. */
export function failureOf(error: unknown): OutboundFailure | null {
  if (error instanceof ConnectFailed) return error.failure;
  if (error instanceof errors.HTTPParserError) return 'protocol';
  const code = codeOf(error);
  if (code === null) return null;
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  if (TLS_CODE.test(code)) return 'tls';
  // Whatever else the system reports about a connection that stood: it stands no longer.
  return SYSTEM_CODE.test(code) ? 'reset' : null;
}

export function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
