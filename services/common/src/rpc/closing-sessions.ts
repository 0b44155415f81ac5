// Carries a fix for grpc-js 1.14.7 (grpc/grpc-node issue 3068): a connection that is closing, because it has reached
// its age, cancels pings, and a keepalive ping that fails cuts all calls on the connection. Calls that outlast the
// next ping ended with UNAVAILABLE, on the client's or on the server's side. With the fix, a closing session counts as
// alive: its calls end by their deadlines.
import { performServerHandshake, type Http2Session } from 'node:http2';
import { PassThrough } from 'node:stream';

type Ping = (...args: unknown[]) => boolean;
type OnPing = (error: Error | null, duration_ms: number, payload: Buffer) => void;

/** Node.js has one prototype, however often a test loads this module. */
const FIXED = Symbol.for('bmg.closing-sessions');
const PAYLOAD = Buffer.alloc(8);

/** Sessions of clients and servers share it. Node.js exports no class, but makes a session for any stream. */
function sessionPrototype(): { ping: Ping; [FIXED]?: true } {
  const session = performServerHandshake(new PassThrough());
  session.destroy();
  return Object.getPrototypeOf(Object.getPrototypeOf(session) as object) as { ping: Ping };
}

const prototype = sessionPrototype();
if (!prototype[FIXED]) {
  prototype[FIXED] = true;
  const ping = prototype.ping;
  prototype.ping = function (this: Http2Session, ...args) {
    if (!this.closed || this.destroyed) return Reflect.apply(ping, this, args);
    const onPing = args.at(-1) as OnPing;
    setImmediate(() => onPing(null, 0, PAYLOAD));
    return true;
  };
}
