// The types of the answers that the console reads. Those of the public API come from its OpenAPI document,
// through the client package.
import type { components, Envelope as AnyEnvelope } from '@bmg/client';

type Schemas = components['schemas'];

export type Client = Schemas['ClientRecord'];
export type DataSync = Schemas['DataSync'];
export type HistorySync = NonNullable<Schemas['HistorySync']>;
export type Usage = Schemas['GetUsageAnswer'];
export type Counts = Usage['messages'][string];
export type OnboardingEvent = Schemas['OnboardingEvent'];
export type FailedEvents = Schemas['ListFailedEventsAnswer'];
export type FailedEvent = Schemas['FailedEvent'];
export type Template = Omit<Schemas['Template'], 'components'> & {
  components: TemplateComponent[];
};
export type Broadcast = Schemas['Broadcast'];
export type BroadcastDetail = Schemas['BroadcastDetail'];
/** Of a broadcast, every reason has its contacts and examples. */
export type CheckReason = Required<Schemas['CheckMessageAnswer']['reasons'][number]>;
export type BroadcastCheck = Omit<Schemas['CheckMessageAnswer'], 'reasons'> & {
  reasons: CheckReason[];
};
/** What the screens read of any event, whatever its data. */
export type Envelope = Pick<AnyEnvelope, 'event' | 'waba_id' | 'phone_number_id' | 'timestamp'> & {
  data?: Record<string, unknown>;
};
export type LoggedEvent = Omit<Schemas['LoggedEvent'], 'envelope'> & { envelope: Envelope };
export type EventPage = Omit<Schemas['ListEventsAnswer'], 'events'> & { events: LoggedEvent[] };
export type Attempt = Schemas['DeliveryAttempt'];
export type Replay = Schemas['Replay'];
export type Message = Schemas['Message'];
export type MessagePage = Schemas['ListMessagesAnswer'];
export type MessageTimeline = Schemas['GetTimelineAnswer'];
export type TimelineEntry = Schemas['TimelineEntry'];
export type LedgerPage = Schemas['GetLedgerAnswer'];
export type LedgerEntry = Schemas['LedgerEntry'];
export type LedgerAmounts = Pick<
  Schemas['LedgerTotals'],
  'messages' | 'charged' | 'unpriced' | 'amounts'
>;
export type LedgerChange = NonNullable<LedgerPage['category_changes']>[number];

/** A component of a template, whose content only the upstream defines. */
export interface TemplateComponent {
  type: string;
  format?: string;
  text?: string;
  example?: Record<string, unknown>;
  buttons?: Array<{ type: string; text: string; url?: string; phone_number?: string }>;
}

// Answers below /dashboard/api. They are written by hand: that API is private to the console, is released
// with it, and has no schemas of its answers.

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

export interface TestEvent {
  event_id: string;
  delivered: boolean;
  http_status: number | null;
  duration_ms: number;
  error: string | null;
}

export interface Notice {
  id: string;
  severity: 'info' | 'action_required' | 'breaking';
  effective: string;
  text: string;
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
