// Preloaded into each service (`node --require`) by `make profile WHAT=life`: counts the calls of
// its libraries and of Node, and sends the counts to its parent on request. COUNT_TIMERS=1 also
// counts which line set the timers that fire.
import { subscribe } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import timers from 'node:timers';
import { Client } from '@grpc/grpc-js';
import { ProxyTracer } from '@opentelemetry/api';
import { Redis } from 'ioredis';
import pino from 'pino';

type Method = (this: unknown, ...args: any[]) => unknown; // any: methods of many libraries

/** The libraries publish no types of these modules. */
const inner = createRequire(__filename);
const RequestQueue = inner('kafkajs/src/network/requestQueue') as { prototype: object };
const { Connection } = inner('mongodb/lib/cmap/connection') as {
  Connection: { prototype: object };
};

const counts = new Map<string, number>();
const count = (name: string, by = 1): void => void counts.set(name, (counts.get(name) ?? 0) + by);
/** Counts for a sum and for one of its parts. */
function countPart(sum: string, part: string, by = 1): void {
  count(sum, by);
  count(`  ${part}`, by);
}

/** Calls `note` with the arguments before each call of a method. */
function before(prototype: object, method: string | symbol, note: (...args: any[]) => void): void {
  const methods = prototype as Record<string | symbol, Method>;
  const original = methods[method];
  if (!original) throw new Error(`there is no ${String(method)} to count`);
  methods[method] = function counted(...args) {
    note(...args);
    return original.apply(this, args);
  };
}

/** Kept out of the counts: the driver repeats them whatever the load. */
const MONITORING = new Set(['hello', 'ismaster', 'ping', 'endSessions']);

function noteMongo(
  ns: { db: string; collection?: string },
  command: Record<string, unknown>,
  took_ms: number,
): void {
  const [name = ''] = Object.keys(command);
  if (MONITORING.has(name)) return;
  const where = `${name} ${ns.collection ?? ''}`.replace(' $cmd', ` ${String(command[name])}`);
  countPart('mongodb commands', `mongodb ${where}`);
  countPart('mongodb, ms', `mongodb ${where}: ms`, took_ms);
  for (const list of ['documents', 'updates', 'deletes']) {
    const given = command[list] as unknown[] | { documents: unknown[] } | undefined;
    if (given === undefined) continue;
    const { length } = Array.isArray(given) ? given : given.documents;
    countPart('mongodb documents', `mongodb ${where}: documents`, length);
  }
}

/** Also counts the milliseconds until the answers, as the process sees them. */
function timeMongo(prototype: object): void {
  const methods = prototype as Record<string, Method>;
  const original = methods['command'] as Method;
  methods['command'] = async function timed(...args) {
    const begun = performance.now();
    try {
      return await original.apply(this, args);
    } finally {
      const [ns, command] = args as Parameters<typeof noteMongo>;
      noteMongo(ns, command, performance.now() - begun);
    }
  };
}

timeMongo(Connection.prototype);
before(RequestQueue.prototype, 'push', ({ entry }) =>
  countPart('kafka requests', `kafka ${entry.apiName}`),
);
before(Redis.prototype, 'sendCommand', ({ name }) => countPart('redis commands', `redis ${name}`));
for (const method of ['makeUnaryRequest', 'makeServerStreamRequest']) {
  before(Client.prototype, method, (path: string) =>
    countPart('grpc calls', `grpc ${path.split('/').slice(-1)}`),
  );
}
subscribe('undici:request:create', () => count('http requests'));
before(Socket.prototype, '_writeGeneric', () => count('socket writes'));
before(ProxyTracer.prototype, 'startSpan', (name: string) => countPart('spans', `span ${name}`));
before(loggers(), pino.symbols.writeSym, () => count('log lines'));

/** The object from which all loggers inherit. */
function loggers(): object {
  let object: object = pino({ level: 'silent' });
  while (!Object.hasOwn(object, pino.symbols.writeSym)) {
    object = Object.getPrototypeOf(object) as object;
  }
  return object;
}

new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { duration } = entry;
    const { kind } = (entry as unknown as { detail: { kind: number } }).detail;
    const is_minor = kind === constants.NODE_PERFORMANCE_GC_MINOR;
    const name = is_minor ? 'minor collections' : 'other collections';
    count(name);
    count(`${name}, ms`, duration);
  }
}).observe({ entryTypes: ['gc'] });

if (process.env['COUNT_TIMERS'] === '1') countTimers();

function countTimers(): void {
  const scope = globalThis as unknown as Record<string, Method>;
  const module = timers as unknown as Record<string, Method>;
  for (const name of ['setTimeout', 'setInterval']) {
    const original = scope[name] as Method;
    const counted = Object.assign(function (this: unknown, ...args: any[]) {
      const [work, ...rest] = args as [Method, ...unknown[]];
      const site = new Error().stack
        ?.split('\n')
        .find((line, index) => index > 1 && !/node:/.test(line));
      const [, place = 'node'] = /([^/]+\/[^/]+\/[^/]+:\d+):\d+\)?$/.exec(site ?? '') ?? [];
      return original.call(
        this,
        function fired(this: unknown, ...given: unknown[]) {
          countPart('timers', `${name} ${place}`);
          return work.apply(this, given);
        },
        ...rest,
      );
    }, original);
    scope[name] = counted;
    module[name] = counted;
  }
}

interface LoopMetrics {
  nodeTiming: { uvMetricsInfo?: { loopCount: number; events: number } };
}

process.on('message', (message) => {
  if (message !== 'counts') return;
  const { uvMetricsInfo } = (performance as unknown as LoopMetrics).nodeTiming;
  if (uvMetricsInfo) counts.set('event loop turns', uvMetricsInfo.loopCount);
  process.send?.(Object.fromEntries(counts));
});
// The channel to the parent keeps no process running.
process.channel?.unref();
