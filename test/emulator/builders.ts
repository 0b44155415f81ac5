// Builds complete records of platform objects, for the seed and for objects created through
// control.
import type { Account, BusinessNumber, Flow, Template, Token } from './types';

export type AccountInput = Partial<Account> & { id: string };
export type NumberInput = Partial<BusinessNumber> & { id: string; waba_id: string };
export type TemplateInput = Partial<Template> & { id: string; waba_id: string; name: string };
export type TokenInput = Partial<Token> & { token: string };

export function buildAccount(input: AccountInput): Account {
  const serial = input.id.slice(-12).padStart(12, '0');
  return {
    name: `Example Shop ${Number(input.id.slice(-3))}`,
    portfolio: {
      id: `6${input.id.slice(1)}`,
      name: `Example Holding ${Number(input.id.slice(-3))}`,
    },
    currency: 'USD',
    timezone_id: '1',
    country: 'US',
    account_review_status: 'APPROVED',
    business_verification_status: 'verified',
    message_template_namespace: `0a1b2c3d_0000_4000_8000_${serial}`,
    ownership_type: 'CLIENT_OWNED',
    is_enabled_for_insights: true,
    subscribed: false,
    number_ids: [],
    templates: new Map(),
    flows: [],
    solutions: [],
    schedules: [],
    activities: [],
    assigned_users: [],
    analytics: new Map(),
    template_creations: [],
    ...input,
  };
}

export function buildNumber(input: NumberInput): BusinessNumber {
  return {
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
    pin: null,
    registered: true,
    groups: 'disabled',
    onboarded_at: Date.now(),
    sync_requested: [],
    registrations: [],
    pin_failures: 0,
    verification_code: null,
    code_requests: [],
    rate_per_sec: null,
    profile: {},
    automation: {},
    commerce: null,
    settings: {
      calling: {
        status: 'DISABLED',
        call_icon_visibility: 'DEFAULT',
        callback_permission_status: 'DISABLED',
      },
      storage_configuration: { status: 'DEFAULT' },
      payload_encryption: { status: 'DISABLED' },
    },
    qr_codes: new Map(),
    blocked: new Map(),
    group_ids: [],
    ...input,
  };
}

export function buildTemplate(input: TemplateInput): Template {
  return {
    language: 'en_US',
    category: 'UTILITY',
    status: 'APPROVED',
    parameter_format: 'POSITIONAL',
    components: [{ type: 'BODY', text: 'Hello' }],
    quality_score: 'GREEN',
    rejected_reason: 'NONE',
    pacing: 'none',
    created_at: Date.now(),
    ...input,
  };
}

export function buildFlow(input: Partial<Flow> & { id: string; waba_id: string }): Flow {
  return {
    name: 'signup',
    status: 'PUBLISHED',
    categories: ['SIGN_UP'],
    validation_errors: [],
    json_version: '7.3',
    updated_at: '2026-09-20T10:15:30+0000',
    ...input,
  };
}

export function buildToken(input: TokenInput): Token {
  return {
    type: 'SYSTEM_USER',
    user_id: '400000000000001',
    scopes: ['whatsapp_business_management', 'whatsapp_business_messaging'],
    waba_ids: [],
    lists_targets: true,
    issued_at: Math.floor(Date.now() / 1000),
    expires_at: 0,
    invalid: null,
    ...input,
  };
}
