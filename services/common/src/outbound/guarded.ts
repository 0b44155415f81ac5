// The HTTP agent for partner-given URLs. It checks the address actually connected to: every
// resolved address is checked, only those are connected to, and the peer is checked again before
// the first byte, the TLS handshake included.
import {
  connect as netConnect,
  isIP,
  type LookupFunction,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { isAllowedAddress, dnsResolve, systemResolve, type Resolve } from './addresses';
import { acceptUnusualFraming, HEAD_MAX_BYTES } from './answer-framing';
import { ConnectFailed, failureOf, handshakeFailureOf } from './failures';

export type GuardedAgent = ReturnType<typeof guardedAgent>;

export interface GuardedAgentOptions {
  /** Opens http, loopback and private networks; for local work only. */
  allowPrivate: boolean;
  /** Name look-up, connection and TLS handshake together. */
  connectTimeoutMs?: number;
  /** Connections to one origin, for each pool of guardedPost; further requests wait, within their own time limit. */
  connectionsPerOrigin?: number;
  /** How long an unused connection stays open, unless the server says less. */
  keepAliveMs?: number;
  /** A certificate authority to trust instead of the public ones. */
  ca?: string;
  resolve?: Resolve;
  /** Opens a socket; replaced by tests, which cannot connect to the public internet. */
  dial?: (options: TcpNetConnectOpts) => Socket;
}

export const CONNECT_TIMEOUT_MS = 5_000;
const CONNECTIONS_PER_ORIGIN = 32;
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_HINT_MAX_MS = 60_000;
const TLS_SESSIONS_MAX = 1_000;
const ADDRESSES_TRIED_MAX = 4;
export const ADDRESS_ATTEMPT_TIMEOUT_MS = 500;

// guardedFetch and guardedPost limit the whole exchange; undici's own limits are a second line of
// defence.
const STALL_LIMIT_MS = 60_000;

export function guardedAgent(options: GuardedAgentOptions) {
  const agent = new Agent({
    connect: guardedConnector(options),
    connections: options.connectionsPerOrigin ?? CONNECTIONS_PER_ORIGIN,
    pipelining: 1,
    // The limits count requests by connection: HTTP/2 would send many at once over one.
    allowH2: false,
    keepAliveTimeout: options.keepAliveMs ?? KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_HINT_MAX_MS,
    headersTimeout: STALL_LIMIT_MS,
    bodyTimeout: STALL_LIMIT_MS,
    maxHeaderSize: HEAD_MAX_BYTES,
  });
  return {
    allowPrivate: options.allowPrivate,
    /** Only for guardedFetch and guardedPost, which check the URL; the dispatcher checks addresses only. */
    dispatcher: agent as Dispatcher,
    /** Waits for the requests in flight. */
    close: () => agent.close(),
    /** Cancels them; they fail with `aborted`. */
    destroy: () => agent.destroy(),
  };
}

function guardedConnector(options: GuardedAgentOptions): buildConnector.connector {
  const { allowPrivate, connectTimeoutMs = CONNECT_TIMEOUT_MS, dial = netConnect } = options;
  const lookup = guardedLookup(
    options.resolve ?? (allowPrivate ? systemResolve : dnsResolve()),
    allowPrivate,
  );
  const secure = buildConnector({
    // Explicit, so that no environment variable can disable the check of certificates.
    rejectUnauthorized: true,
    allowH2: false,
    maxCachedSessions: TLS_SESSIONS_MAX,
    timeout: 0,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });

  return (target, callback) => {
    // A host that is an address is never looked up, so it is checked here.
    if (isIP(target.hostname) !== 0 && !isAllowedAddress(target.hostname, allowPrivate)) {
      queueMicrotask(() => callback(addressRefused(target.hostname), null));
      return;
    }
    const isSecure = target.protocol === 'https:';
    const tcp = dial({
      host: target.hostname,
      port: Number(target.port) || (isSecure ? 443 : 80),
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_TIMEOUT_MS,
      noDelay: true,
      keepAlive: true,
    });

    let settled = false;
    const succeed = (socket: Socket): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      callback(null, acceptUnusualFraming(socket));
    };
    const fail = (failed: ConnectFailed): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      tcp.destroy();
      callback(failed, null);
    };
    const timer = setTimeout(() => fail(new ConnectFailed('timeout', true)), connectTimeoutMs);
    // A pending attempt must not keep the process alive.
    timer.unref();

    // The listeners stay: a socket below a TLS socket may emit an error after that one is closed,
    // which would otherwise be unhandled.
    tcp.on('error', (error) => fail(connectFailed(error)));
    tcp.on('close', () => fail(new ConnectFailed('reset', false)));
    tcp.once('connect', () => {
      const refused = judgePeer(tcp, allowPrivate);
      if (refused !== null) fail(refused);
      else if (!isSecure) succeed(tcp);
      else {
        secure({ ...target, httpSocket: tcp }, (error, socket) => {
          if (error === null) succeed(socket);
          else fail(new ConnectFailed(handshakeFailureOf(error), false, { cause: error }));
        });
      }
    });
  };
}

// One refused address refuses the whole name: honest names do not mix in private addresses, and an
// attacker would only need the connection to fall back to the private one.
export function guardedLookup(resolve: Resolve, allowPrivate: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const refused = found.find(({ address }) => !isAllowedAddress(address, allowPrivate));
        const [first] = found;
        if (refused !== undefined) callback(addressRefused(refused.address), '');
        else if (first === undefined) callback(new ConnectFailed('dns', false), '');
        else if (options.all) callback(null, found.slice(0, ADDRESSES_TRIED_MAX));
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        const failed = error instanceof ConnectFailed;
        callback(failed ? error : new ConnectFailed('dns', true, { cause: error }), '');
      },
    );
  };
}

export function judgePeer(socket: Socket, allowPrivate: boolean): ConnectFailed | null {
  const peer = socket.remoteAddress;
  if (peer === undefined) return new ConnectFailed('reset', false);
  return isAllowedAddress(peer, allowPrivate) ? null : addressRefused(peer);
}

// The address goes only into the cause, which is logged: answers must not let a partner map our
// network.
function addressRefused(address: string): ConnectFailed {
  return new ConnectFailed('url_refused', false, { cause: new Error(`address ${address}`) });
}

function connectFailed(error: Error): ConnectFailed {
  if (error instanceof ConnectFailed) return error;
  const failure = failureOf(error) ?? 'refused';
  return new ConnectFailed(failure, failure === 'timeout', { cause: error });
}
