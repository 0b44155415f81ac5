// Histograms of durations. An observation of a sampled trace carries the trace id as an exemplar,
// so that a slow bucket on a dashboard leads to a trace. Unsampled observations carry none and cost
// nothing extra.
import { TraceFlags } from '@opentelemetry/api';
import { Histogram, register, type Registry } from 'prom-client';
import type { SpanContext } from './span';

type Labels = Record<string, string>;

export type Timed = ReturnType<typeof timed>;

/** Each step about twice or two and a half times the one before. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function timed(options: {
  name: string;
  help: string;
  labelNames?: string[];
  /** Instead of the usual buckets. */
  buckets?: number[];
  /** Further buckets, if the usual ones end too early. */
  further?: number[];
}) {
  const { buckets = SECONDS, further = [], labelNames = [], ...named } = options;
  const histogram = asOpenMetrics(
    () =>
      new Histogram({
        ...named,
        labelNames,
        buckets: [...buckets, ...further],
        enableExemplars: true,
      }),
  );
  return {
    observe(labels: Labels, seconds: number, span?: SpanContext): void {
      if (span && (span.traceFlags & TraceFlags.SAMPLED) !== 0) {
        const exemplarLabels = { trace_id: span.traceId, span_id: span.spanId };
        histogram.observe({ labels, value: seconds, exemplarLabels });
      } else histogram.observe({ labels, value: seconds });
    },
  };
}

const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';
const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

type Format = typeof PROMETHEUS | typeof OPEN_METRICS;

// The library knows one format at a time, for all metrics; its type says that a registry never
// changes it.
const setFormat = (format: Format): void => (register as Registry<Format>).setContentType(format);

/** The library makes a metric with exemplars only while its registry writes OpenMetrics. */
function asOpenMetrics<T>(make: () => T): T {
  setFormat(OPEN_METRICS);
  try {
    return make();
  } finally {
    setFormat(PROMETHEUS);
  }
}

interface Exposition {
  content_type: string;
  body: string;
}

let last: Promise<unknown> = Promise.resolve();

/** All metrics: as OpenMetrics with exemplars if accepted, otherwise in the older text format. */
export function renderMetrics(accept = ''): Promise<Exposition> {
  const format = accept.includes('application/openmetrics-text') ? OPEN_METRICS : PROMETHEUS;
  // One at a time, because the format is a property of the registry.
  const rendered = last.then(() => render(format));
  last = rendered.catch(() => undefined);
  return rendered;
}

async function render(format: Format): Promise<Exposition> {
  // Writing OpenMetrics takes `_total` off the counters' own names, for good.
  const all = register.getMetricsAsArray() as Array<{ name: string }>;
  const names = all.map(({ name }) => name);
  setFormat(format);
  try {
    return { content_type: format, body: await register.metrics() };
  } finally {
    setFormat(PROMETHEUS);
    all.forEach((metric, index) => (metric.name = names[index] as string));
  }
}
