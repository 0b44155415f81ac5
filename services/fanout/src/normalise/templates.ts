// The three template fields that have an event in the contract.
import type { UpstreamEvent } from '@bmg/common/messages';
import { objectOf, toEpoch, toText, type JsonObject } from '@bmg/common/upstream-webhook';
import { emit, keyOfContent, refuse, type Context, type FieldRows } from './context';

const REJECTED = 'REJECTED';

/** Upstream sends this or null when there is no reason. */
const NO_REASON = 'NONE';

/** Explanations that upstream adds to a status; passed on unchanged. */
const EXPLANATIONS = ['rejection_info', 'disable_info', 'other_info'] as const;

export const templateFields: FieldRows = {
  message_template_status_update: templateStatus,
  message_template_quality_update: templateQuality,
  template_category_update: templateCategory,
};

function templateStatus(value: JsonObject, context: Context): void {
  const status = toText(value.event);
  if (status === null) return refuse(context, 'no_status', value);
  emitTemplate(value, context, {
    event: 'template.status_updated',
    space: 'template_status',
    kind: status,
    data: { status, ...reasonFor(status, value), ...templateOf(value), ...explanationsOf(value) },
  });
}

function templateQuality(value: JsonObject, context: Context): void {
  const new_quality = toText(value.new_quality_score);
  if (new_quality === null) return refuse(context, 'no_quality', value);
  emitTemplate(value, context, {
    event: 'template.quality_updated',
    space: 'template_quality',
    kind: new_quality,
    data: {
      previous_quality: toText(value.previous_quality_score),
      new_quality,
      ...templateOf(value),
    },
  });
}

/**
 * Upstream announces a change in advance: then `new_category` is the current category and
 * `correct_category` the coming one. The partner gets the coming one as new, marked `announced`.
 */
function templateCategory(value: JsonObject, context: Context): void {
  const coming = toText(value.correct_category);
  const stated = toText(value.new_category);
  const new_category = coming ?? stated;
  if (new_category === null) return refuse(context, 'no_category', value);
  const previous_category = coming === null ? toText(value.previous_category) : stated;
  const announcement =
    coming === null
      ? {}
      : { announced: true, effective_at: toEpoch(value.category_update_timestamp) };
  emitTemplate(value, context, {
    event: 'template.category_updated',
    space: 'template_category',
    kind: new_category,
    data: { previous_category, new_category, ...announcement, ...templateOf(value) },
  });
}

function emitTemplate(
  value: JsonObject,
  context: Context,
  template: { event: UpstreamEvent; space: string; kind: string; data: Record<string, unknown> },
): void {
  const id = toText(value.message_template_id) ?? toText(value.message_template_name);
  emit(context, {
    event: template.event,
    occurrence: keyOfContent(template.space, value, context, id, template.kind),
    data: template.data,
  });
}

/** Ids are strings, even if upstream sends numbers. */
export function templateOf(value: JsonObject): Record<string, unknown> {
  return {
    template_id: toText(value.message_template_id),
    template_name: toText(value.message_template_name),
    template_language: toText(value.message_template_language),
  };
}

/** `reason` is set on a rejection, otherwise only if upstream gives one (contract 12.4). */
function reasonFor(status: string, value: JsonObject): Record<string, unknown> {
  const stated = toText(value.reason);
  const reason = stated === NO_REASON ? null : stated;
  return status === REJECTED || reason !== null ? { reason } : {};
}

function explanationsOf(value: JsonObject): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const key of EXPLANATIONS) {
    const explanation = objectOf(value[key]);
    if (explanation !== null) found[key] = explanation;
  }
  return found;
}
