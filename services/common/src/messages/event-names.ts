// The names of all events. Those beyond the contract's are extra events: extra-events.ts has the
// rule for them. gateway/src/openapi/events.ts documents each.

/** The contract's, which are made of the upstream's webhooks; make golden writes them here. */
const CONTRACT_EVENTS = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.echo',
  'message.history',
  'contact.synced',
  'template.status_updated',
  'template.quality_updated',
  'template.category_updated',
  'waba.account_updated',
  'waba.review_updated',
  'waba.quality_updated',
  'waba.tier_updated',
  'waba.pricing_tier_updated',
  'waba.offboarded',
  'waba.reconnected',
  'standby.message_received',
  'standby.message_echo',
  'standby.message_status',
  'group_lifecycle_update',
] as const;
/** Extra events that are made of the upstream's webhooks, too. */
const EXTRA_UPSTREAM_EVENTS = [
  'call.connect',
  'call.terminate',
  'call.status',
  'handover.updated',
  'contact.preference_updated',
  'contact.id_changed',
  'number.name_updated',
  'number.security_updated',
  'waba.alert',
  'waba.settings_updated',
  'business.status_updated',
  'solution.updated',
  'payment.configuration_updated',
  'flow.updated',
  'template.components_updated',
  'template.category_detected',
  'conversion.detected',
  'upstream.other',
] as const;
/** Extra events that onboarding makes. */
export const ONBOARDING_EVENTS = [
  'client.connected',
  'client.failed',
  'client.removed',
  'partner.notice',
] as const;

// Events about a partner's account and receivers: additions to the contract, too.
export const ALERT_EVENT = 'partner.alert';
export const ENDPOINT_DISABLED_EVENT = 'webhook.endpoint_disabled';
export const TEST_EVENT = 'webhook.test';

/** All that fanout makes of the upstream's webhooks. */
export const UPSTREAM_EVENTS = [...CONTRACT_EVENTS, ...EXTRA_UPSTREAM_EVENTS] as const;
export const EXTRA_EVENTS = [...EXTRA_UPSTREAM_EVENTS, ...ONBOARDING_EVENTS] as const;
export const EVENT_NAMES = [
  ...CONTRACT_EVENTS,
  ...EXTRA_EVENTS,
  ALERT_EVENT,
  ENDPOINT_DISABLED_EVENT,
  TEST_EVENT,
] as const;

export type UpstreamEvent = (typeof UPSTREAM_EVENTS)[number];
export type ExtraUpstreamEvent = (typeof EXTRA_UPSTREAM_EVENTS)[number];
export type ExtraEvent = (typeof EXTRA_EVENTS)[number];
export type EventName = (typeof EVENT_NAMES)[number];
