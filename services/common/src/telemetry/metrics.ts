// The registry of metric names: every metric of the mesh is declared here, once.
import { collectDefaultMetrics, Counter, Gauge, Histogram, register } from 'prom-client';

export { register as metricsRegister };

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export const metrics = {
  http_server_duration: new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Requests at the edge, by route and status.',
    labelNames: ['http_route', 'http_request_method', 'http_response_status_code'],
    buckets: SECONDS,
  }),
  rpc_server_duration: new Histogram({
    name: 'rpc_server_duration_seconds',
    help: 'Calls answered over gRPC, by method and outcome.',
    labelNames: ['rpc_service', 'rpc_method', 'outcome'],
    buckets: SECONDS,
  }),
  rpc_client_duration: new Histogram({
    name: 'rpc_client_duration_seconds',
    help: 'Calls made over gRPC, by method and outcome.',
    labelNames: ['rpc_service', 'rpc_method', 'outcome'],
    buckets: SECONDS,
  }),
  upstream_duration: new Histogram({
    name: 'upstream_request_duration_seconds',
    help: 'Requests to the upstream platform, by operation and outcome (an upstream code, or what went wrong).',
    labelNames: ['operation', 'outcome'],
    buckets: SECONDS,
  }),
  rate_limited: new Counter({
    name: 'rate_limit_refusals_total',
    help: 'Requests refused by the rate limit.',
    labelNames: ['limiter'],
  }),
  rate_limiter_fallback: new Gauge({
    name: 'rate_limiter_in_memory',
    help: '1 while the shared limiter is away and this replica limits in its own memory.',
  }),
  messages_recorded: new Counter({
    name: 'messages_recorded_total',
    help: 'Sends written to the message record.',
  }),
  ingress_duration: new Histogram({
    name: 'ingress_duration_seconds',
    help: 'Upstream webhooks from receipt to answer, by status.',
    labelNames: ['http_response_status_code'],
    buckets: SECONDS,
  }),
  events_normalised: new Counter({
    name: 'events_normalised_total',
    help: 'Events made of upstream webhooks, by event name.',
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
  bus_publish_duration: new Histogram({
    name: 'messaging_publish_duration_seconds',
    help: 'Kafka sends, one observation a batch.',
    labelNames: ['destination'],
    buckets: SECONDS,
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
  bus_lag: new Gauge({
    name: 'messaging_consumer_lag',
    help: 'Messages behind the end of a partition, as last seen.',
    labelNames: ['destination', 'group', 'partition'],
  }),
  deliveries: new Counter({
    name: 'webhook_deliveries_total',
    help: 'Attempts to deliver an event to a partner, by outcome.',
    labelNames: ['outcome'],
  }),
  delivery_duration: new Histogram({
    name: 'webhook_delivery_duration_seconds',
    help: 'One attempt, from connecting to the answer.',
    labelNames: ['outcome'],
    buckets: SECONDS,
  }),
  delivery_delay: new Histogram({
    name: 'webhook_delivery_delay_seconds',
    help: 'From the receipt of the upstream webhook to the partner’s acknowledgement.',
    buckets: [...SECONDS, 60, 300, 3_600],
  }),
  deliveries_in_flight: new Gauge({
    name: 'webhook_deliveries_in_flight',
    help: 'Attempts under way.',
  }),
  deliveries_stored: new Gauge({
    name: 'webhook_deliveries_waiting',
    help: 'Events put aside in the store, by status.',
    labelNames: ['status'],
  }),
  oldest_unattempted: new Gauge({
    name: 'webhook_oldest_unattempted_seconds',
    help: 'Accepted but not attempted: the age of the oldest such event of a partner.',
    labelNames: ['partner_id'],
  }),
  component_up: new Gauge({
    name: 'component_up',
    help: '1 while a component’s own check passes.',
    labelNames: ['component'],
  }),
  broadcast_sends: new Counter({
    name: 'broadcast_contacts_total',
    help: 'Contacts of broadcasts, by outcome.',
    labelNames: ['outcome'],
  }),
};

collectDefaultMetrics();
