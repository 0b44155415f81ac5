// The emulator's records, with a builder of each that has many fields: its type follows from the
// values that it has by default. Fields have the platform's own names if they exist, so that a node
// can be read directly from its record.

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export type Scope = 'whatsapp_business_management' | 'whatsapp_business_messaging';

export interface DayCount {
  sent: number;
  delivered: number;
}

export interface QrCode {
  code: string;
  prefilled_message: string;
  deep_link_url: string;
}

export interface BlockedUser {
  wa_id?: string;
  user_id?: string;
}

/** A send of a held template answers `held_for_quality_assessment`, then is released or dropped. */
export type Pacing = 'none' | 'release' | 'drop';

export interface SignupCode {
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
  file_type: string;
  file_length: number;
  offset: number;
  path: string;
  handle: string | null;
}

export interface Group {
  id: string;
  waba_id: string;
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
  type: string;
  raw: string;
  biz_opaque_callback_data: string | null;
  time: number;
  category: string;
  template_id: string | null;
  /** A service message or a utility template inside an open window is free. */
  free: boolean;
  /** The statuses that the message has had; webhooks may have been lost. */
  history: StatusRecord[];
}

export interface StatusRecord {
  status: StatusName;
  at: number;
  description: string | null;
}

/** A builder of records: `defaults` fills in the fields that a caller leaves out. */
const builderOf =
  <Own extends object, Defaults extends object>(defaults: (own: Own) => Defaults) =>
  (own: Own & Partial<Defaults>): Own & Defaults => ({ ...defaults(own), ...own });

export type Account = ReturnType<typeof buildAccount>;
/** A customer of one portfolio. */
export type Customer = ReturnType<typeof buildCustomer>;
export type BusinessNumber = ReturnType<typeof buildNumber>;
export type Template = ReturnType<typeof buildTemplate>;
export type Flow = ReturnType<typeof buildFlow>;
export type Token = ReturnType<typeof buildToken>;

export const buildAccount = builderOf(({ id }: { id: string }) => ({
  name: `Example Shop ${Number(id.slice(-3))}`,
  portfolio: { id: `6${id.slice(1)}`, name: `Example Holding ${Number(id.slice(-3))}` },
  currency: 'USD',
  timezone_id: '1',
  country: 'US',
  account_review_status: 'APPROVED',
  business_verification_status: 'verified',
  message_template_namespace: `0a1b2c3d_0000_4000_8000_${id.slice(-12).padStart(12, '0')}`,
  ownership_type: 'CLIENT_OWNED',
  is_enabled_for_insights: true,
  subscribed: false,
  number_ids: [] as string[],
  templates: new Map<string, Template>(),
  flows: [] as Flow[],
  solutions: [] as JsonObject[],
  activities: [] as JsonObject[],
  assigned_users: [] as JsonObject[],
  /** Half hour (epoch seconds) → digits of the number → counts. */
  analytics: new Map<number, Map<string, DayCount>>(),
  template_creations: [] as number[],
}));

export const buildNumber = builderOf((_own: { id: string; waba_id: string }) => ({
  display_phone_number: '+1 555-010-0000',
  verified_name: 'Example Shop',
  status: 'CONNECTED',
  quality_rating: 'GREEN',
  name_status: 'APPROVED',
  code_verification_status: 'VERIFIED',
  platform_type: 'CLOUD_API',
  is_on_biz_app: false,
  is_official_business_account: false,
  account_mode: 'LIVE',
  throughput_level: 'STANDARD',
  messaging_limit_tier: 'TIER_2K',
  country_code: 'US',
  country_dial_code: '1',
  pin: null as string | null,
  registered: true,
  groups: 'disabled' as 'enabled' | 'disabled' | 'ineligible',
  /** When the business connected the number; the 24 hours for sync requests start here. */
  onboarded_at: Date.now(),
  sync_requested: [] as string[],
  registrations: [] as number[],
  pin_failures: 0,
  verification_code: null as string | null,
  code_requests: [] as number[],
  profile: {} as JsonObject,
  automation: {} as JsonObject,
  commerce: null as { is_cart_enabled: boolean; is_catalog_visible: boolean } | null,
  settings: {
    calling: {
      status: 'DISABLED',
      call_icon_visibility: 'DEFAULT',
      callback_permission_status: 'DISABLED',
    },
    storage_configuration: { status: 'DEFAULT' },
    payload_encryption: { status: 'DISABLED' },
  } as JsonObject,
  qr_codes: new Map<string, QrCode>(),
  blocked: new Map<string, BlockedUser>(),
  group_ids: [] as string[],
}));

export interface OfTemplate {
  id: string;
  waba_id: string;
  name: string;
  previous_category?: string;
  library_template_name?: string;
  message_send_ttl_seconds?: number;
}
export const buildTemplate = builderOf((_own: OfTemplate) => ({
  language: 'en_US',
  category: 'UTILITY',
  status: 'APPROVED',
  parameter_format: 'POSITIONAL' as 'POSITIONAL' | 'NAMED',
  components: [{ type: 'BODY', text: 'Hello' }] as JsonObject[],
  quality_score: 'GREEN',
  rejected_reason: 'NONE',
  pacing: 'none' as Pacing,
  /** Times of changes while it was approved. */
  edited_at: [] as number[],
  created_at: Date.now(),
}));

export const buildCustomer = builderOf((_own: { user_id: string }) => ({
  wa_id: null as string | null,
  parent_user_id: null as string | null,
  name: 'Customer',
  username: null as string | null,
  call_permission: false,
}));

export const buildFlow = builderOf((_own: { id: string; waba_id: string }) => ({
  name: 'signup',
  status: 'PUBLISHED',
  categories: ['SIGN_UP'],
  validation_errors: [] as JsonObject[],
  json_version: '7.3',
  updated_at: '2026-09-20T10:15:30+0000',
}));

export const buildToken = builderOf((_own: { token: string }) => ({
  type: 'SYSTEM_USER',
  user_id: '400000000000001',
  scopes: ['whatsapp_business_management', 'whatsapp_business_messaging'] as Scope[],
  /** Accounts that the token may access; `all` is the app owner's system user. */
  waba_ids: [] as string[] | 'all',
  /**
   * False leaves `target_ids` out of debug_token: a grant that is not limited to listed objects.
   */
  lists_targets: true,
  issued_at: Math.floor(Date.now() / 1000),
  expires_at: 0,
  invalid: false,
}));
