// Preloaded (`node --require @bmg/common/telemetry/register`): the tracer provider, from the
// standard OTEL_* settings. Without an endpoint nothing is recorded or exported, but ids are still
// made, so that log lines and the traceparent header can be followed.
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { PROCESS_NAME } from './process-name';

const QUEUE_SPANS_MAX = 8_192;
const BATCH_SPANS_MAX = 512;

const service_name = process.env['OTEL_SERVICE_NAME'] ?? PROCESS_NAME;

const endpoint =
  process.env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
const disabled = process.env['OTEL_SDK_DISABLED'] === 'true' || !endpoint;

const provider = new TracerProvider({
  resource: resourceFromAttributes({ 'service.name': service_name, 'service.namespace': 'bmg' }),
  sampler: disabled
    ? new AlwaysOffSampler()
    : new ParentBasedSampler({
        root: new TraceIdRatioBasedSampler(Number(process.env['OTEL_TRACES_SAMPLER_ARG'] ?? '1')),
      }),
  spanProcessors: disabled
    ? []
    : [
        new BatchSpanProcessor({
          exporter: new OTLPTraceExporter(),
          maxQueueSize: QUEUE_SPANS_MAX,
          maxExportBatchSize: BATCH_SPANS_MAX,
          scheduledDelayMillis: Number(process.env['OTEL_BSP_SCHEDULE_DELAY'] ?? '1000'),
        }),
      ],
});
// No context manager: parents are passed along explicitly (span.ts).
trace.setGlobalTracerProvider(provider);
