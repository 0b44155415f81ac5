// The spans we make by hand, in the adapters (edge, rpc, bus, upstream, delivery, store). A parent
// is passed along explicitly: async context tracking would cost every await on the hot path.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  isSpanContextValid,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Link,
  type Span,
  type SpanContext,
} from '@opentelemetry/api';

export { SpanKind, type Attributes, type Span, type SpanContext };

const FLUSH_LIMIT_MS = 3_000;

const tracer = () => trace.getTracer('bmg');

interface SpanOptions {
  kind?: SpanKind;
  parent?: SpanContext | undefined;
  attributes?: Attributes;
  /**
   * Other traces that this work belongs to: those of a batch, or that of an external caller. As a parent,
   * an external caller would decide what is sampled.
   */
  links?: SpanContext[] | undefined;
}

/** Starts a span under `parent`, or a new trace without one. The caller ends it. */
export function startSpan(name: string, options: SpanOptions = {}): Span {
  const parent = options.parent ? trace.setSpanContext(ROOT_CONTEXT, options.parent) : ROOT_CONTEXT;
  return tracer().startSpan(
    name,
    {
      kind: options.kind ?? SpanKind.INTERNAL,
      ...(options.attributes && { attributes: options.attributes }),
      ...(options.links && { links: options.links.map((context): Link => ({ context })) }),
    },
    parent,
  );
}

/** Ends a span; a failure is marked with its code, never with a message that could hold content. */
export function endSpan(span: Span, failure?: { code: string } | undefined): void {
  if (failure) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: failure.code });
    span.setAttribute('error.type', failure.code);
  }
  span.end();
}

const canFlush = (provider: object): provider is { forceFlush(): Promise<void> } =>
  'forceFlush' in provider;

/**
 * Sends the spans that a preloaded provider (`register.ts`) has queued, before the process exits.
 * Ends after a time limit: an unreachable collector must not delay a shutdown.
 */
export async function flushTraces(): Promise<void> {
  const provider = trace.getTracerProvider();
  const registered = provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider;
  if (!canFlush(registered)) return;
  await Promise.race([registered.forceFlush().catch(() => undefined), sleep(FLUSH_LIMIT_MS)]);
}

/** An unsampled trace, for calls that a process repeats every second. */
export const unsampled = (): SpanContext => ({
  traceId: randomBytes(16).toString('hex'),
  spanId: randomBytes(8).toString('hex'),
  traceFlags: TraceFlags.NONE,
});

export const isSampled = (span: SpanContext | undefined): span is SpanContext =>
  span !== undefined && (span.traceFlags & TraceFlags.SAMPLED) !== 0;

/** A span that was stored by its IDs. */
export const sampledSpan = (traceId: string, spanId: string): SpanContext => ({
  traceId,
  spanId,
  traceFlags: TraceFlags.SAMPLED,
});

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The parent in a W3C traceparent header; undefined for one that is absent or malformed. */
export function parseTraceparent(header: string | undefined): SpanContext | undefined {
  const match = header === undefined ? null : TRACEPARENT.exec(header);
  if (!match) return undefined;
  const found: SpanContext = {
    traceId: match[1] as string,
    spanId: match[2] as string,
    traceFlags: parseInt(match[3] as string, 16) & TraceFlags.SAMPLED,
    isRemote: true,
  };
  return isSpanContextValid(found) ? found : undefined;
}

export const traceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;

/** Undefined if no trace is recorded: a process without the tracer has ids of zeros. */
export const traceIdOf = (span: SpanContext | undefined): string | undefined =>
  span && isSpanContextValid(span) ? span.traceId : undefined;
