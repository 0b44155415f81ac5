// Loaded into each process of a chaos run before its own code (NODE_OPTIONS). Routes its
// connections through the run's links, and steps its wall clock. The monotonic clock is left as it
// is.
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';

const CLOCK_EVERY_MS = 100;
const { CHAOS_DIR } = process.env;

/** `services/messaging/dist/main.js` is messaging. */
const name = /([\w-]+)[\\/]dist[\\/](?:emulator[\\/])?main\.js$/.exec(process.argv[1] ?? '')?.[1];

if (CHAOS_DIR !== undefined && name !== undefined) {
  routeConnections(join(CHAOS_DIR, 'links.json'), name);
  stepClock(join(CHAOS_DIR, `${name}.clock`));
}

interface Address {
  port?: number | string;
}

function routeConnections(file: string, process_name: string): void {
  const all = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, number>>;
  const routes = new Map(Object.entries(all[process_name] ?? {}));
  if (routes.size === 0) return;
  const direct = Reflect.get(Socket.prototype, 'connect') as (...given: unknown[]) => Socket;
  const routed = (address: unknown): unknown => {
    if (typeof address !== 'object' || address === null) {
      return routes.get(String(address)) ?? address;
    }
    const port = routes.get(String((address as Address).port));
    return port === undefined ? address : { ...address, port };
  };
  Socket.prototype.connect = function connect(this: Socket, ...given: unknown[]): Socket {
    const [first, ...rest] = given;
    // net.connect passes its arguments as one array, which it marks as normalised.
    if (Array.isArray(first)) first[0] = routed(first[0]);
    else given = [routed(first), ...rest];
    return direct.apply(this, given);
  };
}

function stepClock(file: string): void {
  const Real = Date;
  const realNow = Date.now.bind(Date);
  let offset_ms = 0;
  const read = (): void => {
    try {
      offset_ms = Number(readFileSync(file, 'utf8')) || 0;
    } catch {
      offset_ms = 0;
    }
  };
  read();
  setInterval(read, CLOCK_EVERY_MS).unref();
  Date.now = () => realNow() + offset_ms;
  globalThis.Date = new Proxy(Real, {
    construct: (target, given, created) =>
      Reflect.construct(target, given.length === 0 ? [Real.now()] : given, created) as Date,
    apply: () => new Real(Real.now()).toString(),
  });
}
