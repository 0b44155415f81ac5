// Admission before every handler: checks the caller's access and the number of calls in flight.
// Health and reflection are exempt from the number: an overloaded process must still report that it
// is alive.
import {
  status,
  type ServerUnaryCall,
  type ServerWritableStream,
  type StatusObject,
} from '@grpc/grpc-js';
import { allowsPlaintext, isLoopback } from '../config';
import { ApiError, toStatus } from '../errors';
import {
  audienceOf,
  certificatesFor,
  isOperatorSecret,
  mayCall,
  namesOf,
  OPERATOR_SECRET_HEADER,
  operatorSecretFile,
  type Audience,
} from '../identity';
import { createBound } from '../overload';
import { metrics, type Logger } from '../telemetry';
import type { Definition, Method } from './definition';

export type Incoming = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>;

/** The names of an RPC. */
interface Rpc {
  definition: Pick<Definition, 'name'>;
  method: Pick<Method, 'name'>;
}

/** The answer to a refused call; undefined admits it. */
type Answer = Partial<StatusObject> | undefined;
export type Gate = ReturnType<typeof createGate>;

/** Calls in flight in this process; further ones are refused at once. */
const IN_FLIGHT_MAX = 4_000;
const RETRY_AFTER_S = 1;

/** `host` is the address that the server listens on. */
export function createGate(log: Logger, host: string, in_flight_max = IN_FLIGHT_MAX) {
  const bound = createBound({ server: 'grpc', reason: 'requests', max: in_flight_max }, log);
  const secure = certificatesFor() !== undefined;
  // Only this machine reaches a loopback address; GRPC_ALLOW_PLAINTEXT trusts every machine.
  const is_local = isLoopback(host);
  const is_open = allowsPlaintext();

  const count = ({ definition, method }: Rpc, outcome: string): void =>
    metrics.rpc_server_duration.observe(
      { rpc_service: definition.name, rpc_method: method.name, outcome },
      0,
    );
  const deny = (names: string[], called: Rpc, hint = ''): Answer => {
    const caller = names.join(' or ') || 'a caller without a name';
    const rpc = `${called.definition.name}/${called.method.name}`;
    log.warn({ caller, rpc }, 'refused call: not allowed for this caller');
    count(called, 'PERMISSION_DENIED');
    return { code: status.PERMISSION_DENIED, details: `${caller} may not call ${rpc}${hint}` };
  };
  const admitsWithoutCertificate = (incoming: Incoming, audience: Audience): boolean => {
    if (audience === 'none') return false;
    if (is_open) return true;
    if (!is_local) return false;
    return audience === 'mesh' || isLocalOperator(incoming, log);
  };
  const checkCertificate = (incoming: Incoming, rpc: Rpc): Answer => {
    const names = callersOf(incoming);
    const is_allowed = mayCall(names, rpc.definition.name, rpc.method.name);
    return is_allowed ? undefined : deny(names, rpc);
  };

  return {
    /** For the standard services: only the access of callers with certificates counts. */
    enterStandard: (incoming: Incoming, rpc: Rpc): Answer =>
      secure ? checkCertificate(incoming, rpc) : undefined,
    /** `leave` must follow a call that is admitted. */
    enter(incoming: Incoming, rpc: Rpc): Answer {
      if (secure) {
        const refusal = checkCertificate(incoming, rpc);
        if (refusal) return refusal;
      } else {
        const audience = audienceOf(rpc.definition.name, rpc.method.name);
        if (!admitsWithoutCertificate(incoming, audience)) {
          return deny([], rpc, is_local && audience === 'operator' ? operatorHint() : '');
        }
      }
      if (bound.take()) return undefined;
      count(rpc, 'SERVICE_UNAVAILABLE');
      return toStatus(
        new ApiError('SERVICE_UNAVAILABLE', 'too many calls are in flight: try again', {
          retry_after_s: RETRY_AFTER_S,
        }),
      );
    },
    leave: () => bound.give(),
  };
}

const operatorHint = (): string =>
  `: send the content of ${operatorSecretFile()} as ${OPERATOR_SECRET_HEADER}`;

/** A secret file that cannot be read closes the operator's RPCs. */
function isLocalOperator({ metadata }: Incoming, log: Logger): boolean {
  const [given] = metadata.get(OPERATOR_SECRET_HEADER);
  if (typeof given !== 'string') return false;
  try {
    return isOperatorSecret(given);
  } catch (error) {
    log.warn({ err: error }, 'failed to read operator secret');
    return false;
  }
}

const known = new WeakMap<object, string[]>();

/**
 * The names in the caller's certificate, which TLS has verified. Parsing one takes about 30 µs and
 * a connection never changes its certificate, so the names are cached by connection. The connection
 * is not part of the library's interface: if it moves, every call parses the certificate.
 */
function callersOf(incoming: Incoming): string[] {
  const { call } = incoming as unknown as { call?: { stream?: { session?: object } } };
  const connection = call?.stream?.session;
  const before = connection && known.get(connection);
  if (before) return before;
  const names = namesOf(incoming.getAuthContext().sslPeerCertificate?.subjectaltname);
  if (connection) known.set(connection, names);
  return names;
}
