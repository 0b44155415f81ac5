// Runs a service: starts its components in order, stops them in reverse, and reports liveness and
// readiness.
import type { Server } from 'node:http';
import { ConfigError } from '../config';
import { certificatesFor } from '../identity';
import { createBoundedServer } from '../overload';
import {
  createLogger,
  flushLogs,
  flushTraces,
  metrics,
  renderMetrics,
  type Logger,
} from '../telemetry';
import type { Component, Service } from './component';
import { pause, within } from './wait';

export interface Running {
  ready(): boolean;
  /** Drains and stops; safe to call twice. */
  stop(): Promise<void>;
}

const CHECK_EVERY_MS = 5_000;
/** More often while a check fails, so that recovery is noticed soon. */
const RECHECK_EVERY_MS = 500;
const CHECK_LIMIT_MS = 3_000;
const EXIT_CONFIG = 78;
/** Only a few probes and scrapers connect. */
const PROBES = {
  server: 'metrics',
  limits: { headers_ms: 5_000, request_ms: 5_000, connections_max: 100 },
};

/** The body of every main.ts: settings, startup, signals, exit codes. */
export function run(create: () => Service): void {
  let service: Service;
  try {
    service = create();
  } catch (error) {
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.message}\n`);
      process.exit(EXIT_CONFIG);
    }
    throw error;
  }
  const log = createLogger(service.name);
  const die = (error: unknown, message: string): void => {
    log.fatal({ err: error }, message);
    end(1);
  };
  logWarnings(log);
  process.on('uncaughtException', (error) => die(error, 'uncaught exception'));
  process.on('unhandledRejection', (error) => die(error, 'unhandled rejection'));

  if (process.argv[2] === 'prepare') {
    prepare(service, log).then(
      () => end(0),
      (error: unknown) => die(error, 'failed to prepare'),
    );
    return;
  }
  const running = startService(service, log);
  const onSignal = (signal: NodeJS.Signals): void => {
    log.info({ signal }, 'stopping');
    const limit = setTimeout(() => {
      log.error('the stop took too long');
      end(1);
    }, service.stop_timeout_ms);
    limit.unref();
    running
      .then((handle) => handle.stop())
      .then(
        () => {
          log.info('stopped');
          end(0);
        },
        (error: unknown) => die(error, 'failed to stop'),
      );
  };
  process.once('SIGTERM', onSignal);
  process.once('SIGINT', onSignal);
  running.catch((error: unknown) => die(error, 'the start failed'));
}

/** Logs the runtime's warnings. That of timers in the past, which kafkajs sets, is harmless. */
function logWarnings(log: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    const level = warning.name === 'TimeoutNegativeWarning' ? 'debug' : 'warn';
    log[level]({ err: warning }, 'runtime warning');
  });
}

/** Exits once the last log lines and spans are sent, or turn out not to be deliverable. */
function end(code: number): void {
  const leave = (): never => process.exit(code);
  void Promise.allSettled([flushLogs(), flushTraces()]).then(leave);
}

/** Resolves before components have started: a stop is possible while an engine is down. */
export async function startService(service: Service, log: Logger): Promise<Running> {
  for (const warning of service.warnings ?? []) log.warn(warning);
  certificatesFor()?.report(log);
  const abort = new AbortController();
  const started: Component[] = [];
  let complete = false;
  const readiness = createReadiness(service, started, log);
  const http = await probeServer(service, readiness.ready);
  const starting = (async () => {
    for (const component of service.components) {
      if (abort.signal.aborted) return;
      started.push(component);
      await component.start(abort.signal);
    }
    complete = true;
    void readiness.poll();
  })();
  // A failed start ends the process, unless a stop interrupted it.
  starting.catch((error: unknown) => {
    if (!abort.signal.aborted) throw error;
  });

  const stop = async (): Promise<void> => {
    abort.abort();
    readiness.end();
    await starting.catch(() => undefined);
    for (const component of started) component.drain?.();
    // Gives load balancers time to notice that this process is not ready.
    if (complete) await pause(service.drain_ms);
    for (const component of started.reverse()) {
      await component.stop().catch((error: unknown) => {
        log.error({ err: error, component: component.name }, 'failed to stop component');
      });
    }
    http.close();
    http.closeAllConnections();
  };
  let stopped: Promise<void> | undefined;
  return {
    ready: readiness.ready,
    stop: () => (stopped ??= stop()),
  };
}

/** Polls the checks of the components, and reports each change. */
function createReadiness(service: Service, components: Component[], log: Logger) {
  let timer: NodeJS.Timeout | undefined;
  let healthy = false;
  let ended = false;
  let reported = false;
  const ready = (): boolean => healthy && !ended;
  const report = (): void => {
    if (ready() === reported) return;
    reported = ready();
    service.onReady?.(reported);
    log.info({ ready: reported }, reported ? 'ready' : 'not ready');
  };
  const poll = async (): Promise<void> => {
    healthy = await checkAll(components, log);
    report();
    if (ended) return;
    timer = setTimeout(() => void poll(), ready() ? CHECK_EVERY_MS : RECHECK_EVERY_MS).unref();
  };
  return {
    ready,
    poll,
    end(): void {
      ended = true;
      clearTimeout(timer);
      report();
    },
  };
}

async function checkAll(components: Component[], log: Logger): Promise<boolean> {
  const results = await Promise.all(
    components.map(async (component) => {
      if (!component.check) return true;
      try {
        await within(CHECK_LIMIT_MS, component.check());
        metrics.component_up.set({ component: component.name }, 1);
        return true;
      } catch (error) {
        metrics.component_up.set({ component: component.name }, 0);
        log.warn({ err: error, component: component.name }, 'component check failed');
        return false;
      }
    }),
  );
  return results.every(Boolean);
}

/** /metrics for Prometheus, /livez (the event loop runs), /readyz (all component checks pass). */
async function probeServer(service: Service, ready: () => boolean): Promise<Server> {
  const server = createBoundedServer(PROBES, (request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/livez') response.end('ok\n');
    else if (path === '/readyz') {
      response.statusCode = ready() ? 200 : 503;
      response.end(ready() ? 'ok\n' : 'not ready\n');
    } else if (path === '/metrics') {
      renderMetrics(request.headers.accept).then(
        ({ content_type, body }) => response.setHeader('content-type', content_type).end(body),
        () => response.writeHead(500).end(),
      );
    } else response.writeHead(404).end();
  });
  await server.open(service.metrics.port, service.metrics.host);
  return server;
}

/**
 * `main.js prepare` creates the topics and indexes of the service. An upgrade runs it before the new
 * processes start, so that a long index build does not delay them. It waits for an unavailable
 * engine, as a start does, without a timeout of its own.
 */
async function prepare(service: Service, log: Logger): Promise<void> {
  const never = new AbortController().signal;
  for (const component of service.components) {
    if (!component.prepare) continue;
    await component.prepare(never);
    log.info({ component: component.name }, 'prepared');
  }
}
