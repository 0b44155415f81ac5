// Responses of the API, limited to the fields that the console shows. The reference at /docs describes every field.

export interface Session {
  partner_id: string;
  name: string;
  expires_at: string;
  csrf_token: string;
}

export interface OpenSession {
  created_at: string;
  used_at: string;
  expires_at: string;
  current: boolean;
}

export interface Settings {
  partner_id: string;
  name: string;
  status: string;
  webhook_url: string | null;
  logo_url: string | null;
  logo_id: string | null;
  rate_limit_per_sec: number;
  key_hint: string;
  plan: { max_wabas: number | null; active_wabas: number; slots: number };
  webhook_secret: { created_at: string; previous_expires_at: string | null } | null;
  /** The threshold of each cause; null without an alert. */
  alerts: Record<string, string | number | boolean | null>;
  raised_alerts: RaisedAlert[];
}

/** A threshold of the partner's that was crossed. */
export interface RaisedAlert {
  cause: string;
  day: string;
  value: string;
  threshold: string;
  currency: string | null;
  phone_number_id: string | null;
  raised_at: string;
}

export interface Client {
  waba_id: string;
  phone_number_id: string;
  phone_number: string;
  display_name: string;
  status: 'active' | 'deleted';
  quality_rating: string | null;
  messaging_limit_tier: string | null;
  throughput_level: string | null;
  registered_at: string;
  last_activity_at: string | null;
  health?: string;
  data_sync?: DataSync | null;
}

/** Contacts and history of the business app, which must be requested within 24 hours. */
export interface DataSync {
  status: 'requested' | 'waiting' | 'expired';
  contacts_requested_at: string | null;
  history_requested_at: string | null;
  request_until: string;
  /** Null before its first part has arrived. */
  history: HistorySync | null;
}

export interface HistorySync {
  phase: number | null;
  /** Percentage of the whole. */
  progress: number | null;
  received_at: string;
  error: { code: number; message: string } | null;
}

export interface Counts {
  sent: number;
  delivered: number;
  read: number;
  failed: number;
  billable: number;
  free: number;
}

export interface Usage {
  period: { from: string; to: string };
  endpoints: Array<{ endpoint: string; calls: number; errors: number }>;
  messages: Record<string, Counts>;
  billing: { slots: number; peak_active_wabas: number; active_wabas: number; fee_usd: number };
}

export interface Invoice {
  status: string;
  month: string;
  slot: number;
  amount_cents: number;
  covers: string | null;
  payment_url: string | null;
  created_at: string;
  paid_at: string | null;
}

export interface Billing {
  processor: string;
  state: 'active' | 'billing_failed' | 'payment_action_required';
  card: { brand: string; last4: string; exp_month: number; exp_year: number } | null;
  invoices: Invoice[];
  waiting_waba_ids: string[];
}

export interface FailedEvent {
  event_id: string;
  event: string;
  waba_id: string;
  phone_number_id: string | null;
  status: 'failed' | 'retrying';
  attempts: number;
  created_at: string;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
  last_http_status: number | null;
  last_error: string | null;
  payload: unknown;
}

export interface FailedEvents {
  count: number;
  total?: number;
  events: FailedEvent[];
  paging: { cursors: { after: string | null } };
}

export interface TestEvent {
  event_id: string;
  delivered: boolean;
  http_status: number | null;
  duration_ms: number;
  error: string | null;
}

export interface TemplateComponent {
  type: string;
  format?: string;
  text?: string;
  example?: Record<string, unknown>;
  buttons?: Array<{ type: string; text: string; url?: string; phone_number?: string }>;
}

export interface Template {
  id: string;
  name: string;
  language: string;
  category: string;
  status: string;
  components: TemplateComponent[];
}

export interface Broadcast {
  id: number;
  waba_id: string;
  phone_number_id: string;
  name: string;
  template_name: string;
  template_language: string;
  total: number;
  sent: number;
  delivered: number;
  failed: number;
  status: 'pending' | 'scheduled' | 'processing' | 'completed' | 'cancelled';
  scheduled_at: string | null;
  started_at: string | null;
  completed_at: string | null;
  created_at: string | null;
}

export interface BroadcastDetail extends Broadcast {
  error_log: string | null;
  skipped: number;
  duplicates: number;
  rate_per_sec: number | null;
  estimated_completion_at: string | null;
  failures: Array<{ code: string; count: number; example_recipient: string | null }>;
}

export interface OnboardingEvent {
  state: string | null;
  current_step: string;
  error_code: string | null;
  error_message: string | null;
  waba_id: string | null;
  phone_number_id: string | null;
  created_at: string;
}

export interface Notice {
  id: string;
  severity: 'info' | 'action_required' | 'breaking';
  effective: string;
  text: string;
}

export interface Envelope {
  event: string;
  waba_id: string;
  phone_number_id: string | null;
  timestamp: number;
  data?: Record<string, unknown>;
}

export interface LoggedEvent {
  seq: number;
  event_id: string;
  event: string;
  logged_at: string;
  envelope: Envelope;
  delivery: {
    status: 'pending' | 'delivered' | 'retrying' | 'failed' | 'dropped';
    attempts: number;
    last_http_status: number | null;
    last_duration_ms: number | null;
    delivered_at: string | null;
  };
}

export interface EventPage {
  events: LoggedEvent[];
  next: number;
  has_more: boolean;
  oldest: number;
  newest: number;
}

export interface Attempt {
  number: number;
  at: string;
  duration_ms: number;
  http_status: number | null;
  error: string | null;
  answer: string | null;
}

export interface CheckReason {
  code: string;
  message: string;
  fix: string;
  scope: 'broadcast' | 'contacts';
  /** Null if it concerns no single contacts. */
  contacts: number | null;
  examples: Array<{ field: string; recipient: string | null; message: string }>;
}

export interface BroadcastCheck {
  deliverable: 'yes' | 'no' | 'unknown';
  reasons: CheckReason[];
  broadcast: {
    total: number;
    failing: number;
    ends_at: string;
    duration_s: number;
    cost: {
      currency: string | null;
      min: string | null;
      max: string | null;
      free: number;
      reason: string | null;
    } | null;
  } | null;
}

export interface Message {
  message_id: string;
  direction: 'outbound' | 'inbound';
  waba_id: string;
  phone_number_id: string;
  kind: string;
  contact: string | null;
  status: string | null;
  at: string;
  updated_at: string;
  pricing: { category: string | null; billable: boolean | null; type: string | null } | null;
  broadcast: boolean;
}

export interface MessagePage {
  messages: Message[];
  paging: { cursors: { after: string | null } };
}

export interface TimelineEntry {
  type: string;
  at: string;
  trace_id: string | null;
  request_id?: string;
  participant?: string;
  idempotency_key?: string;
  http_status?: number;
  duration_ms?: number;
  upstream_trace_id?: string;
  status?: string;
  received_at?: string;
  superseded?: boolean;
  source?: string;
  error_code?: string;
  event_id?: string;
  event?: string;
  delivery_status?: string;
  number?: number;
  error?: string;
}

export interface MessageTimeline {
  message: Message;
  entries: TimelineEntry[];
  broadcast: { broadcast_id: number; name: string; contact_state: string } | null;
  missing: string[];
}

export interface Replay {
  replay_id: string;
  status: 'running' | 'completed' | 'failed';
  first: number;
  last: number;
  position: number;
  delivered: number;
  failed_event_id: string | null;
  error: string | null;
}

export interface LedgerAmounts {
  messages: number;
  charged: number;
  unpriced: number;
  amounts: Array<{ currency: string; amount: string }>;
}

export interface LedgerEntry {
  message_id: string;
  recipient: string;
  sent_at: string;
  status: string;
  category_asked: string | null;
  category: string | null;
  category_changed: boolean;
  charged: boolean | null;
  market: string | null;
  currency: string | null;
  amount: string | null;
  billable_unlike_check: boolean;
  late_at: string | null;
}

export interface LedgerChange {
  template_name: string;
  template_language: string;
  category_asked: string;
  category: string;
  since: string | null;
}

export interface LedgerPage {
  months: Array<{ month: string; status: string }>;
  entries: LedgerEntry[];
  next: string | null;
  totals?: LedgerAmounts & {
    by_number: Array<LedgerAmounts & { phone_number_id: string }>;
    by_category: Array<LedgerAmounts & { category: string | null }>;
    by_market: Array<LedgerAmounts & { market: string | null }>;
    by_day: Array<LedgerAmounts & { day: string }>;
  };
  category_changes?: LedgerChange[];
}

/** A call of the API with the partner key. */
export interface LoggedRequest {
  at: string;
  method: string;
  path: string;
  status: number;
  code: string | null;
  duration_ms: number;
  request_id: string;
}
