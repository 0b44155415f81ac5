// The rules in the eyes of Prometheus itself: its own checker, and tests of when they fire. Only where its
// `promtool` is on the PATH (or named by PROMTOOL): nothing is downloaded for it.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const TELEMETRY = resolve(__dirname, '../../deploy/telemetry');
const TOOL = process.env['PROMTOOL'] ?? 'promtool';
const there = spawnSync(TOOL, ['--version']).status === 0;
const run = there ? test : test.skip;
if (!there) console.warn('promtool is not installed: the rules are not run through it');

run.each([
  ['check', 'rules', 'alerts.yaml'],
  ['check', 'config', 'prometheus.yaml'],
  ['test', 'rules', 'alerts.test.yaml'],
])('promtool %s %s %s', (...args) => {
  const { status, stdout, stderr } = spawnSync(TOOL, args, { cwd: TELEMETRY, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${stdout}\n${stderr}`);
});
