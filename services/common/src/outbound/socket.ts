// Connections to partner-given hosts for protocols other than HTTP: the same rules as for URLs, on
// the address connected to, before the first byte.
import {
  connect as netConnect,
  isIP,
  type Socket,
  type TcpNetConnectOpts,
  type OnReadOpts,
} from 'node:net';
import { connect as tlsConnect, type ConnectionOptions } from 'node:tls';
import { checkUrl } from './check-url';
import { ConnectFailed, failureOf, handshakeFailureOf, type OutboundFailure } from './failures';
import {
  ADDRESS_ATTEMPT_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  guardedLookup,
  judgePeer,
} from './guarded';
import { dnsResolve, systemResolve, type Resolve } from './addresses';

export interface SocketGuard {
  /** Opens connections without TLS, loopback and private networks; for local work only. */
  allowPrivate: boolean;
  /** A certificate authority to trust instead of the public ones. */
  ca?: string;
  resolve?: Resolve;
  /** Reads the server's bytes before the user of the socket; one for each connection. */
  inspect?: Inspect;
}

export interface SocketTarget {
  host: string;
  port: number;
  tls: boolean;
}

export interface GuardedSocket {
  /** Connecting; emits `connect`, with TLS `secureConnect`, or `error`. */
  socket: Socket;
  /** Why the connection failed or broke; null while it has not. */
  failure(): OutboundFailure | null;
}

/** Shared: its name servers are those of the system, and a resolver has no state of a caller. */
let publicResolve: Resolve | undefined;

/**
 * Options of net.connect and tls.connect for a library that opens its socket itself. A host that is
 * a name is resolved by the guard, and one that is an address is checked here. Throws ConnectFailed.
 */
export function guardedSocketOptions(
  { host, port, tls }: SocketTarget,
  { allowPrivate, ca, resolve, inspect }: SocketGuard,
): TcpNetConnectOpts & ConnectionOptions {
  if (!tls && !allowPrivate) throw new ConnectFailed('url_refused', false);
  const hostname = checkedHost(host, port, allowPrivate);
  const found = resolve ?? (allowPrivate ? systemResolve : (publicResolve ??= dnsResolve()));
  return {
    host: hostname,
    port,
    lookup: guardedLookup(found, allowPrivate),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_TIMEOUT_MS,
    noDelay: true,
    keepAlive: true,
    ...(inspect !== undefined && { onread: inspectedReads(inspect) }),
    ...(tls && {
      // Explicit, so that no environment variable can disable the check of certificates.
      rejectUnauthorized: true,
      ...(isIP(hostname) === 0 && { servername: hostname }),
      ...(ca !== undefined && { ca }),
    }),
  };
}

/** Opens a socket; a host that is refused fails it like one that is unreachable. */
export function guardedSocket(
  target: SocketTarget,
  guard: SocketGuard,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
): GuardedSocket {
  const options = guardedSocketOptions(target, guard);
  let failure: OutboundFailure | null = null;
  let phase: 'connecting' | 'securing' | 'open' = 'connecting';
  const socket = target.tls ? tlsConnect(options) : netConnect(options);
  const timer = setTimeout(
    () => socket.destroy(new ConnectFailed('timeout', true)),
    connectTimeoutMs,
  ).unref();
  const opened = (): void => {
    phase = 'open';
    clearTimeout(timer);
  };
  // First, so that the peer is checked before the TLS handshake starts.
  socket.prependListener('connect', () => {
    const refused = judgePeer(socket, guard.allowPrivate);
    if (refused !== null) socket.destroy(refused);
    else if (target.tls) phase = 'securing';
    else opened();
  });
  if (target.tls) socket.prependListener('secureConnect', opened);
  socket.prependListener('error', (error) => {
    failure ??= inPhase(error, phase);
  });
  socket.prependListener('close', () => {
    clearTimeout(timer);
    failure ??= 'reset';
  });
  return { socket, failure: () => failure };
}

function inPhase(error: Error, phase: 'connecting' | 'securing' | 'open'): OutboundFailure {
  if (phase === 'securing') return handshakeFailureOf(error);
  return failureOf(error) ?? (phase === 'connecting' ? 'refused' : 'reset');
}

/** Characters that would end the host in a URL. */
const NOT_IN_HOST = /[/?#@\\]/;

// The rules for hosts and ports of URLs, so that there is one place for them.
function checkedHost(host: string, port: number, allowPrivate: boolean): string {
  if (NOT_IN_HOST.test(host)) throw new ConnectFailed('url_refused', false);
  try {
    const authority = isIP(host) === 6 ? `[${host}]` : host;
    const url = checkUrl(`https://${authority}:${port}/`, { field: 'host', allowPrivate });
    return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  } catch (error) {
    throw new ConnectFailed('url_refused', false, { cause: error });
  }
}

const READ_BUFFER_BYTES = 64 * 1024;

/** The server broke the rules of its protocol. `detail` is a constant text: the partner reads it. */
export class ProtocolBroken extends ConnectFailed {
  constructor(readonly detail: string) {
    super('protocol', false);
    this.message = protocolBroken(detail);
  }
}

export const protocolBroken = (detail: string): string =>
  `the server broke the protocol: ${detail}`;

/** Returns the bytes that the library may read. Throws ProtocolBroken, which ends the connection. */
export type Inspect = (bytes: Buffer) => Buffer;

/**
 * The option `onread` of net.connect and tls.connect. The socket then hands each chunk to this
 * function only, and the library reads what the function pushes.
 */
function inspectedReads(inspect: Inspect): OnReadOpts {
  return {
    buffer: Buffer.allocUnsafe(READ_BUFFER_BYTES),
    callback(this: Socket, length: number, buffer: Uint8Array): boolean {
      try {
        const bytes = inspect(Buffer.from(buffer.subarray(0, length)));
        return bytes.length === 0 || this.push(bytes);
      } catch (error) {
        this.destroy(error instanceof Error ? error : new ProtocolBroken('unreadable answer'));
        return false;
      }
    },
  };
}
