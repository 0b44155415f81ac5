// Every metric of a dashboard or alert exists in /metrics of a running mesh with the labels that
// the query uses, and the metrics on the path of a message have values after messages.
import { alerts } from '../../deploy/telemetry/src/alerts';
import { dashboards } from '../../deploy/telemetry/src/dashboards';
import { recordings } from '../../deploy/telemetry/src/promises';
import { eventually } from '../testkit/eventually';
import { ONE, startMesh, type Mesh, type TestPartner } from '../harness/mesh';
import { metricsRegister, renderMetrics } from '@bmg/common/telemetry';
import { familyOf, namesIn } from './promql';

let mesh: Mesh;
let partner: TestPartner;

beforeAll(async () => {
  mesh = await startMesh();
  partner = await mesh.createPartner();
  await partner.register(ONE);
  const headers = { 'x-waba-id': ONE.waba_id };
  const message = { to: '15550100777', text: 'Hello' };
  expect((await partner.call('POST', '/messages/send', message, headers)).status).toBe(200);
  await mesh.emulator.inbound({
    phone_number_id: ONE.phone_number_id,
    from: '15550100777',
    text: 'Hello back',
  });
  await eventually(() => partner.receiver.of('message.received')[0]);
});
afterAll(() => mesh?.stop());

interface Asked {
  where: string;
  expr: string;
  needs: string[];
}

const asked: Asked[] = [
  ...alerts.map(({ name, expr, needs = [] }) => ({ where: `alert ${name}`, expr, needs })),
  ...recordings.map(({ record, expr }) => ({ where: record, expr, needs: [] })),
  ...dashboards.flatMap(({ title, rows }) =>
    rows.flatMap(({ panels }) =>
      panels.flatMap(({ title: panel, queries }) =>
        queries.map(({ expr }) => ({ where: `${title} / ${panel}`, expr, needs: [] })),
      ),
    ),
  ),
];

const recorded = new Set(recordings.map(({ record }) => record));
/** Series and labels that Prometheus adds itself: `up` and the target labels. */
const PROMETHEUS = new Set(['up']);
const TARGET_LABELS = new Set(['job', 'service', 'instance', 'le']);
/** Labels of the metrics that an alert needs beside ours: those of Kubernetes. */
const POD_LABELS = ['namespace', 'pod', 'container'];

/** Family → label names. */
function families(): Map<string, Set<string>> {
  const all = metricsRegister.getMetricsAsArray() as unknown as Array<{
    name: string;
    labelNames?: readonly string[];
  }>;
  return new Map(all.map(({ name, labelNames = [] }) => [name, new Set(labelNames)]));
}

test.each(asked.map((one) => [one.where, one] as const))('%s', async (_where, { expr, needs }) => {
  const { body } = await renderMetrics();
  const known = families();
  const { metrics, grouping } = namesIn(expr);
  expect(metrics.length).toBeGreaterThan(0);
  const labels = new Set([...TARGET_LABELS, ...(needs.length > 0 ? POD_LABELS : [])]);
  for (const { metric, labels: selected } of metrics) {
    if (recorded.has(metric) || PROMETHEUS.has(metric) || needs.includes(metric)) continue;
    const family = known.has(metric) ? metric : familyOf(metric);
    if (!known.has(family)) throw new Error(`/metrics has no metric ${metric}`);
    expect(body).toMatch(new RegExp(`^# TYPE ${family} `, 'm'));
    const own = known.get(family) ?? new Set();
    for (const label of own) labels.add(label);
    const unknown = selected.filter((label) => !own.has(label) && !TARGET_LABELS.has(label));
    expect(unknown).toEqual([]);
  }
  expect(grouping.filter((label) => !labels.has(label))).toEqual([]);
});

test.each([
  'http_server_request_duration_seconds_count',
  'rpc_server_duration_seconds_count',
  'rpc_client_duration_seconds_count',
  'upstream_request_duration_seconds_count',
  'ingress_duration_seconds_count',
  'messaging_publish_duration_seconds_count',
  'messaging_process_duration_seconds_count',
  'messaging_consumed_messages_total',
  'messages_recorded_total',
  'events_normalised_total',
  'webhook_intake_delay_seconds_count',
  'webhook_delivery_duration_seconds_count',
  'webhook_delivery_delay_seconds_count',
  'webhook_deliveries_total',
  'webhook_deliveries_in_flight_limit',
  'component_up',
])('%s has counted the message', async (series) => {
  // The consequences of an event are counted after its delivery.
  await eventually(async () => {
    const { body } = await renderMetrics();
    const values = body
      .split('\n')
      .filter((line) => line.startsWith(`${series}{`) || line.startsWith(`${series} `))
      .map((line) => Number(line.slice(line.lastIndexOf(' '))));
    expect(Math.max(0, ...values)).toBeGreaterThan(0);
    return true;
  });
});

const GROUPS = [
  ...['fanout', 'fanout-webhook', 'webhooks'],
  ...['onboarding-account', 'onboarding-status', 'messaging-status', 'messaging-contact'],
  ...['templates-template', 'broadcasts-status', 'broadcasts-template'],
];

test('reports the lag of every consumer group from Kafka, which falls to zero', async () => {
  await eventually(async () => {
    const { body } = await renderMetrics();
    const lines = body.split('\n').filter((line) => line.startsWith('messaging_consumer_lag{'));
    const groups = new Set(lines.map((line) => /group="([^"]+)"/.exec(line)?.[1]));
    return GROUPS.every((group) => groups.has(group)) && lines.every((line) => line.endsWith(' 0'));
  });
});
