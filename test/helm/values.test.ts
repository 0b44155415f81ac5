// The chart's default resources follow the measured costs, and its files name things that exist.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '../../services/destinations/src/connectors/connector';
import { CONNECTORS_MAX } from '../../services/destinations/src/connectors/connectors';
import { facts, ROOT, SERVICES, WORKSPACES } from './facts';
import { load } from '../testkit/yaml';

interface Service {
  autoscaling: { min: number; max: number; cpu: number };
  resources: { requests: { cpu: string; memory: string }; limits: Record<string, string> };
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const values = load(read('helm/values.yaml')) as { services: Record<string, Service> };
const measured = JSON.parse(read('deploy/capacity/measured.json')) as Record<
  'cpu_s_per_1000_sends' | 'cpu_s_per_1000_events' | 'memory_mib',
  Record<string, number>
>;

/** The load that the comment in values.yaml promises. */
const SENDS_PER_S = 500;
const EVENTS_PER_S = 500;
const CPU_FLOOR = 0.05;
/** What destinations uses itself, beside its connectors. */
const OWN_MEMORY_MIB = 200;

const cores = (text: string): number =>
  text.endsWith('m') ? Number(text.slice(0, -1)) / 1_000 : Number(text);
const mebibytes = (text: string): number => {
  expect(text).toMatch(/^\d+Mi$/);
  return Number.parseInt(text, 10);
};

test('has values for exactly the services, and for the ingress of webhooks', () => {
  expect(Object.keys(values.services).sort()).toEqual(
    [...Object.keys(SERVICES), 'webhooks-ingress'].sort(),
  );
});

describe.each(Object.keys(SERVICES))('%s', (name) => {
  const { resources, autoscaling } = values.services[name] as Service;

  test('requests about the measured CPU', () => {
    const used =
      ((measured.cpu_s_per_1000_sends[name] ?? 0) * SENDS_PER_S +
        (measured.cpu_s_per_1000_events[name] ?? 0) * EVENTS_PER_S) /
      1_000;
    const wanted = Math.max(CPU_FLOOR, used / (autoscaling.cpu / 100));
    expect(cores(resources.requests.cpu)).toBeGreaterThanOrEqual(wanted * 0.75);
    expect(cores(resources.requests.cpu)).toBeLessThanOrEqual(wanted * 1.5);
    expect(resources.limits).not.toHaveProperty('cpu');
  });

  test('requests the measured memory and limits it to twice as much', () => {
    const held = measured.memory_mib[name] ?? Number.NaN;
    const { requests, limits } = resources;
    expect(mebibytes(requests.memory)).toBeGreaterThanOrEqual(held * 0.9);
    expect(mebibytes(requests.memory)).toBeLessThanOrEqual(held * 1.5);
    expect(mebibytes(limits['memory'] ?? '')).toBeGreaterThanOrEqual(2 * held);
  });

  test('does not scale beyond the partitions of its topics', () => {
    const most = Math.max(
      0,
      ...(facts()[name]?.consumes ?? []).map(({ partitions }) => partitions),
    );
    if (most > 0) expect(autoscaling.max).toBeLessThanOrEqual(most);
    expect(autoscaling.min).toBeGreaterThanOrEqual(2);
  });
});

test('a pod of destinations has room for all its connectors, each at its bound', () => {
  const { limits } = (values.services['destinations'] as Service).resources;
  const connectors = (CONNECTORS_MAX * LIMITS.memory_bytes) / 1024 ** 2;
  expect(mebibytes(limits['memory'] ?? '')).toBeGreaterThanOrEqual(connectors + OWN_MEMORY_MIB);
});

test('`make images` builds every image that the chart names', () => {
  // make itself expands the variable: `-p` prints it, `-n` runs nothing.
  const variables = execFileSync('make', ['-np', 'help'], { cwd: ROOT, encoding: 'utf8' });
  const [, images = ''] = /^IMAGES :?= (.*)$/m.exec(variables) ?? [];
  const made = images.split(/\s+/).map((pair) => pair.split('=') as [string, string]);
  expect(Object.fromEntries(made)).toEqual({ ...WORKSPACES, emulator: 'test' });
});

test('the Dockerfile copies every workspace that the compiler builds', () => {
  const { references } = JSON.parse(read('tsconfig.json')) as {
    references: Array<{ path: string }>;
  };
  const { workspaces } = JSON.parse(read('package.json')) as { workspaces: string[] };
  const copied = [...read('deploy/Dockerfile').matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(
    ([, sources = '']) => sources.split(' '),
  );
  const inside = (path: string): boolean =>
    copied.some((source) => path === source || path.startsWith(`${source}/`));
  for (const path of references.map((one) => one.path))
    expect([path, inside(path)]).toEqual([path, true]);
  for (const pattern of workspaces) {
    const names = pattern.endsWith('/*')
      ? Object.values(WORKSPACES).filter((one) => one.startsWith(pattern.slice(0, -1)))
      : [pattern];
    for (const name of names) expect(copied).toContain(`${name}/package.json`);
  }
});

test('the commands in the chart’s pages exist', () => {
  const targets = new Set([...read('Makefile').matchAll(/^([a-z-]+):/gm)].map(([, name]) => name));
  for (const [, name] of read('helm/README.md').matchAll(/`?make ([a-z-]+)/g)) {
    expect(targets).toContain(name);
  }
});
