// Messaging quality and messaging limits, which upstream reports in two fields: per number
// (`phone_number_quality_update`) and per account (`business_capability_update`).
import { toText, type JsonObject } from '@bmg/common/upstream-webhook';
import {
  changeState,
  emit,
  emitOther,
  keyOfContent,
  refuse,
  type Context,
  type FieldRows,
} from './context';

const THROUGHPUT_UPGRADE = 'THROUGHPUT_UPGRADE';
const QUALITY_EVENTS: ReadonlySet<string> = new Set(['FLAGGED', 'UNFLAGGED']);
const LIMIT_EVENTS: ReadonlySet<string> = new Set(['ONBOARDING', 'UPGRADE', 'DOWNGRADE']);

/** The throughput level that upstream reports for an upgraded number. */
const THROUGHPUT_UPGRADED = 'HIGH';

const UNLIMITED = 'UNLIMITED';
const WHOLE_NUMBER = /^-?\d+$/;

export const limitFields: FieldRows = {
  business_capability_update: businessCapability,
  phone_number_quality_update: numberQuality,
};

function numberQuality(value: JsonObject, context: Context): void {
  const event = toText(value.event);
  if (event === null) return refuse(context, 'no_event_name', value);
  // Its limit is the throughput, not the messaging limit, so it must not become an event.
  if (event === THROUGHPUT_UPGRADE) {
    return changeState(context, {
      kind: 'throughput',
      occurrence: keyOfContent('throughput', value, context),
      data: { throughput_level: THROUGHPUT_UPGRADED },
    });
  }
  const limited = isLimitChange(event, value);
  const data = {
    event,
    display_phone_number: toText(value.display_phone_number),
    messaging_limit_tier: messagingLimitTier(
      value.current_limit ?? value.max_daily_conversations_per_business,
    ),
  };
  if (QUALITY_EVENTS.has(event) || !limited) {
    emit(context, {
      event: 'waba.quality_updated',
      occurrence: keyOfContent('quality', value, context, event),
      data,
    });
  }
  if (limited) {
    emit(context, {
      event: 'waba.tier_updated',
      occurrence: keyOfContent('tier', value, context, event),
      data: { ...data, previous_messaging_limit_tier: messagingLimitTier(value.old_limit) },
    });
  }
}

function businessCapability(value: JsonObject, context: Context): void {
  const limit = messagingLimitTier(
    value.max_daily_conversations_per_business ?? value.max_daily_conversation_per_phone,
  );
  if (limit === null) return emitOther(context, 'no_event', value);
  emit(context, {
    event: 'waba.tier_updated',
    occurrence: keyOfContent('tier', value, context, limit),
    data: { messaging_limit_tier: limit, previous_messaging_limit_tier: null },
  });
}

/**
 * Converts a limit to the contract's spelling: upstream sends 2000, "TIER_2K", -1 or
 * "TIER_UNLIMITED". Unknown spellings pass unchanged.
 */
export function messagingLimitTier(limit: unknown): string | null {
  const text = toText(limit);
  if (text === null || !WHOLE_NUMBER.test(text))
    return text === 'TIER_UNLIMITED' ? UNLIMITED : text;
  if (text.startsWith('-')) return UNLIMITED;
  return `TIER_${text.endsWith('000') ? `${text.slice(0, -3)}K` : text}`;
}

function isLimitChange(event: string, value: JsonObject): boolean {
  if (LIMIT_EVENTS.has(event)) return true;
  const old = toText(value.old_limit);
  return old !== null && old !== toText(value.current_limit);
}
