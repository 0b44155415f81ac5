// Events of a business account as a whole. They name no number.
import type { UpstreamEvent } from '@bmg/common/messages';
import {
  objectOf,
  toDigits,
  toNumber,
  toText,
  type JsonObject,
} from '@bmg/common/upstream-webhook';
import { changeState, emit, keyOfContent, refuse, type Context, type FieldRows } from './context';
import type { StateChangeKind } from './types';

interface Row {
  readonly event?: UpstreamEvent;
  readonly data?: (value: JsonObject, context: Context) => Record<string, unknown>;
  /** The state change for our own services. */
  readonly state?: StateChangeKind;
}

/** Any upstream event without a row becomes `waba.account_updated`. */
const ACCOUNT_EVENTS: ReadonlyMap<string, Row> = new Map<string, Row>([
  ['VOLUME_BASED_PRICING_TIER_UPDATE', { event: 'waba.pricing_tier_updated', data: pricingTier }],
  ['ACCOUNT_OFFBOARDED', { event: 'waba.offboarded', state: 'offboarded' }],
  ['ACCOUNT_RECONNECTED', { event: 'waba.reconnected', state: 'reconnected' }],
  ['PARTNER_ADDED', { state: 'partner_added' }],
  ['PARTNER_REMOVED', { state: 'partner_removed' }],
]);

export const accountFields: FieldRows = {
  account_update: accountUpdate,
  account_review_update: accountReview,
};

function accountUpdate(value: JsonObject, context: Context): void {
  const name = toText(value.event);
  if (name === null) return refuse(context, 'no_event_name', value);
  const row = ACCOUNT_EVENTS.get(name) ?? {};
  emit(context, {
    event: row.event ?? 'waba.account_updated',
    occurrence: keyOfContent('account', value, context, name),
    data: row.data?.(value, context) ?? withoutFieldName(value),
    digits: row.event && row.state ? toDigits(value.phone_number) : null,
  });
  if (row.state === undefined) return;
  changeState(context, {
    kind: row.state,
    occurrence: keyOfContent(row.state, value, context),
    data: withoutFieldName(value),
    digits: toDigits(value.phone_number),
  });
}

function accountReview(value: JsonObject, context: Context): void {
  const decision = toText(value.decision);
  if (decision === null) return refuse(context, 'no_decision', value);
  emit(context, {
    event: 'waba.review_updated',
    occurrence: keyOfContent('review', value, context, decision),
    data: { decision },
  });
}

/**
 * `event` and its details (ban_info, restriction_info …) in the upstream's spelling. Some upstream
 * samples repeat the field's name inside the value; it is left out.
 */
function withoutFieldName(value: JsonObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'field'));
}

/**
 * Several events may describe one change, and the one with the smallest `tier_update_time` counts.
 * The partner chooses among them, so the time is included.
 */
function pricingTier(value: JsonObject, { place }: Context): Record<string, unknown> {
  const tier = objectOf(value.volume_tier_info) ?? {};
  return {
    waba_id: place.waba_id,
    pricing_category: toText(tier.pricing_category),
    tier: toText(tier.tier),
    region: toText(tier.region),
    effective_month: toText(tier.effective_month),
    tier_update_time: toNumber(tier.tier_update_time),
  };
}
