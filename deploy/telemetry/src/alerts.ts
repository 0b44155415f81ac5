// Every alert. `make golden` generates Prometheus's rules file from these rows. Tests check each
// expression against the metrics of a running mesh, and that the runbook has an entry for each
// alert.
import { alertsOf, promiseAlerts, recordings, type Alert, type Rows } from './promises';

const LAG = 'max by (destination, group, partition) (messaging_consumer_lag)';
/** Outcomes for which the upstream is at fault: its codes for temporary errors, and no answer. */
const UPSTREAM_FAULTS = 'no_answer|1|2|131000|131016|133004';
const UPSTREAM_LIMITS = '4|80007|130429|131048|131056';

const events: Rows = {
  ConsumerLagGrows: {
    page: '5m',
    expr: `sum by (destination, group) (${LAG}) > 20000`,
    summary: '{{ $labels.group }} is {{ $value }} messages behind on {{ $labels.destination }}',
  },
  ConsumerStuck: {
    page: '5m',
    // Messages were waiting throughout the five minutes, and none was handled.
    expr: `sum by (destination, group) (min_over_time(messaging_consumer_lag[5m])) > 0
unless on (destination, group)
sum by (destination, group) (rate(messaging_consumed_messages_total[5m])) > 0`,
    summary: '{{ $labels.group }} has stopped consuming {{ $labels.destination }}',
  },
  BatchesFail: {
    ticket: '10m',
    expr: 'sum by (destination, group) (rate(messaging_process_duration_seconds_count{outcome="failed"}[5m])) > 0.1',
    summary: '{{ $labels.group }} keeps retrying failed batches of {{ $labels.destination }}',
  },
  KafkaRefusesMessages: {
    page: '2m',
    expr: 'sum(rate(messaging_publish_failures_total[2m])) > 0.1',
    summary: 'Kafka refuses messages',
  },
  PartnerNotAttempted: {
    ticket: '5m',
    expr: 'max by (partner_id) (webhook_oldest_unattempted_seconds) > 300',
    summary:
      'Partner {{ $labels.partner_id }} has an event that is {{ $value }} s old and was never attempted',
  },
  ManyPartnersNotAttempted: {
    page: '2m',
    expr: 'sum(webhook_partners_unattempted) >= 5',
    summary:
      '{{ $value }} partners have events that have waited a minute or longer for their first attempt',
  },
  OldestWaitingEvent: {
    ticket: '15m',
    expr: 'max(webhook_oldest_waiting_seconds) > 21600',
    summary: 'The oldest undelivered event has waited for {{ $value }} s',
  },
  MostDeliveriesFail: {
    page: '10m',
    expr: `sum(rate(webhook_deliveries_total{outcome!~"2xx|delivered|stored"}[5m]))
/ sum(rate(webhook_deliveries_total[5m])) > 0.5
and sum(rate(webhook_deliveries_total[5m])) > 1`,
    summary:
      '{{ $value | humanizePercentage }} of all delivery attempts fail, probably because of our outgoing network',
  },
  EventsGivenUp: {
    ticket: '5m',
    expr: 'max(webhook_deliveries_waiting{status="failed"}) - max(webhook_deliveries_waiting{status="failed"} offset 1h) > 100',
    summary: '{{ $value }} events moved to the failed list within an hour',
  },
  WebhookEndpointsDisabled: {
    ticket: '1m',
    expr: 'sum(increase(webhook_endpoints_disabled_total[1h])) > 0',
    summary: '{{ $value }} webhook endpoints of partners were disabled after five days of failure',
  },
  DeliverySlotsTaken: {
    page: '5m',
    expr: 'min(webhook_deliveries_in_flight / webhook_deliveries_in_flight_limit) > 0.9',
    summary: 'Deliveries in flight are at their limit: partners wait for each other',
  },
  DeliveriesUnsettled: {
    page: '5m',
    expr: 'sum(rate(webhook_deliveries_unsettled_total[5m])) > 1',
    summary:
      'Attempts cannot be made or recorded: MongoDB of webhooks, onboarding or destinations is unavailable',
  },
  DeadLetters: {
    ticket: '1m',
    expr: 'sum by (topic, reason) (increase(dead_letters_total[15m])) > 0',
    summary:
      '{{ $value }} messages of {{ $labels.topic }} were dead-lettered: {{ $labels.reason }}',
  },
  WebhookAckSlow: {
    ticket: '10m',
    expr: 'histogram_quantile(0.99, sum by (le) (rate(ingress_duration_seconds_bucket[5m]))) > 2',
    summary: 'The upstream waits {{ $value }} s (p99) for the 200 to its webhooks',
  },
  StatusesLost: {
    ticket: '15m',
    expr: 'max by (phone_number_id) (statuses_lost_ratio) > 0.02',
    summary:
      '{{ $value | humanizePercentage }} of today’s statuses of number {{ $labels.phone_number_id }} came without a webhook',
  },
  CanaryFails: {
    page: '1m',
    // The series is absent without a canary, so nothing fires.
    expr: 'sum(increase(canary_runs_total{outcome="ok"}[5m])) < 1',
    summary: 'No message of the canary has come through for five minutes',
  },
  CanarySlow: {
    ticket: '10m',
    expr: 'histogram_quantile(0.5, sum by (le) (rate(canary_duration_seconds_bucket[10m]))) > 10',
    summary: 'The canary takes {{ $value }} s from the request to its event',
  },
};

const sending: Rows = {
  UpstreamFails: {
    page: '5m',
    expr: `sum(rate(upstream_request_duration_seconds_count{outcome=~"${UPSTREAM_FAULTS}"}[5m]))
/ sum(rate(upstream_request_duration_seconds_count[5m])) > 0.05
and sum(rate(upstream_request_duration_seconds_count[5m])) > 0.5`,
    summary: '{{ $value | humanizePercentage }} of the requests to the upstream fail by its fault',
  },
  UpstreamLimitsReached: {
    ticket: '15m',
    expr: `sum by (outcome) (rate(upstream_request_duration_seconds_count{outcome=~"${UPSTREAM_LIMITS}"}[5m])) > 1`,
    summary: 'The upstream limits us: code {{ $labels.outcome }}, {{ $value }} times a second',
  },
  TokensRefused: {
    ticket: '10m',
    expr: 'sum(increase(upstream_request_duration_seconds_count{outcome="190"}[15m])) > 5',
    summary: 'The upstream refuses tokens as expired or revoked ({{ $value }} times in 15 minutes)',
  },
  TokensExpireSoon: {
    ticket: '5m',
    expr: 'max(upstream_tokens_expiring) > 0',
    summary: 'The tokens of {{ $value }} numbers expire within two weeks, or have expired',
  },
  LimiterOnMemory: {
    page: '2m',
    expr: 'max by (instance) (rate_limiter_in_memory) == 1',
    summary: '{{ $labels.instance }} applies rate limits from its own memory: Redis is unavailable',
  },
  RequestsShed: {
    page: '2m',
    expr: 'sum by (service, server, reason) (rate(requests_shed_total[2m])) > 1',
    summary:
      '{{ $labels.service }} refuses {{ $value }} requests a second because of overload: {{ $labels.reason }}',
  },
  SyncsRunOut: {
    ticket: '5m',
    expr: 'max(coexistence_syncs_due) > 0',
    summary: '{{ $value }} numbers have less than six hours left for their coexistence data sync',
  },
  BroadcastsStand: {
    ticket: '10m',
    expr: `max(broadcasts_active{status="processing"}) > 0
unless sum(rate(broadcast_contacts_total[10m])) > 0`,
    summary: '{{ $value }} broadcasts are running, but nothing is sent',
  },
};

const processes: Rows = {
  ServiceDown: {
    page: '1m',
    expr: 'sum by (service) (up{job="bmg"}) == 0',
    summary: 'No replica of {{ $labels.service }} responds',
  },
  ReplicaDown: {
    ticket: '10m',
    expr: 'up{job="bmg"} == 0',
    summary: '{{ $labels.service }} at {{ $labels.instance }} does not respond',
  },
  ComponentDown: {
    page: '2m',
    expr: 'min by (service, component) (component_up) == 0',
    summary: '{{ $labels.service }} cannot reach its {{ $labels.component }}',
  },
  EventLoopBlocked: {
    ticket: '10m',
    expr: 'max by (service, instance) (nodejs_eventloop_lag_p99_seconds) > 0.5',
    summary:
      '{{ $labels.service }} at {{ $labels.instance }} responds late: its event loop is blocked',
  },
  ConnectorsDie: {
    ticket: '5m',
    // A connector that dies at each start is started again after 1 s, then later and later: eleven
    // times in its first half hour, and four times in two hours afterwards.
    expr: 'sum(increase(destination_connector_ends_total{outcome="died"}[2h])) > 2.5',
    summary: '{{ $value }} connectors to partners’ servers died within two hours',
  },
  ConnectorsWait: {
    ticket: '10m',
    expr: 'sum(min_over_time(destination_connectors_waiting[5m])) > 0',
    summary: '{{ $value }} partners with destinations wait for a place for their connector',
  },
  DestinationsMemoryHigh: {
    page: '2m',
    // The kernel kills the process and all its connectors at the limit.
    expr: `max by (pod) (container_memory_working_set_bytes{container="destinations"})
/ max by (pod) (container_spec_memory_limit_bytes{container="destinations"} > 0) > 0.9`,
    summary: '{{ $labels.pod }} uses {{ $value | humanizePercentage }} of its memory limit',
    needs: ['container_memory_working_set_bytes', 'container_spec_memory_limit_bytes'],
  },
  KeyWrapsMany: {
    ticket: '5m',
    // A quarter of 2^32.
    expr: 'max by (ring, key_id) (keyring_wrapped_data_keys) > 1073741824',
    summary:
      'The key {{ $labels.key_id }} of {{ $labels.ring }} has wrapped {{ $value }} data keys',
  },
  AuditOutcomesFail: {
    ticket: '5m',
    // A failed attempt is repeated three times: a short restart stays below this.
    expr: 'sum(increase(audit_outcomes_failed_total[15m])) > 10',
    summary: '{{ $value }} attempts to store the outcome of a change in the audit log failed',
  },
  AuditQuotaHalfUsed: {
    ticket: '1m',
    expr: 'sum(increase(audit_quotas_half_used_total[1h])) > 0',
    summary: 'A partner, or one of its keys, links or people, used half of the day’s changes',
  },
  CertificateExpiresSoon: {
    ticket: '1h',
    expr: 'min by (service) (tls_certificate_expiry_timestamp_seconds) - time() < 14 * 86400',
    summary: 'The certificate of {{ $labels.service }} expires in {{ $value | humanizeDuration }}',
  },
  CertificateExpires: {
    page: '5m',
    expr: 'min by (service) (tls_certificate_expiry_timestamp_seconds) - time() < 86400',
    summary: 'The certificate of {{ $labels.service }} expires in {{ $value | humanizeDuration }}',
  },
};

/**
 * Alerts on the engines: they need the engines' exporters, and the volume metrics of the cluster or
 * the host.
 */
const engines: Rows = {
  DiskFills: {
    page: '30m',
    expr: `predict_linear(kubelet_volume_stats_available_bytes[6h], 86400) < 0
or kubelet_volume_stats_available_bytes / kubelet_volume_stats_capacity_bytes < 0.1
or predict_linear(node_filesystem_avail_bytes{fstype!~"tmpfs|overlay"}[6h], 86400) < 0`,
    summary: 'A disk of an engine will be full within a day, or is nearly full',
    needs: [
      'kubelet_volume_stats_available_bytes',
      'kubelet_volume_stats_capacity_bytes',
      'node_filesystem_avail_bytes',
    ],
  },
  KafkaUnderReplicated: {
    page: '5m',
    expr: 'sum(kafka_topic_partition_under_replicated_partition) > 0',
    summary: '{{ $value }} partitions have fewer in-sync replicas than configured',
    needs: ['kafka_topic_partition_under_replicated_partition'],
  },
  MongoWithoutPrimary: {
    page: '1m',
    expr: 'sum(mongodb_rs_members_state == bool 1) < 1',
    summary: 'The MongoDB replica set has no primary',
    needs: ['mongodb_rs_members_state'],
  },
  RedisEvicts: {
    page: '1m',
    expr: 'increase(redis_evicted_keys_total[5m]) > 0',
    summary: 'Redis evicts keys: idempotency records and the pace of broadcasts are not safe',
    needs: ['redis_evicted_keys_total'],
  },
};

const groups: Record<string, Alert[]> = {
  'bmg-promises': promiseAlerts,
  'bmg-events': alertsOf(events),
  'bmg-sending': alertsOf(sending),
  'bmg-processes': alertsOf(processes),
  'bmg-engines': alertsOf(engines),
};

export const alerts: Alert[] = Object.values(groups).flat();

/** Where the repository can be read, an external label of Prometheus. It ends with a slash. */
const BASE = '{{ $externalLabels.runbook_base }}';
const RUNBOOK = 'deploy/runbook.md';
export const runbookUrl = ({ name }: Alert): string => `${BASE}${RUNBOOK}#${name.toLowerCase()}`;

const rule = (alert: Alert) => ({
  alert: alert.name,
  expr: alert.expr,
  for: alert.for,
  labels: { severity: alert.severity },
  annotations: {
    summary: alert.summary,
    runbook_url: runbookUrl(alert),
    ...(alert.needs && { needs: alert.needs.join(', ') }),
  },
});

/** The content of alerts.yaml, Prometheus's rules file. */
export const rules = () => ({
  groups: [
    { name: 'bmg-ratios', rules: recordings },
    ...Object.entries(groups).map(([name, list]) => ({ name, rules: list.map(rule) })),
  ],
});
