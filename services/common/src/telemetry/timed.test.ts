// Exemplars lead from a bar of a histogram to a trace; both text formats are available at any
// time.
import type { SpanContext } from './span';
import { renderMetrics, timed } from './timed';
import { metrics } from './metrics';

const OPEN = 'application/openmetrics-text; version=1.0.0';
const span = (digit: string, traceFlags: number): SpanContext => ({
  traceId: digit.repeat(32),
  spanId: digit.repeat(16),
  traceFlags,
});
const duration = timed({
  name: 'test_duration_seconds',
  help: 'For this test.',
  labelNames: ['a'],
});

test('attaches the trace id of sampled traces only', async () => {
  duration.observe({ a: 'b' }, 0.003, span('1', 1));
  duration.observe({ a: 'b' }, 0.3, span('2', 0));
  duration.observe({ a: 'b' }, 3);
  const { body, content_type } = await renderMetrics(OPEN);
  expect(content_type).toContain('openmetrics');
  const lines = body.split('\n').filter((line) => line.includes('trace_id'));
  expect(lines).toEqual([
    expect.stringMatching(
      /^test_duration_seconds_bucket\{le="0\.005",a="b"\} 1 # \{trace_id="1{32}",span_id="1{16}"\} 0\.003 \d+/,
    ),
  ]);
  expect(body).toContain('test_duration_seconds_count{a="b"} 3');
  expect(body.endsWith('# EOF\n')).toBe(true);
});

test('answers in the older format unless OpenMetrics is requested', async () => {
  metrics.messages_recorded.inc();
  const [open, text, again] = await Promise.all([
    renderMetrics(OPEN),
    renderMetrics('text/plain'),
    renderMetrics(OPEN),
  ]);
  expect(text.content_type).toContain('version=0.0.4');
  expect(text.body).toMatch(/^# TYPE messages_recorded_total counter$/m);
  expect(text.body).toMatch(/^messages_recorded_total \d/m);
  expect(text.body).not.toContain('trace_id=');
  for (const { body } of [open, again]) {
    expect(body).toMatch(/^# TYPE messages_recorded counter$/m);
    expect(body).toMatch(/^messages_recorded_total \d/m);
  }
});
