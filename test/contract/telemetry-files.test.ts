// The Prometheus and Grafana files match the tables they are generated from (`make golden` writes
// them), and every alert has an entry in the runbook.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { alerts, rules, runbookUrl } from '../../deploy/telemetry/src/alerts';
import { dashboardModel, dashboards } from '../../deploy/telemetry/src/dashboards';
import { layOutJson } from '../testkit/json-layout';
import { dump } from '../testkit/yaml';

const ROOT = resolve(__dirname, '../..');
const TELEMETRY = join(ROOT, 'deploy/telemetry');
const DASHBOARDS = join(TELEMETRY, 'grafana/dashboards');

const HEADER = '# Generated from src/alerts.ts by `make golden`. Do not edit.\n';

const files: Record<string, () => string> = {
  'alerts.yaml': () => HEADER + dump(rules()),
  ...Object.fromEntries(
    dashboards.map((one) => [
      `grafana/dashboards/${one.uid}.json`,
      () => layOutJson(dashboardModel(one)),
    ]),
  ),
};

test.each(Object.keys(files))('%s matches its table', (name) => {
  const path = join(TELEMETRY, name);
  const wanted = (files[name] as () => string)();
  if (process.env['GOLDEN'] === 'write') writeFileSync(path, wanted);
  else expect(existsSync(path) ? readFileSync(path, 'utf8') : '').toBe(wanted);
});

test('every dashboard file has a table', () => {
  expect(readdirSync(DASHBOARDS).sort()).toEqual(dashboards.map(({ uid }) => `${uid}.json`).sort());
});

test('alerts have unique names, a summary, and a waiting time before they fire', () => {
  const names = alerts.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const alert of alerts) {
    expect(alert.name).toMatch(/^[A-Z][A-Za-z]+$/);
    expect(alert.summary.length).toBeGreaterThan(10);
    expect(alert.for).toMatch(/^[1-9]\d*[mh]$/);
  }
});

describe('the runbook', () => {
  const text = readFileSync(join(ROOT, 'deploy/runbook.md'), 'utf8');
  const sections = new Map(
    text.split(/^### /m).map((part) => [part.slice(0, part.indexOf('\n')).trim(), part]),
  );

  test.each(alerts.map((alert) => [alert.name, alert] as const))(
    '%s has a symptom, a meaning, what to check and what to do',
    (name, alert) => {
      expect(runbookUrl(alert)).toMatch(new RegExp(`}}deploy/runbook.md#${name.toLowerCase()}$`));
      const entry = sections.get(name) ?? '';
      for (const part of ['Symptom', 'Meaning', 'Check', 'Do']) {
        expect(entry).toMatch(new RegExp(`^- \\*\\*${part}\\*\\*: \\S.{15,}`, 'm'));
      }
    },
  );

  test('has no entry without an alert', () => {
    const names = new Set(alerts.map(({ name }) => name));
    const inAlerts = text.slice(text.indexOf('## Alerts'), text.indexOf('\n## Health'));
    const entries = [...inAlerts.matchAll(/^### (\S+)$/gm)].map(([, name]) => name as string);
    expect(entries.filter((name) => !names.has(name))).toEqual([]);
  });
});
