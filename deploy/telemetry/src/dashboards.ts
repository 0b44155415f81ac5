// The dashboards, as tables: a panel has a title, a unit and queries. `make golden` generates
// Grafana's files from them, and a test checks every query against the metrics of a running mesh.
export type Unit = 's' | 'reqps' | 'percentunit' | 'short' | 'bytes' | 'cps';

export interface Panel {
  title: string;
  unit: Unit;
  queries: Array<{ expr: string; legend: string }>;
  /** Shows the traces that are attached to the bars of a histogram. */
  exemplars?: boolean;
}

type Written = readonly [expr: string, legend: string];

const W = '$__rate_interval';
const rate = (metric: string): string => `sum(rate(${metric}[${W}]))`;
const quantile = (q: number, metric: string, by = ''): string =>
  `histogram_quantile(${q}, sum by (${['le', by].filter(Boolean).join(', ')}) (rate(${metric}_bucket[${W}])))`;
/** The labels are the legend, with a word before them. */
const by = (labels: string, expr: string, word = ''): Written => [
  expr,
  `${word}${labels.replaceAll(/\w+/g, '{{$&}}').replaceAll(',', '')}`,
];
const rateBy = (labels: string, metric: string, word?: string): Written =>
  by(labels, `sum by (${labels}) (rate(${metric}[${W}]))`, word);
const maxBy = (labels: string, metric: string): Written =>
  by(labels, `max by (${labels}) (${metric})`);

const panel = (title: string, unit: Unit, ...queries: Written[]): Panel => ({
  title,
  unit,
  queries: queries.map(([expr, legend]) => ({ expr, legend })),
});
/** `uid` is the file's name, and the path in Grafana. */
const dashboard = (uid: string, title: string, rows: Record<string, Panel[]>) => ({
  uid,
  title,
  rows: Object.entries(rows).map(([row, panels]) => ({ title: row, panels })),
});
/** The durations of a histogram with its exemplars. */
const durations = (title: string, metric: string): Panel => ({
  ...panel(title, 's', [quantile(0.5, metric), 'p50'], [quantile(0.99, metric), 'p99']),
  exemplars: true,
});
/** What the slowest hundredth waited for: seconds of waiting in each second. */
const waits = (title: string, metric: string): Panel => ({
  ...panel(title, 'short', rateBy('waited_for', `${metric}_sum`)),
  exemplars: true,
});

const SERVER_ERRORS = 'outcome=~"INTERNAL_ERROR|SERVER_ERROR|SERVICE_UNAVAILABLE"';

/**
 * The hops of a message: a histogram of durations without its suffix, the label that separates
 * kinds of requests, and the selector of failed observations.
 */
const HOPS: Record<string, [metric: string, by: string, failed: string]> = {
  'Edge: partners’ requests': [
    'http_server_request_duration_seconds',
    'http_route',
    'http_response_status_code=~"5.."',
  ],
  'gRPC calls, server side': ['rpc_server_duration_seconds', 'rpc_method', SERVER_ERRORS],
  'gRPC calls, client side': ['rpc_client_duration_seconds', 'rpc_method', SERVER_ERRORS],
  Upstream: ['upstream_request_duration_seconds', 'operation', 'outcome!="ok"'],
  'Ingress: the upstream’s webhooks': [
    'ingress_duration_seconds',
    'http_response_status_code',
    'http_response_status_code!="200"',
  ],
  'Kafka: batches handled': ['messaging_process_duration_seconds', 'group', 'outcome="failed"'],
  'Delivery: attempts to partners’ receivers': [
    'webhook_delivery_duration_seconds',
    'outcome',
    'outcome!~"2xx|delivered|stored"',
  ],
};

const redOf = (metric: string, label: string, failed: string): Panel[] => [
  panel('Rate', 'reqps', rateBy(label, `${metric}_count`)),
  panel('Errors', 'percentunit', [
    `(${rate(`${metric}_count{${failed}}`)} or vector(0)) / ${rate(`${metric}_count`)}`,
    'share of failures',
  ]),
  durations('Duration', metric),
];

const LAG = 'max by (destination, group, partition) (messaging_consumer_lag)';
const LIMITED = 'upstream_request_duration_seconds_count{outcome=~"4|80007|130429|131048|131056"}';

const overview = dashboard('bmg-overview', 'Gateway: overview', {
  'Service level objectives': ['ingress', 'delivery', 'edge'].map((name) =>
    panel(
      `${name}: share of failures`,
      'percentunit',
      [`bmg:${name}_failed:ratio_rate5m`, '5 minutes'],
      [`bmg:${name}_failed:ratio_rate1h`, 'hour'],
    ),
  ),
  Traffic: [
    panel('Sends accepted', 'reqps', [rate('messages_recorded_total'), 'sends']),
    panel('Events created', 'cps', rateBy('event', 'events_normalised_total')),
    panel('Deliveries by outcome', 'cps', rateBy('outcome', 'webhook_deliveries_total')),
  ],
  Processes: [
    panel('Replicas up', 'short', by('service', 'sum by (service) (up{job="bmg"})')),
    panel('CPU', 'short', rateBy('service', 'process_cpu_seconds_total')),
    panel('Memory', 'bytes', maxBy('service', 'process_resident_memory_bytes')),
  ],
  'Engines, as seen by the services': [
    panel(
      'Component health (1: up)',
      'short',
      by('service, component', 'min by (service, component) (component_up)'),
    ),
    panel('Event loop, p99', 's', maxBy('service', 'nodejs_eventloop_lag_p99_seconds')),
    panel(
      'Certificates: time until expiry',
      's',
      by('service', 'min by (service) (tls_certificate_expiry_timestamp_seconds) - time()'),
    ),
  ],
});

const hops = dashboard('bmg-hops', 'Gateway: every hop', {
  'What the slowest hundredth waits for': [
    waits('Requests', 'http_server_slowest_wait_seconds'),
    waits('Events', 'webhook_slowest_wait_seconds'),
  ],
  ...Object.fromEntries(Object.entries(HOPS).map(([title, hop]) => [title, redOf(...hop)])),
});

const events = dashboard('bmg-events', 'Gateway: events and deliveries', {
  Delay: [
    durations('From webhook to ready for delivery (our part)', 'webhook_intake_delay_seconds'),
    durations('From webhook to delivered', 'webhook_delivery_delay_seconds'),
    panel('Response time to the upstream’s webhooks', 's', [
      quantile(0.99, 'ingress_duration_seconds'),
      'p99',
    ]),
  ],
  Backlog: [
    panel(
      'Oldest unattempted event by partner',
      's',
      by('partner_id', 'topk(10, max by (partner_id) (webhook_oldest_unattempted_seconds))'),
    ),
    panel(
      'Oldest undelivered event; partners that have waited a minute for a first attempt',
      'short',
      ['max(webhook_oldest_waiting_seconds)', 'seconds'],
      ['sum(webhook_partners_unattempted)', 'partners'],
    ),
    panel('Persisted deliveries by status', 'short', maxBy('status', 'webhook_deliveries_waiting')),
    panel(
      'Written to the store, by reason',
      'cps',
      rateBy('reason', 'webhook_deliveries_stored_total'),
    ),
  ],
  Attempts: [
    panel('By outcome', 'cps', rateBy('outcome', 'webhook_deliveries_total')),
    panel(
      'In flight',
      'short',
      ['sum(webhook_deliveries_in_flight)', 'in flight'],
      ['sum(webhook_deliveries_in_flight_limit)', 'limit'],
    ),
    panel('Results that could not be stored', 'cps', [
      rate('webhook_deliveries_unsettled_total'),
      'attempts',
    ]),
  ],
  'Destinations: partners’ own servers': [
    panel('Connectors', 'short', ['sum(destination_connectors)', 'connectors']),
    panel('Partners that wait for a place', 'short', [
      'sum(destination_connectors_waiting)',
      'partners',
    ]),
    panel('Connectors that ended', 'cps', rateBy('outcome', 'destination_connector_ends_total')),
  ],
  Kafka: [
    panel('Lag', 'short', [`sum by (destination, group) (${LAG})`, '{{group}} {{destination}}']),
    panel(
      'Messages in and out',
      'cps',
      rateBy('destination', 'messaging_published_messages_total', 'in: '),
      rateBy('group', 'messaging_consumed_messages_total', 'out: '),
    ),
    panel(
      'Publishing a batch (p99), and failures',
      's',
      by('destination', quantile(0.99, 'messaging_publish_duration_seconds', 'destination')),
      rateBy('destination', 'messaging_publish_failures_total', 'failures: '),
    ),
  ],
  'Not processed': [
    panel('Dead letters', 'cps', rateBy('topic, reason', 'dead_letters_total')),
    panel(
      'Webhook items without a partner event',
      'cps',
      rateBy('field, reason', 'upstream_items_ignored_total'),
    ),
  ],
});

const sending = dashboard('bmg-sending', 'Gateway: sending', {
  Upstream: [
    panel(
      'Requests by outcome',
      'reqps',
      rateBy('outcome', 'upstream_request_duration_seconds_count'),
    ),
    panel('Rate limits', 'reqps', rateBy('outcome', LIMITED)),
    panel(
      'Duration by operation, p99',
      's',
      by('operation', quantile(0.99, 'upstream_request_duration_seconds', 'operation')),
    ),
  ],
  'Limits and refusals': [
    panel('Refused by the rate limit', 'reqps', rateBy('limiter', 'rate_limit_refusals_total')),
    panel('Tokens that expire within two weeks', 'short', [
      'max(upstream_tokens_expiring)',
      'numbers',
    ]),
    panel('Replicas that limit from their own memory', 'short', [
      'sum(rate_limiter_in_memory)',
      'replicas',
    ]),
    panel('Refused because of overload', 'reqps', rateBy('server, reason', 'requests_shed_total')),
    panel(
      'Responses by status',
      'reqps',
      rateBy('http_response_status_code', 'http_server_request_duration_seconds_count'),
    ),
  ],
  Broadcasts: [
    panel('Active', 'short', maxBy('status', 'broadcasts_active')),
    panel('Contacts by outcome', 'cps', rateBy('outcome', 'broadcast_contacts_total')),
  ],
});

export const dashboards = [overview, hops, events, sending];

const WIDTH = 24;
const HEIGHT = 8;
const DATASOURCE = { type: 'prometheus', uid: 'prometheus' };

/** A Grafana dashboard, which its file has as JSON. */
export function dashboardModel({ uid, title, rows }: ReturnType<typeof dashboard>): object {
  const panels: object[] = [];
  let [id, y] = [1, 0];
  for (const row of rows) {
    panels.push({
      id: id++,
      type: 'row',
      title: row.title,
      gridPos: { x: 0, y: y++, w: WIDTH, h: 1 },
      collapsed: false,
      panels: [],
    });
    const w = WIDTH / row.panels.length;
    row.panels.forEach((one, index) =>
      panels.push({ id: id++, gridPos: { x: index * w, y, w, h: HEIGHT }, ...chart(one) }),
    );
    y += HEIGHT;
  }
  return {
    uid,
    title,
    tags: ['bmg'],
    schemaVersion: 39,
    editable: false,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    panels,
  };
}

const chart = ({ title, unit, queries, exemplars = false }: Panel): object => ({
  type: 'timeseries',
  title,
  datasource: DATASOURCE,
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
  targets: queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode('A'.charCodeAt(0) + index),
    datasource: DATASOURCE,
    expr,
    legendFormat: legend,
    exemplar: exemplars,
  })),
});
