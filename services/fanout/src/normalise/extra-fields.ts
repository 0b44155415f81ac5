// Fields whose events are extra, and pass on the upstream's own keys.
import type { ExtraUpstreamEvent } from '@bmg/common/messages';
import { objectOf, partyOf, toText, type JsonObject } from '@bmg/common/upstream-webhook';
import {
  emitExtra,
  keyOfContent,
  lists,
  timeOf,
  type Context,
  type FieldFunction,
  type FieldRows,
} from './context';
import { templateOf } from './templates';

type Data = Record<string, unknown>;

/** The keys that frame a value are no part of its content. */
const FRAME = ['field', 'messaging_product', 'metadata', 'contacts'];

/** One event for each value. */
const whole =
  (event: ExtraUpstreamEvent, dataOf: (value: JsonObject) => Data): FieldFunction =>
  (value, context) =>
    emitExtra(context, {
      event,
      occurrence: keyOfContent(event, value, context),
      timestamp: timeOf(value.timestamp, context),
      data: dataOf(value),
    });

/** The value's own keys. Those named here are always present, and their IDs are text. */
const keysOf =
  (...names: string[]) =>
  (value: JsonObject): Data => {
    const data: Data = {};
    for (const name of names) {
      data[name] = name.endsWith('_id') ? toText(value[name]) : (value[name] ?? null);
    }
    for (const [name, given] of Object.entries(value)) {
      if (!FRAME.includes(name) && !Object.hasOwn(data, name)) data[name] = given;
    }
    return data;
  };

const alertKeys = keysOf(
  'entity_type',
  'entity_id',
  'alert_type',
  'alert_severity',
  'alert_status',
  'alert_description',
);

/** The upstream's samples are flat, its traffic is not. */
function alertOf({ alert_info, ...value }: JsonObject): Data {
  return alertKeys({ ...value, ...objectOf(alert_info) });
}

const componentsOf = (value: JsonObject): Data => ({
  ...templateOf(value),
  title: value.message_template_title ?? null,
  element: value.message_template_element ?? null,
  footer: value.message_template_footer ?? null,
  buttons: value.message_template_buttons ?? null,
});

const categoryOf = (value: JsonObject): Data => ({
  ...templateOf(value),
  category: toText(value.category),
  correct_category: toText(value.correct_category),
});

function readPreference(item: JsonObject, context: Context): void {
  const { phone, bsuid, contact } = partyOf(context, toText(item.wa_id), toText(item.user_id));
  const { category, value: preference, wa_id: _wa_id, user_id: _user_id, ...more } = item;
  const timestamp = timeOf(item.timestamp, context);
  emitExtra(context, {
    event: 'contact.preference_updated',
    occurrence: keyOfContent('preference', item, context, contact),
    contact,
    timestamp,
    data: {
      phone_number: phone,
      bsuid,
      category: toText(category),
      preference: toText(preference),
      ...more,
      timestamp,
    },
  });
}

function readConversion(item: JsonObject, context: Context): void {
  const { id, timestamp: given, ...more } = item;
  const timestamp = timeOf(given, context);
  emitExtra(context, {
    event: 'conversion.detected',
    occurrence: keyOfContent('conversion', item, context, toText(id)),
    timestamp,
    data: { message_id: toText(id), event_name: toText(item.event_name), ...more, timestamp },
  });
}

export const extraFields: FieldRows = {
  user_preferences: lists({ user_preferences: readPreference }),
  automatic_events: lists({ automatic_events: readConversion }),
  phone_number_name_update: whole(
    'number.name_updated',
    keysOf('display_phone_number', 'decision', 'requested_verified_name', 'rejection_reason'),
  ),
  security: whole('number.security_updated', keysOf('display_phone_number', 'event', 'requester')),
  account_alerts: whole('waba.alert', alertOf),
  account_settings_update: whole('waba.settings_updated', keysOf('type', 'phone_number_settings')),
  business_status_update: whole('business.status_updated', keysOf('business_id', 'event')),
  partner_solutions: whole('solution.updated', keysOf('event', 'solution_id', 'solution_status')),
  payment_configuration_update: whole(
    'payment.configuration_updated',
    keysOf('configuration_name', 'provider_name', 'provider_mid', 'status'),
  ),
  flows: whole('flow.updated', keysOf('flow_id', 'event', 'message')),
  message_template_components_update: whole('template.components_updated', componentsOf),
  template_correct_category_detection: whole('template.category_detected', categoryOf),
};
