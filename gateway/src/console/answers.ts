// The answers of the console's API, beside `success: true`. The console takes its types from these
// schemas, and the tests of the API check every answer against them.
import { PARTNER_SEVERITIES } from '@bmg/common/notices';
import type { ObjectSchema, Properties, Schema, Static } from '../endpoints/parts/schema';

const text = { type: 'string' } as const;
const whole = { type: 'integer' } as const;
const milliseconds = { type: 'number' } as const;
const flag = { type: 'boolean' } as const;
const time = { type: 'string', format: 'date-time' } as const;

const orNull = <const S extends Schema>(schema: S) =>
  ({ anyOf: [schema, { type: 'null' }] }) as const;

const list = <const S extends Schema>(items: S) => ({ type: 'array', items }) as const;

/** An object with exactly these keys. */
const record = <const P extends Properties>(properties: P): ObjectSchema<P> => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

/** The type of a schema's values. All keys of a record are required, which `Static` cannot see. */
type Of<S extends Schema> = Complete<Static<S>>;
type Complete<T> =
  T extends ReadonlyArray<infer I>
    ? Array<Complete<I>>
    : T extends object
      ? { [K in keyof T]-?: Complete<T[K]> }
      : T;

/**
 * A value with exactly the keys of its schema. An unset key is null in JSON if it may be, so that
 * the caller sees that it exists.
 */
export function completed(schema: Schema, value: unknown): unknown {
  const [inner] = schema.anyOf ?? [];
  if (inner) return value === undefined || value === null ? null : completed(inner, value);
  const { items, properties } = schema;
  if (items) return (value as unknown[]).map((one) => completed(items, one));
  if (!properties) return value;
  const given = (value ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [name, completed(part, given[name])]),
  );
}

export const nothing = record({});

/** Who signed in: null for the partner key, which has all scopes. */
const signed_in_person = record({
  person_id: text,
  email: text,
  role: text,
  scopes: list(text),
});
/** The roles that have each scope. */
const holders = record({
  send: list(text),
  read: list(text),
  manage: list(text),
  billing: list(text),
});
export const session = record({
  partner_id: text,
  name: text,
  expires_at: time,
  csrf_token: text,
  /** Conversations show the texts that customers wrote. */
  shows_texts: flag,
  person: orNull(signed_in_person),
  holders,
});
export type Session = Of<typeof session>;

/** The ways to sign in, beside the partner key. */
const log_in = record({
  passkeys: flag,
  /** The host of the operator's issuer. */
  issuer: orNull(text),
});
export const current_session = record({ session: orNull(session), log_in });
export type CurrentSession = Of<typeof current_session>;

export const invitation = record({
  partner_name: text,
  email: text,
  role: text,
  expires_at: time,
});
export type Invitation = Of<typeof invitation>;

export const issuer_address = record({ url: text });

/** For the browser's own functions, which define its form. */
export const passkey_options = record({ options: { type: 'object' } });

const one_passkey = record({
  passkey_id: text,
  name: text,
  synced: flag,
  created_at: time,
  last_used_at: orNull(time),
});
export type Passkey = Of<typeof one_passkey>;
export const passkey = record({ passkey: one_passkey });
export const passkeys = record({ passkeys: list(one_passkey) });

const open_session = record({
  created_at: time,
  used_at: time,
  expires_at: time,
  current: flag,
  session_id: orNull(text),
  /** Null: opened with the partner key. */
  email: orNull(text),
});
export type OpenSession = Of<typeof open_session>;
export const sessions = record({ sessions: list(open_session) });

const raised_alert = record({
  cause: text,
  day: text,
  value: text,
  threshold: text,
  currency: orNull(text),
  phone_number_id: orNull(text),
  raised_at: time,
});
export type RaisedAlert = Of<typeof raised_alert>;

/** The threshold of each cause; null without an alert. */
const thresholds = record({
  spend_per_day: orNull(text),
  failure_rate: orNull(whole),
  webhook_failures: orNull(whole),
  quality_drops: orNull(flag),
  unpaid_slots: orNull(flag),
});

/** A notice that the operator sent to this partner. */
const partner_notice = record({
  notice_id: text,
  severity: { type: 'string', enum: PARTNER_SEVERITIES },
  subject: text,
  text,
  created_at: time,
});
export type PartnerNotice = Of<typeof partner_notice>;

const partner_settings = record({
  partner_id: text,
  name: text,
  status: text,
  webhook_url: orNull(text),
  extra_events: list(text),
  connect_origins: list(text),
  logo_url: orNull(text),
  logo_id: orNull(text),
  contacts: record({ technical: orNull(text), billing: orNull(text) }),
  rate_limit_per_sec: whole,
  key_hint: text,
  plan: record({ max_wabas: orNull(whole), active_wabas: whole, slots: whole }),
  webhook_secret: orNull(record({ created_at: time, previous_expires_at: orNull(time) })),
  alerts: thresholds,
  raised_alerts: list(raised_alert),
  notices: list(partner_notice),
});
export type Settings = Of<typeof partner_settings>;
export const settings = record({ settings: partner_settings });

export const revealed_secret = record({ webhook_secret: text, created_at: time });
export const rotated_secret = record({ webhook_secret: text });
export type WebhookSecret = Of<typeof rotated_secret>;

export const test_event = record({
  event_id: text,
  event: text,
  delivered: flag,
  http_status: orNull(whole),
  duration_ms: whole,
  error: orNull(text),
});
export type TestEvent = Of<typeof test_event>;

const invoice = record({
  status: text,
  month: text,
  slot: whole,
  amount_cents: whole,
  covers: orNull(text),
  payment_url: orNull(text),
  created_at: time,
  paid_at: orNull(time),
});
export type Invoice = Of<typeof invoice>;

const partner_billing = record({
  processor: text,
  state: { type: 'string', enum: ['active', 'billing_failed', 'payment_action_required'] },
  card: orNull(record({ brand: text, last4: text, exp_month: whole, exp_year: whole })),
  card_known: flag,
  invoices: list(invoice),
  waiting_waba_ids: list(text),
});
export type Billing = Of<typeof partner_billing>;
export const billing = record({ billing: partner_billing });
export const card_page = record({ url: text });

const number_day = record({
  day: text,
  quality_rating: orNull(text),
  messaging_limit_tier: orNull(text),
});
export type NumberDay = Of<typeof number_day>;
export const number_days = record({ days: list(number_day) });

/** The messages of a UTC day in a category. A status counts on the day on which it came. */
const message_day = record({
  day: text,
  category: text,
  sent: whole,
  delivered: whole,
  read: whole,
  failed: whole,
});
export type MessageDay = Of<typeof message_day>;
export const message_days = record({ days: list(message_day) });

const notice = record({
  id: text,
  severity: { type: 'string', enum: ['info', 'action_required', 'breaking'] },
  effective: text,
  text,
});
export type Notice = Of<typeof notice>;
export const notices = record({ notices: list(notice) });

/** `extra`: sent only where it is named. */
const known_event = record({ event: text, summary: text, extra: flag });
export type KnownEvent = Of<typeof known_event>;
export const known_events = record({ events: list(known_event) });

/** A call of the API with a key. */
const logged_request = record({
  id: text,
  at: time,
  method: text,
  path: text,
  status: whole,
  code: orNull(text),
  duration_ms: milliseconds,
  request_id: text,
  /** The keys of its query and body that were ignored. */
  ignored: orNull(text),
  /** The upstream's code, if the upstream refused it. */
  upstream_code: orNull(whole),
  /** What the error guide says of the code. */
  meaning: orNull(text),
  action: orNull(text),
  /** Null: the partner key, or a sign-up link. */
  key_id: orNull(text),
  waba_id: orNull(text),
  phone_number_id: orNull(text),
  /** JSON texts, without what people wrote. */
  parameters: orNull(text),
  request_body: orNull(text),
  answer_body: orNull(text),
});
export type LoggedRequest = Of<typeof logged_request>;
export const requests = record({
  requests: list(logged_request),
  /** The cursor of the next page. */
  after: orNull(text),
});
export type RequestPage = Of<typeof requests>;
/** Methods and paths. */
export const request_endpoints = record({ endpoints: list(text) });
