// An OTLP receiver: accepts the exporter's protobuf over HTTP and records its spans. It reads only
// the fields that tests use.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BinaryReader } from '@bufbuild/protobuf/wire';

export interface ReceivedSpan {
  service: string;
  trace_id: string;
  span_id: string;
  parent_id: string;
  name: string;
  /** Trace ids. */
  links: string[];
}

export interface OtlpReceiver {
  url: string;
  spans: ReceivedSpan[];
  /** Every body received, raw, so that tests can search it for data that must not be there. */
  raw: Buffer[];
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const raw: Buffer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      raw.push(body);
      if (request.url === '/v1/traces') spans.push(...readRequest(body));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    raw,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Fields = Map<number, Uint8Array[]>;

/** The length-delimited fields of a message, by number. */
function fields(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const found: Fields = new Map();
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === 2) found.set(number, [...(found.get(number) ?? []), reader.bytes()]);
    else reader.skip(type);
  }
  return found;
}

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('utf8');
const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex');

// ExportTraceServiceRequest.resource_spans = 1; ResourceSpans: resource = 1, scope_spans = 2;
// ScopeSpans.spans = 2; Span: trace_id = 1, span_id = 2, parent_span_id = 4, name = 5,
// links = 13; Link.trace_id = 1.
function readRequest(body: Buffer): ReceivedSpan[] {
  return (fields(body).get(1) ?? []).flatMap((resourceSpans) => {
    const group = fields(resourceSpans);
    const service = serviceName(group.get(1)?.[0]);
    return (group.get(2) ?? []).flatMap((scopeSpans) =>
      (fields(scopeSpans).get(2) ?? []).map((bytes): ReceivedSpan => {
        const span = fields(bytes);
        return {
          service,
          trace_id: hex(span.get(1)?.[0]),
          span_id: hex(span.get(2)?.[0]),
          parent_id: hex(span.get(4)?.[0]),
          name: text(span.get(5)?.[0]),
          links: (span.get(13) ?? []).map((link) => hex(fields(link).get(1)?.[0])),
        };
      }),
    );
  });
}

/** Resource.attributes = 1; KeyValue: key = 1, value = 2; AnyValue.string_value = 1. */
function serviceName(resource: Uint8Array | undefined): string {
  for (const attribute of resource ? (fields(resource).get(1) ?? []) : []) {
    const pair = fields(attribute);
    if (text(pair.get(1)?.[0]) !== 'service.name') continue;
    return text(fields(pair.get(2)?.[0] ?? new Uint8Array()).get(1)?.[0]);
  }
  return '';
}
