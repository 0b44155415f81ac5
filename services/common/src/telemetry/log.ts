// JSON lines on standard output, with the trace id where there is one. One wide line per request, RPC,
// consumed batch and delivery attempt; other lines are for surprises. Never logged: keys, tokens, PINs,
// verification codes, message text, media links.
import pino, { type Logger } from 'pino';
import type { SpanContext } from '@opentelemetry/api';

export type { Logger };

/** Buffered, because a write per line would be a system call per request. */
const BUFFER_BYTES = 8 * 1024;
const FLUSH_EVERY_MS = 200;

const destination = pino.destination({ dest: 1, sync: false, minLength: BUFFER_BYTES });
setInterval(() => destination.flush(), FLUSH_EVERY_MS).unref();

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const level = process.env['LOG_LEVEL'] ?? 'info';

const root = pino(
  {
    level: levels.includes(level) ? level : 'info',
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    // A last line of defence: these names never hold anything that may be read in a log.
    redact: {
      paths: ['access_token', 'partner_key', 'pin', 'webhook_secret', 'token', '*.access_token'],
      censor: '[redacted]',
    },
    serializers: { err: describeError },
  },
  destination,
);

export const createLogger = (service: string): Logger => root.child({ service });

/** The ids that join a log line to its trace. */
export const traceIds = (span: SpanContext | undefined): { trace_id?: string; span_id?: string } =>
  span ? { trace_id: span.traceId, span_id: span.spanId } : {};

/** Writes out what is buffered: before the process ends. */
export function flushLogs(): void {
  try {
    destination.flushSync();
  } catch {
    // The destination may not have opened yet; then there is nothing to flush.
  }
}

/** Name, message, stack and causes of an error; properties are left out, since drivers put requests there. */
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
