// Compares the list of services (deploy/local/src/service-table.json) with the code and with the
// files that must name every service.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_NAMES, SERVICES as TABLE } from '../../deploy/local/src/services';
import { ROOT, SERVICES } from './facts';
import { load } from '../testkit/yaml';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

test('lists every workspace that contains a service', () => {
  const folders = readdirSync(join(ROOT, 'services')).filter(
    (name) => name !== 'common' && existsSync(join(ROOT, 'services', name, 'package.json')),
  );
  expect(new Set(Object.values(TABLE).map(({ workspace }) => workspace))).toEqual(
    new Set([...folders.map((name) => `services/${name}`), 'gateway']),
  );
});

test.each(SERVICE_NAMES)('has the ports of %s, and whether it has a database', (name) => {
  const settings = SERVICES[name] ?? {};
  const { grpc_port, metrics_port, http, database } = TABLE[name];
  expect(settings['GRPC_PORT']?.default).toBe(grpc_port);
  expect(settings['METRICS_PORT']?.default).toBe(metrics_port);
  if (http) expect(settings[http.setting]?.default).toBe(http.port);
  expect('MONGO_URL' in settings).toBe(database);
});

test('names every service in the Prometheus configuration, on its metrics port', () => {
  const { scrape_configs } = load(read('deploy/telemetry/prometheus.yaml')) as {
    scrape_configs: Array<{
      job_name: string;
      static_configs: Array<{ targets: string[]; labels: { service: string } }>;
    }>;
  };
  const mesh = scrape_configs.find(({ job_name }) => job_name === 'bmg');
  const targets = mesh?.static_configs.map(({ targets: [target], labels }) => [
    labels.service,
    target,
  ]);
  expect(Object.fromEntries(targets ?? [])).toEqual(
    Object.fromEntries(SERVICE_NAMES.map((name) => [name, `${name}:${TABLE[name].metrics_port}`])),
  );
});
