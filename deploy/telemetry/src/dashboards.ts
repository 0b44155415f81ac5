// The dashboards, as tables: a panel has a title, a unit and queries. `make golden` generates
// Grafana's files from them, and a test checks every query against the metrics of a running mesh.
export type Unit = 's' | 'reqps' | 'percentunit' | 'short' | 'bytes' | 'cps';

export interface Query {
  expr: string;
  legend: string;
}

export interface Panel {
  title: string;
  unit: Unit;
  queries: Query[];
  /** Shows the traces that are attached to the bars of a histogram. */
  exemplars?: boolean;
}

export interface Dashboard {
  /** The file's name, and the path in Grafana. */
  uid: string;
  title: string;
  rows: Array<{ title: string; panels: Panel[] }>;
}

const W = '$__rate_interval';
const rate = (metric: string, by = ''): string =>
  by === '' ? `sum(rate(${metric}[${W}]))` : `sum by (${by}) (rate(${metric}[${W}]))`;
const quantile = (q: number, metric: string, by: string, filter = ''): string =>
  `histogram_quantile(${q}, sum by (${['le', by].filter(Boolean).join(', ')}) (rate(${metric}_bucket${filter}[${W}])))`;
const panel = (
  title: string,
  unit: Unit,
  ...queries: Array<[expr: string, legend: string]>
): Panel => ({
  title,
  unit,
  queries: queries.map(([expr, legend]) => ({ expr, legend })),
});

interface Hop {
  title: string;
  /** A histogram of durations without its suffix. */
  metric: string;
  /** The label that separates kinds of requests. */
  by: string;
  /** The selector of failed observations. */
  failed: string;
}

/** The hops of a message. Each gets the same three panels: rate, errors and duration. */
const HOPS: Hop[] = [
  {
    title: 'Edge: partners’ requests',
    metric: 'http_server_request_duration_seconds',
    by: 'http_route',
    failed: 'http_response_status_code=~"5.."',
  },
  {
    title: 'gRPC calls, server side',
    metric: 'rpc_server_duration_seconds',
    by: 'rpc_method',
    failed: 'outcome=~"INTERNAL_ERROR|SERVER_ERROR|SERVICE_UNAVAILABLE"',
  },
  {
    title: 'gRPC calls, client side',
    metric: 'rpc_client_duration_seconds',
    by: 'rpc_method',
    failed: 'outcome=~"INTERNAL_ERROR|SERVER_ERROR|SERVICE_UNAVAILABLE"',
  },
  {
    title: 'Upstream',
    metric: 'upstream_request_duration_seconds',
    by: 'operation',
    failed: 'outcome!="ok"',
  },
  {
    title: 'Ingress: the upstream’s webhooks',
    metric: 'ingress_duration_seconds',
    by: 'http_response_status_code',
    failed: 'http_response_status_code!="200"',
  },
  {
    title: 'Kafka: batches handled',
    metric: 'messaging_process_duration_seconds',
    by: 'group',
    failed: 'outcome="failed"',
  },
  {
    title: 'Delivery: attempts to partners’ receivers',
    metric: 'webhook_delivery_duration_seconds',
    by: 'outcome',
    failed: 'outcome!~"2xx|delivered|stored"',
  },
];

const redOf = ({ title, metric, by, failed }: Hop): Dashboard['rows'][number] => ({
  title,
  panels: [
    panel('Rate', 'reqps', [rate(`${metric}_count`, by), `{{${by}}}`]),
    panel('Errors', 'percentunit', [
      `(${rate(`${metric}_count{${failed}}`)} or vector(0)) / ${rate(`${metric}_count`)}`,
      'share of failures',
    ]),
    {
      ...panel(
        'Duration',
        's',
        [quantile(0.5, metric, ''), 'p50'],
        [quantile(0.99, metric, ''), 'p99'],
      ),
      exemplars: true,
    },
  ],
});

/** What the slowest hundredth waited for: seconds of waiting in each second. */
const waits = (title: string, metric: string): Panel => ({
  ...panel(title, 'short', [rate(`${metric}_sum`, 'waited_for'), '{{waited_for}}']),
  exemplars: true,
});

const LAG = 'max by (destination, group, partition) (messaging_consumer_lag)';

export const dashboards: Dashboard[] = [
  {
    uid: 'bmg-overview',
    title: 'Gateway: overview',
    rows: [
      {
        title: 'Service level objectives',
        panels: ['ingress', 'delivery', 'edge'].map((name) =>
          panel(
            `${name}: share of failures`,
            'percentunit',
            [`bmg:${name}_failed:ratio_rate5m`, '5 minutes'],
            [`bmg:${name}_failed:ratio_rate1h`, 'hour'],
          ),
        ),
      },
      {
        title: 'Traffic',
        panels: [
          panel('Sends accepted', 'reqps', [rate('messages_recorded_total'), 'sends']),
          panel('Events created', 'cps', [rate('events_normalised_total', 'event'), '{{event}}']),
          panel('Deliveries by outcome', 'cps', [
            rate('webhook_deliveries_total', 'outcome'),
            '{{outcome}}',
          ]),
        ],
      },
      {
        title: 'Processes',
        panels: [
          panel('Replicas up', 'short', ['sum by (service) (up{job="bmg"})', '{{service}}']),
          panel('CPU', 'short', [rate('process_cpu_seconds_total', 'service'), '{{service}}']),
          panel('Memory', 'bytes', [
            'max by (service) (process_resident_memory_bytes)',
            '{{service}}',
          ]),
        ],
      },
      {
        title: 'Engines, as seen by the services',
        panels: [
          panel('Component health (1: up)', 'short', [
            'min by (service, component) (component_up)',
            '{{service}} {{component}}',
          ]),
          panel('Event loop, p99', 's', [
            'max by (service) (nodejs_eventloop_lag_p99_seconds)',
            '{{service}}',
          ]),
          panel('Certificates: time until expiry', 's', [
            'min by (service) (tls_certificate_expiry_timestamp_seconds) - time()',
            '{{service}}',
          ]),
        ],
      },
    ],
  },
  {
    uid: 'bmg-hops',
    title: 'Gateway: every hop',
    rows: [
      {
        title: 'What the slowest hundredth waits for',
        panels: [
          waits('Requests', 'http_server_slowest_wait_seconds'),
          waits('Events', 'webhook_slowest_wait_seconds'),
        ],
      },
      ...HOPS.map(redOf),
    ],
  },
  {
    uid: 'bmg-events',
    title: 'Gateway: events and deliveries',
    rows: [
      {
        title: 'Delay',
        panels: [
          {
            ...panel(
              'From webhook to ready for delivery (our part)',
              's',
              [quantile(0.5, 'webhook_intake_delay_seconds', ''), 'p50'],
              [quantile(0.99, 'webhook_intake_delay_seconds', ''), 'p99'],
            ),
            exemplars: true,
          },
          {
            ...panel(
              'From webhook to delivered',
              's',
              [quantile(0.5, 'webhook_delivery_delay_seconds', ''), 'p50'],
              [quantile(0.99, 'webhook_delivery_delay_seconds', ''), 'p99'],
            ),
            exemplars: true,
          },
          panel('Response time to the upstream’s webhooks', 's', [
            quantile(0.99, 'ingress_duration_seconds', ''),
            'p99',
          ]),
        ],
      },
      {
        title: 'Backlog',
        panels: [
          panel('Oldest unattempted event by partner', 's', [
            'topk(10, max by (partner_id) (webhook_oldest_unattempted_seconds))',
            '{{partner_id}}',
          ]),
          panel(
            'Oldest undelivered event; partners that have waited a minute for a first attempt',
            'short',
            ['max(webhook_oldest_waiting_seconds)', 'seconds'],
            ['sum(webhook_partners_unattempted)', 'partners'],
          ),
          panel('Persisted deliveries by status', 'short', [
            'max by (status) (webhook_deliveries_waiting)',
            '{{status}}',
          ]),
          panel('Written to the store, by reason', 'cps', [
            rate('webhook_deliveries_stored_total', 'reason'),
            '{{reason}}',
          ]),
        ],
      },
      {
        title: 'Attempts',
        panels: [
          panel('By outcome', 'cps', [rate('webhook_deliveries_total', 'outcome'), '{{outcome}}']),
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
      },
      {
        title: 'Destinations: partners’ own servers',
        panels: [
          panel('Connectors', 'short', ['sum(destination_connectors)', 'connectors']),
          panel('Partners that wait for a place', 'short', [
            'sum(destination_connectors_waiting)',
            'partners',
          ]),
          panel('Connectors that ended', 'cps', [
            rate('destination_connector_ends_total', 'outcome'),
            '{{outcome}}',
          ]),
        ],
      },
      {
        title: 'Kafka',
        panels: [
          panel('Lag', 'short', [
            `sum by (destination, group) (${LAG})`,
            '{{group}} {{destination}}',
          ]),
          panel(
            'Messages in and out',
            'cps',
            [rate('messaging_published_messages_total', 'destination'), 'in: {{destination}}'],
            [rate('messaging_consumed_messages_total', 'group'), 'out: {{group}}'],
          ),
          panel(
            'Publishing a batch (p99), and failures',
            's',
            [
              quantile(0.99, 'messaging_publish_duration_seconds', 'destination'),
              '{{destination}}',
            ],
            [rate('messaging_publish_failures_total', 'destination'), 'failures: {{destination}}'],
          ),
        ],
      },
      {
        title: 'Not processed',
        panels: [
          panel('Dead letters', 'cps', [
            rate('dead_letters_total', 'topic, reason'),
            '{{topic}} {{reason}}',
          ]),
          panel('Webhook items without a partner event', 'cps', [
            rate('upstream_items_ignored_total', 'field, reason'),
            '{{field}} {{reason}}',
          ]),
        ],
      },
    ],
  },
  {
    uid: 'bmg-sending',
    title: 'Gateway: sending',
    rows: [
      {
        title: 'Upstream',
        panels: [
          panel('Requests by outcome', 'reqps', [
            rate('upstream_request_duration_seconds_count', 'outcome'),
            '{{outcome}}',
          ]),
          panel('Rate limits', 'reqps', [
            rate(
              'upstream_request_duration_seconds_count{outcome=~"4|80007|130429|131048|131056"}',
              'outcome',
            ),
            '{{outcome}}',
          ]),
          panel('Duration by operation, p99', 's', [
            quantile(0.99, 'upstream_request_duration_seconds', 'operation'),
            '{{operation}}',
          ]),
        ],
      },
      {
        title: 'Limits and refusals',
        panels: [
          panel('Refused by the rate limit', 'reqps', [
            rate('rate_limit_refusals_total', 'limiter'),
            '{{limiter}}',
          ]),
          panel('Tokens that expire within two weeks', 'short', [
            'max(upstream_tokens_expiring)',
            'numbers',
          ]),
          panel('Replicas that limit from their own memory', 'short', [
            'sum(rate_limiter_in_memory)',
            'replicas',
          ]),
          panel('Refused because of overload', 'reqps', [
            rate('requests_shed_total', 'server, reason'),
            '{{server}} {{reason}}',
          ]),
          panel('Responses by status', 'reqps', [
            rate('http_server_request_duration_seconds_count', 'http_response_status_code'),
            '{{http_response_status_code}}',
          ]),
        ],
      },
      {
        title: 'Broadcasts',
        panels: [
          panel('Active', 'short', ['max by (status) (broadcasts_active)', '{{status}}']),
          panel('Contacts by outcome', 'cps', [
            rate('broadcast_contacts_total', 'outcome'),
            '{{outcome}}',
          ]),
        ],
      },
    ],
  },
];

const WIDTH = 24;
const HEIGHT = 8;
const DATASOURCE = { type: 'prometheus', uid: 'prometheus' };

/** A Grafana dashboard, which its file has as JSON. */
export function dashboardModel({ uid, title, rows }: Dashboard): object {
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
