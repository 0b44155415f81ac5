// Generated from gateway/src/openapi/events.ts by make golden.
import { EXTRA_UPSTREAM_EVENTS } from '@bmg/common/messages';

export const EVENT_NAMES = [
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
  ...EXTRA_UPSTREAM_EVENTS,
] as const;

export type EventName = (typeof EVENT_NAMES)[number];
