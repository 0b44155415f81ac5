// JSON lines on standard output, with the trace id if there is one. One wide line per request, RPC,
// consumed batch and delivery attempt; other lines are for surprises. Never logged: keys, tokens,
// PINs, verification codes, message text, media links.
import pino, { type Logger } from 'pino';
import type { SpanContext } from '@opentelemetry/api';
import { metrics } from './metrics';

export type { Logger };

/** Buffered, because a write per line would be a system call per request. */
const BUFFER_BYTES = 8 * 1024;
const FLUSH_AFTER_MS = 200;
const FLUSH_LIMIT_MS = 1_000;
/** Buffered while nothing can be written; further lines are lost. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

const destination = pino.destination({
  dest: 1,
  sync: false,
  minLength: BUFFER_BYTES,
  maxLength: WAITING_BYTES_MAX,
});
// A full disk or a closed output must not stop the service: the newest lines are lost and counted,
// and the buffered ones are written as soon as that is possible again.
destination.on('error', () => undefined);
destination.on('drop', () => metrics.log_lines_lost.inc());

let flushing: NodeJS.Timeout | undefined;
/** Lines are batched for a short time; without lines no timer runs. */
const stream = {
  write(line: string): void {
    destination.write(line);
    flushing ??= setTimeout(() => {
      flushing = undefined;
      destination.flush();
    }, FLUSH_AFTER_MS).unref();
  },
  flush: (done?: (error?: Error) => void): void => destination.flush(done),
  flushSync: (): void => destination.flushSync(),
};

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const level = process.env['LOG_LEVEL'] ?? 'info';

const root = pino(
  {
    level: levels.includes(level) ? level : 'info',
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    // Last line of defence: values under these names never belong in a log.
    redact: {
      paths: ['access_token', 'partner_key', 'pin', 'webhook_secret', 'token', '*.access_token'],
      censor: '[redacted]',
    },
    serializers: { err: describeError },
  },
  stream,
);

export const createLogger = (service: string): Logger => root.child({ service });

/** The ids that join a log line to its trace. */
export const traceIds = (span: SpanContext | undefined): { trace_id?: string; span_id?: string } =>
  span ? { trace_id: span.traceId, span_id: span.spanId } : {};

/**
 * Writes the buffered lines before the process exits. The library's own flush waits for ever when
 * nothing can be written, so that is tested first.
 */
export async function flushLogs(): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const writable = await new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), FLUSH_LIMIT_MS);
    // Pipes and terminals cannot be synchronised to a disk; their lines have been written by then.
    destination.flush((error?: Error) =>
      resolve(!error || (error as NodeJS.ErrnoException).syscall === 'fsync'),
    );
  });
  clearTimeout(timer);
  if (writable) destination.flushSync();
  // Discarded, so that the library does not wait for them on exit either.
  else destination.destroy();
}

/** Name, message, stack and causes of an error. Drivers put requests into other properties. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: String(error).slice(0, 500) };
  const { cause } = error;
  return {
    type: error.name,
    message: error.message.slice(0, 1_000),
    stack: error.stack?.slice(0, 4_000),
    ...(cause !== undefined && depth < 3 ? { cause: describeError(cause, depth + 1) } : {}),
  };
}
