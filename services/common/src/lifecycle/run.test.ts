// The log lines and spans of a process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../../../../test/testkit/eventually';
import { startOtlpReceiver } from '../../../../test/testkit/otlp';

const SERVICE = `
  const { run } = require('@bmg/common/lifecycle');
  const { endSpan, startSpan } = require('@bmg/common/telemetry');
  run(() => ({
    name: 'small',
    components: [],
    metrics: { host: '127.0.0.1', port: 0 },
    stop_timeout_ms: 10_000,
    drain_ms: 0,
  }));
  endSpan(startSpan('the last one'));
  process.emitWarning('look here', 'ATestWarning');
  process.emitWarning('a timer in the past', 'TimeoutNegativeWarning');
`;

test('logs runtime warnings, except the harmless one, and sends its last spans', async () => {
  const collector = await startOtlpReceiver();
  try {
    const child = spawn(process.execPath, ['-r', '@bmg/common/telemetry/register', '-e', SERVICE], {
      cwd: __dirname,
      env: {
        ...process.env,
        LOG_LEVEL: 'info',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        // Never by itself while the test runs.
        OTEL_BSP_SCHEDULE_DELAY: '600000',
      },
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    child.stderr.on('data', (chunk) => (err += String(chunk)));
    const closed = once(child, 'close');
    await eventually(() => out.includes('"ready"') && out.includes('look here'));
    child.kill('SIGTERM');
    expect(await closed).toEqual([0, null]);
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string; err?: { message: string }; msg: string });
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { err: { message: 'look here' }, msg: 'runtime warning' },
    ]);
    expect(lines.at(-1)?.msg).toBe('stopped');
    expect(err).toBe('');
    expect(collector.spans.map(({ name }) => name)).toEqual(['the last one']);
  } finally {
    await collector.close();
  }
});
