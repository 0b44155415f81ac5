// Checks the alert rules with Prometheus' `promtool`, and tests when they fire. Runs only if
// promtool is on the PATH or named by PROMTOOL; nothing is downloaded.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const TELEMETRY = resolve(__dirname, '../../deploy/telemetry');
const TOOL = process.env['PROMTOOL'] ?? 'promtool';
const there = spawnSync(TOOL, ['--version']).status === 0;
const run = there ? test : test.skip;
if (!there) console.warn('promtool is not installed: skipped its checks of the rules');

run.each([
  ['check', 'rules', 'alerts.yaml'],
  ['check', 'config', 'prometheus.yaml'],
  ['test', 'rules', 'alerts.test.yaml'],
])('promtool %s %s %s', (...args) => {
  const { status, stdout, stderr } = spawnSync(TOOL, args, { cwd: TELEMETRY, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${stdout}\n${stderr}`);
});
