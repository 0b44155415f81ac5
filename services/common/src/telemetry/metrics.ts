// The registry of metric names: every metric of the mesh is declared here, once.
import { collectDefaultMetrics, Counter, Gauge, register } from 'prom-client';
import { reportLoopLag } from './loop-lag';
import { timed } from './timed';

export { register as metricsRegister };

/** For metrics of many labels. */
const FEW = [0.01, 0.05, 0.25, 1, 5];

export const metrics = {
  http_server_duration: timed({
    name: 'http_server_request_duration_seconds',
    help: 'Requests at the edge, by route and status.',
    labelNames: ['http_route', 'http_request_method', 'http_response_status_code'],
  }),
  request_waits: timed({
    name: 'http_server_slowest_wait_seconds',
    help: 'What the slowest hundredth of the requests of a route waited for: redis, mongodb, upstream, body (of the caller), turn (behind other requests of the partner), rpc (the ways between processes), or a process: its code and its event loop.',
    labelNames: ['http_route', 'waited_for'],
    buckets: FEW,
  }),
  rpc_server_duration: timed({
    name: 'rpc_server_duration_seconds',
    help: 'Calls answered over gRPC, by method and outcome.',
    labelNames: ['rpc_service', 'rpc_method', 'outcome'],
  }),
  rpc_client_duration: timed({
    name: 'rpc_client_duration_seconds',
    help: 'Calls made over gRPC, by method and outcome.',
    labelNames: ['rpc_service', 'rpc_method', 'outcome'],
  }),
  upstream_duration: timed({
    name: 'upstream_request_duration_seconds',
    help: 'Requests to the upstream platform, by operation and outcome (an upstream code, or what went wrong).',
    labelNames: ['operation', 'outcome'],
  }),
  rate_limited: new Counter({
    name: 'rate_limit_refusals_total',
    help: 'Requests refused by the rate limit.',
    labelNames: ['limiter'],
  }),
  key_refusals: new Counter({
    name: 'api_key_refusals_total',
    help: 'Requests refused because of what their API key or person may not do, by error code.',
    labelNames: ['code'],
  }),
  audit_outcomes_failed: new Counter({
    name: 'audit_outcomes_failed_total',
    help: 'Attempts to store the outcome of a change in the audit log that failed.',
  }),
  audit_quotas_half_used: new Counter({
    name: 'audit_quotas_half_used_total',
    help: 'Quotas of audited changes (of a partner, or of one of its keys, links or people) of which half was used on a day.',
  }),
  rate_limiter_fallback: new Gauge({
    name: 'rate_limiter_in_memory',
    help: '1 while Redis is unavailable and this replica limits in its own memory.',
  }),
  messages_recorded: new Counter({
    name: 'messages_recorded_total',
    help: 'Sends written to the message record.',
  }),
  gap_repair_requests: new Counter({
    name: 'gap_repair_requests_total',
    help: 'Requests to the upstream’s message history for overdue statuses, by outcome (refused: not available for the number; limited: over the upstream’s limits).',
    labelNames: ['outcome'],
  }),
  gap_repair_statuses: new Counter({
    name: 'gap_repair_statuses_total',
    help: 'Statuses whose webhook did not arrive and that were read from the message history.',
    labelNames: ['status'],
  }),
  statuses_lost_ratio: new Gauge({
    name: 'statuses_lost_ratio',
    help: 'Share of today’s statuses (UTC) whose webhook did not arrive, for the ten numbers that lose most; every replica reports all of them.',
    labelNames: ['phone_number_id'],
  }),
  canary_runs: new Counter({
    name: 'canary_runs_total',
    help: 'Messages of the canary by outcome (ok; refused, unreachable: by the API; not_delivered: message.failed; no_event: in time). Absent without a canary.',
    labelNames: ['outcome'],
  }),
  canary_duration: timed({
    name: 'canary_duration_seconds',
    help: 'Time of a canary’s message from the request to its first event at the receiver.',
    labelNames: [],
  }),
  ingress_duration: timed({
    name: 'ingress_duration_seconds',
    help: 'Duration of upstream webhooks from receipt to answer, by status.',
    labelNames: ['http_response_status_code'],
  }),
  events_normalised: new Counter({
    name: 'events_normalised_total',
    help: 'Events normalised from upstream webhooks, by event name.',
    labelNames: ['event'],
  }),
  webhook_items_ignored: new Counter({
    name: 'upstream_items_ignored_total',
    help: 'Items of upstream webhooks for which no partner event exists, by field and reason.',
    labelNames: ['field', 'reason'],
  }),
  dead_letters: new Counter({
    name: 'dead_letters_total',
    help: 'Messages or items put on a dead-letter topic, by topic and reason.',
    labelNames: ['topic', 'reason'],
  }),
  bus_publish_duration: timed({
    name: 'messaging_publish_duration_seconds',
    help: 'Duration of Kafka sends, one observation per batch.',
    labelNames: ['destination'],
  }),
  bus_publish_failures: new Counter({
    name: 'messaging_publish_failures_total',
    help: 'Batches that failed to publish; they are retried.',
    labelNames: ['destination'],
  }),
  bus_published: new Counter({
    name: 'messaging_published_messages_total',
    help: 'Messages acknowledged by Kafka.',
    labelNames: ['destination'],
  }),
  bus_consumed: new Counter({
    name: 'messaging_consumed_messages_total',
    help: 'Messages handled, by group and outcome.',
    labelNames: ['destination', 'group', 'outcome'],
  }),
  bus_process_duration: timed({
    name: 'messaging_process_duration_seconds',
    help: 'Duration of handling a batch of Kafka messages, one observation per attempt.',
    labelNames: ['destination', 'group', 'outcome'],
    further: [60],
  }),
  bus_lag: new Gauge({
    name: 'messaging_consumer_lag',
    help: 'Messages of a partition that the group has not committed yet, as Kafka reports them. Absent while Kafka does not answer.',
    labelNames: ['destination', 'group', 'partition'],
  }),
  deliveries: new Counter({
    name: 'webhook_deliveries_total',
    help: 'Attempts to deliver an event to a partner, by outcome; at destinations `stored` and `not_stored`.',
    labelNames: ['outcome'],
  }),
  delivery_duration: timed({
    name: 'webhook_delivery_duration_seconds',
    help: 'Duration of one delivery attempt, from connecting to the answer.',
    labelNames: ['outcome'],
  }),
  delivery_intake_delay: timed({
    name: 'webhook_intake_delay_seconds',
    help: 'From the receipt of the upstream webhook until its event could be sent to the partner: the part of the delay caused here.',
    further: [60, 300, 3_600],
  }),
  event_log_written: new Counter({
    name: 'event_log_events_total',
    help: 'Events that got a position in the log of their partner.',
  }),
  event_log_unwritten: new Gauge({
    name: 'event_log_unwritten_events',
    help: 'Events that wait to be written to the log; their Kafka offsets wait too.',
  }),
  endpoints_disabled: new Counter({
    name: 'webhook_endpoints_disabled_total',
    help: 'Webhook endpoints of partners that were disabled after days of failure.',
  }),
  destination_connectors: new Gauge({
    name: 'destination_connectors',
    help: 'Connector processes, one for each partner with destinations in use.',
  }),
  destination_connectors_waiting: new Gauge({
    name: 'destination_connectors_waiting',
    help: 'Partners whose events wait for a place for their connector.',
  }),
  destination_connector_ends: new Counter({
    name: 'destination_connector_ends_total',
    help: 'Connector processes that ended regularly (idle, evicted), or died (memory, silence, crash).',
    labelNames: ['outcome'],
  }),
  shadow_deliveries: new Counter({
    name: 'webhook_shadow_deliveries_total',
    help: 'Copies of events for shadows by answer; `dropped`: the shadow was too slow for them.',
    labelNames: ['outcome'],
  }),
  event_log_conflicts: new Counter({
    name: 'event_log_conflicts_total',
    help: 'Buckets of the log that were written again: another replica took the positions, or an event was logged already.',
    labelNames: ['reason'],
  }),
  deliveries_unsettled: new Counter({
    name: 'webhook_deliveries_unsettled_total',
    help: 'Deliveries postponed because a store or the directory was unavailable.',
  }),
  delivery_delay: timed({
    name: 'webhook_delivery_delay_seconds',
    help: 'From the receipt of the upstream webhook to the acknowledgement by a URL of the partner.',
    further: [60, 300, 3_600],
  }),
  event_waits: timed({
    name: 'webhook_slowest_wait_seconds',
    help: 'What the slowest hundredth of the events waited for on their way to a URL of the partner: ingress, kafka_webhook, fanout, kafka_delivery, webhooks, receiver.',
    labelNames: ['waited_for'],
    buckets: FEW,
  }),
  deliveries_in_flight: new Gauge({
    name: 'webhook_deliveries_in_flight',
    help: 'Delivery attempts in flight at URLs.',
  }),
  deliveries_in_flight_limit: new Gauge({
    name: 'webhook_deliveries_in_flight_limit',
    help: 'Maximum number of delivery attempts in flight at URLs (DELIVERY_TOTAL).',
  }),
  deliveries_persisted: new Counter({
    name: 'webhook_deliveries_stored_total',
    help: 'Deliveries written to the store, by reason: the receiver is slow, refused, or has a large backlog; the delivery is old, or waits behind a retry of its conversation.',
    labelNames: ['reason'],
  }),
  deliveries_stored: new Gauge({
    name: 'webhook_deliveries_waiting',
    help: 'Persisted deliveries, by status; one replica counts them.',
    labelNames: ['status'],
  }),
  oldest_unattempted: new Gauge({
    name: 'webhook_oldest_unattempted_seconds',
    help: 'Age of the oldest accepted event without an attempt, for the partners that wait longest.',
    labelNames: ['partner_id'],
  }),
  oldest_waiting: new Gauge({
    name: 'webhook_oldest_waiting_seconds',
    help: 'Age of the oldest undelivered event of all partners, attempted or not.',
  }),
  partners_waiting: new Gauge({
    name: 'webhook_partners_unattempted',
    help: 'Partners with an event accepted at least a minute ago and not attempted.',
  }),
  component_up: new Gauge({
    name: 'component_up',
    help: '1 while a component’s own check passes.',
    labelNames: ['component'],
  }),
  requests_shed: new Counter({
    name: 'requests_shed_total',
    help: 'Requests refused unread under overload, by server and by the exhausted resource.',
    labelNames: ['server', 'reason'],
  }),
  log_lines_lost: new Counter({
    name: 'log_lines_lost_total',
    help: 'Log lines lost because the disk is full or the output is not read.',
  }),
  wrapped_data_keys: new Gauge({
    name: 'keyring_wrapped_data_keys',
    help: 'Data keys that a key `id:base64` has wrapped, in all processes since this is counted; safe up to 2^32. Absent for a key `id:hkdf:base64`, which has no such limit. Every replica reports the sum.',
    labelNames: ['ring', 'key_id'],
  }),
  tls_certificate_expiry: new Gauge({
    name: 'tls_certificate_expiry_timestamp_seconds',
    help: 'Expiry time of the gRPC certificate of this process and of the authority that it trusts.',
    labelNames: ['certificate'],
  }),
  tokens_expiring: new Gauge({
    name: 'upstream_tokens_expiring',
    help: 'Clients whose upstream token expires within 14 days or has expired; every replica reports all of them.',
  }),
  coexistence_syncs_due: new Gauge({
    name: 'coexistence_syncs_due',
    help: 'Numbers whose data sync is not requested yet with less than 6 of its 24 hours left; every replica reports all of them.',
  }),
  broadcasts_active: new Gauge({
    name: 'broadcasts_active',
    help: 'Broadcasts with work left, by status: pending, processing, or paused and awaiting_approval (counted once a minute); every replica reports all of them.',
    labelNames: ['status'],
  }),
  broadcast_sends: new Counter({
    name: 'broadcast_contacts_total',
    help: 'Contacts of broadcasts, by outcome.',
    labelNames: ['outcome'],
  }),
};

/** So rare that the library's own monitor of the event loop never runs: `reportLoopLag` replaces it. */
const NEVER_MS = 2 ** 31 - 1;
collectDefaultMetrics({ eventLoopMonitoringPrecision: NEVER_MS });
reportLoopLag();
