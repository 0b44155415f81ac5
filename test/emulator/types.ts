// The emulator's records. Fields have the platform's own names if they exist, so that a node can
// be read directly from its record.

export type JsonObject = Record<string, unknown>;

export type Scope = 'whatsapp_business_management' | 'whatsapp_business_messaging';

export interface Portfolio {
  id: string;
  name: string;
}

export interface Account {
  id: string;
  name: string;
  portfolio: Portfolio;
  currency: string;
  timezone_id: string;
  country: string;
  account_review_status: string;
  business_verification_status: string;
  message_template_namespace: string;
  ownership_type: string;
  is_enabled_for_insights: boolean;
  subscribed: boolean;
  number_ids: string[];
  templates: Map<string, Template>;
  flows: Flow[];
  solutions: JsonObject[];
  schedules: JsonObject[];
  activities: JsonObject[];
  assigned_users: JsonObject[];
  /** Half hour (epoch seconds) → digits of the number → counts. */
  analytics: Map<number, Map<string, DayCount>>;
  /** Times of template creations within the last hour (the platform allows 100). */
  template_creations: number[];
}

export interface DayCount {
  sent: number;
  delivered: number;
}

export type GroupsState = 'enabled' | 'disabled' | 'ineligible';

export interface BusinessNumber {
  id: string;
  waba_id: string;
  display_phone_number: string;
  verified_name: string;
  status: string;
  quality_rating: string;
  name_status: string;
  code_verification_status: string;
  platform_type: string;
  is_on_biz_app: boolean;
  is_official_business_account: boolean;
  account_mode: string;
  throughput_level: string;
  messaging_limit_tier: string;
  country_code: string;
  country_dial_code: string;
  pin: string | null;
  registered: boolean;
  groups: GroupsState;
  /** When the business connected the number; the 24 hours for sync requests start here. */
  onboarded_at: number;
  sync_requested: string[];
  registrations: number[];
  pin_failures: number;
  verification_code: string | null;
  code_requests: number[];
  /** Messages per second; null is the default of the number's kind, 0 is no limit. */
  rate_per_sec: number | null;
  profile: JsonObject;
  automation: JsonObject;
  commerce: { is_cart_enabled: boolean; is_catalog_visible: boolean } | null;
  settings: JsonObject;
  qr_codes: Map<string, QrCode>;
  blocked: Map<string, BlockedUser>;
  group_ids: string[];
}

export interface QrCode {
  code: string;
  prefilled_message: string;
  deep_link_url: string;
  image_format: 'PNG' | 'SVG' | null;
}

export interface BlockedUser {
  wa_id?: string;
  user_id?: string;
}

/** A send of a held template answers `held_for_quality_assessment`, then is released or dropped. */
export type Pacing = 'none' | 'release' | 'drop';

export interface Template {
  id: string;
  waba_id: string;
  name: string;
  language: string;
  category: string;
  status: string;
  parameter_format: 'POSITIONAL' | 'NAMED';
  components: JsonObject[];
  quality_score: string;
  rejected_reason: string;
  previous_category?: string;
  pacing: Pacing;
  created_at: number;
  /** Times of changes while it was approved. */
  edited_at?: number[];
  library_template_name?: string;
  message_send_ttl_seconds?: number;
}

export interface Flow {
  id: string;
  waba_id: string;
  name: string;
  status: string;
  categories: string[];
  validation_errors: JsonObject[];
  json_version: string;
  updated_at: string;
}

export interface Token {
  token: string;
  type: string;
  user_id: string;
  scopes: Scope[];
  /** Accounts that the token may access; `all` is the app owner's system user. */
  waba_ids: string[] | 'all';
  /**
   * False leaves `target_ids` out of debug_token: a grant that is not limited to listed objects.
   */
  lists_targets: boolean;
  issued_at: number;
  expires_at: number;
  invalid: { code: number; subcode: number; message: string } | null;
}

export interface SignupCode {
  code: string;
  token: string;
  expires_at: number;
  used: boolean;
}

export interface Media {
  id: string;
  waba_id: string;
  phone_number_id: string;
  mime_type: string;
  sha256: string;
  size: number;
  filename: string | null;
  /** The file with the bytes; null means a body that is generated while it is sent. */
  path: string | null;
  expires_at: number;
}

export interface Upload {
  id: string;
  token: string;
  file_name: string;
  file_type: string;
  file_length: number;
  offset: number;
  path: string;
  handle: string | null;
}

export interface Group {
  id: string;
  phone_number_id: string;
  subject: string;
  description: string;
  join_approval_mode: string;
  invite_link: string;
  suspended: boolean;
  creation_timestamp: number;
  participants: GroupParticipant[];
}

export interface GroupParticipant {
  wa_id?: string;
  user_id?: string;
  username?: string;
}

export interface CallRecord {
  id: string;
  phone_number_id: string;
  direction: 'BUSINESS_INITIATED' | 'USER_INITIATED';
  peer: { wa_id?: string; user_id?: string };
  state: 'ringing' | 'accepted' | 'ended';
  started_at: number;
  biz_opaque_callback_data: string | null;
}

/** A customer of one portfolio. */
export interface Customer {
  wa_id: string | null;
  user_id: string;
  parent_user_id: string | null;
  name: string;
  username: string | null;
  call_permission: boolean;
}

export type StatusName = 'sent' | 'delivered' | 'read' | 'failed';

/** An accepted send. The body stays raw text: a parsed copy would take three times the memory. */
export interface SentMessage {
  seq: number;
  id: string;
  waba_id: string;
  phone_number_id: string;
  to: string | null;
  recipient: string | null;
  wa_id: string | null;
  user_id: string | null;
  group_id: string | null;
  type: string;
  raw: string;
  biz_opaque_callback_data: string | null;
  time: number;
  category: string;
  template_id: string | null;
  /** A service message or a utility template inside an open window is free. */
  free: boolean;
  pacing: Pacing;
  /** The statuses that the message has had; webhooks may have been lost. */
  history: StatusRecord[];
}

export interface StatusRecord {
  status: StatusName;
  at: number;
  description: string | null;
}
