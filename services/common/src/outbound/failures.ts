// Classifies failed requests to a partner's server: maps the error codes of net, dns, tls and
// undici to one list.
import { errors } from 'undici';

/**
 * `timeout`: no answer in time. `refused`: nothing listens there, or no route. `reset`: the
 * connection broke. `dns`: the name does not resolve. `tls`: the TLS handshake failed.
 * `url_refused`: the URL leads to an address that is not allowed. `protocol`: the answer is not
 * valid HTTP. `aborted`: cancelled on our side, for example by a shutdown.
 */
export type OutboundFailure =
  'timeout' | 'refused' | 'reset' | 'dns' | 'tls' | 'url_refused' | 'protocol' | 'aborted';

/** Thrown by the connector, which knows how far the attempt got. */
export class ConnectFailed extends Error {
  override readonly name = 'ConnectFailed';

  constructor(
    readonly failure: OutboundFailure,
    /** Whether a retry may succeed soon. */
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

/** The failure behind a request's error; null for a bug of ours. */
export function failureOf(error: unknown): OutboundFailure | null {
  if (error instanceof ConnectFailed) return error.failure;
  if (error instanceof errors.HTTPParserError) return 'protocol';
  const code = codeOf(error);
  if (code === null) return null;
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  if (TLS_CODE.test(code)) return 'tls';
  // Any other system error of an established connection means that it broke.
  return SYSTEM_CODE.test(code) ? 'reset' : null;
}

export function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
