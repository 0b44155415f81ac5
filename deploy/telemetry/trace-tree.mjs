// Prints a trace as a tree, from a trace backend's answer in Zipkin's format (Zipkin itself, and
// Jaeger's and the collector's zipkin interfaces): node trace-tree.mjs
// http://127.0.0.1:9411/api/v2/trace/<trace id>
const [url] = process.argv.slice(2);
if (!url) {
  console.error('usage: node trace-tree.mjs <address of the trace>');
  process.exit(2);
}
const answer = await fetch(url);
if (!answer.ok) {
  console.error(`${url} answers ${answer.status}`);
  process.exit(1);
}
const spans = await answer.json();
const ids = new Set(spans.map(({ id }) => id));
const start = Math.min(...spans.map(({ timestamp }) => timestamp));
const SHOWN = [
  'http.response.status_code',
  'rpc.method',
  'bmg.event',
  'bmg.attempt',
  'error.type',
  'otel.status_code',
];

function print(span, depth) {
  const { kind = 'INTERNAL', localEndpoint, name, timestamp, duration = 0, tags = {} } = span;
  const at = ((timestamp - start) / 1000).toFixed(1).padStart(7);
  const took = (duration / 1000).toFixed(1).padStart(7);
  const shown = SHOWN.filter((tag) => tag in tags).map((tag) => `${tag}=${tags[tag]}`);
  const who = (localEndpoint?.serviceName ?? '?').padEnd(12);
  console.log(
    `${at} ms ${took} ms  ${who} ${'  '.repeat(depth)}${name} [${kind.toLowerCase()}] ${shown.join(' ')}`.trimEnd(),
  );
  for (const child of spans
    .filter(({ parentId }) => parentId === span.id)
    .sort((a, b) => a.timestamp - b.timestamp)) {
    print(child, depth + 1);
  }
}

console.log('  begins      takes  service');
for (const span of spans.filter(({ parentId }) => !ids.has(parentId))) print(span, 0);
