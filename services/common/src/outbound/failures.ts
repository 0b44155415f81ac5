// Classifies failed requests to a partner's server: maps the error codes of net, dns, tls and
// undici to one list.
import { errors } from 'undici';

/**
 * `timeout`: no answer in time. `refused`: nothing listens there, or no route. `reset`: the
 * connection broke. `dns`: the name does not resolve. `tls_expired`: the certificate is not valid
 * today. `tls_untrusted`: no known authority signed it. `tls_wrong_name`: it is of another name.
 * `tls_missing`: the server does not speak TLS. `tls`: the handshake failed otherwise.
 * `url_refused`: the URL leads to an address that is not allowed. `protocol`: the answer is not
 * valid HTTP. `aborted`: cancelled on our side, for example by a shutdown.
 */
export type OutboundFailure =
  | 'timeout'
  | 'refused'
  | 'reset'
  | 'dns'
  | 'tls_expired'
  | 'tls_untrusted'
  | 'tls_wrong_name'
  | 'tls_missing'
  | 'tls'
  | 'url_refused'
  | 'protocol'
  | 'aborted';

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
  CERT_HAS_EXPIRED: 'tls_expired',
  CERT_NOT_YET_VALID: 'tls_expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_untrusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_wrong_name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'tls_missing',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'tls_missing',
};

const TLS_CODE = /^(?:ERR_SSL|ERR_TLS|EPROTO|CERT_|UNABLE_TO_)/;
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

/** The failure of a TLS handshake: any unknown error is `tls`, unless the other side hung up. */
export function handshakeFailureOf(error: unknown): OutboundFailure {
  const failure = failureOf(error);
  if (failure === 'reset' && codeOf(error) !== 'ECONNRESET') return 'tls';
  return failure ?? 'tls';
}

export function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
