// Message templates of an account: list, create (then review), edit, delete.
import { accountOf, routesOf, type Call, type Core } from '../core';
import { invalid, unknownObject, upstreamError } from '../errors';
import { selectFields, type FieldRules } from '../fields';
import { requireRoom } from '../limits';
import { listAnswer, page } from '../paging';
import { buildTemplate, type Account, type JsonObject, type Template } from '../types';
import { LIBRARY } from './template-library';
import { checkTemplateComponents } from './template-rules';
import { isObject, parameter, requiredText, requireOneOf, SUCCESS } from './parameters';
import { words } from '../../testkit/words';

type Format = Template['parameter_format'];
const NAME = /^[a-z0-9_]{1,512}$/;
const CATEGORIES = ['MARKETING', 'UTILITY', 'AUTHENTICATION'];
const FILTERS = ['language', 'category', 'status', 'quality_score'] as const;
const TEMPLATES_UNVERIFIED_MAX = 250;
const TEMPLATES_VERIFIED_MAX = 6000;
const CREATIONS_MAX = 100;
const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;
/**
 * An approved template can be edited as often:
 * https://developers.facebook.com/docs/whatsapp/business-management-api/message-templates
 */
const EDITS_A_DAY = 1;
const EDITS_IN_30_DAYS = 10;
const EDITABLE = ['APPROVED', 'REJECTED', 'PAUSED'];

const TEMPLATE_RULES: FieldRules = {
  node_type: 'MessageTemplate',
  defaults: ['name', 'parameter_format', 'components', 'language', 'status', 'category', 'id'],
  known: words(`
    quality_score rejected_reason sub_category previous_category correct_category
    library_template_name message_send_ttl_seconds cta_url_link_tracking_opted_out
    last_updated_time
  `),
};

export const templateRoutes = routesOf('whatsapp_business_management', {
  'GET /:account/message_templates': list,
  'POST /:account/message_templates': create,
  'DELETE /:account/message_templates': remove,
  'GET /:template': (call) => show(call, templateOf(call)),
  'POST /:template': edit,
});

function show(call: Call, template: Template): JsonObject {
  const { created_at, ...node } = template;
  return selectFields(
    {
      ...node,
      quality_score: { score: template.quality_score, date: Math.floor(created_at / 1000) },
      last_updated_time: new Date(created_at).toISOString(),
    },
    call.query,
    TEMPLATE_RULES,
  );
}

function list(call: Call): JsonObject {
  const { query } = call;
  const name = query.get('name') ?? '';
  const content = query.get('content') ?? query.get('name_or_content') ?? '';
  const templates = [...accountOf(call).templates.values()].filter(
    (one) =>
      one.name.includes(name) &&
      FILTERS.every((field) => (query.get(field) || one[field]) === one[field]) &&
      `${one.name} ${JSON.stringify(one.components)}`.includes(content),
  );
  const shown = page(templates, ({ id }) => id, call);
  return listAnswer(shown, (template) => show(call, template));
}

const templateOf = (call: Call): Template =>
  call.state.templates.get(call.segments[0] as string) as Template;

function create(call: Call): JsonObject {
  const account = accountOf(call);
  const { body } = call;
  const name = requiredText(call, 'name');
  const language = requiredText(call, 'language');
  const category = requiredText(call, 'category').toUpperCase();
  if (!NAME.test(name)) {
    throw invalid('Param name may hold lower-case letters, digits and underscores only', {
      subcode: 2388293,
    });
  }
  requireOneOf(category, 'category', CATEGORIES);
  const parameter_format = String(body['parameter_format'] ?? 'POSITIONAL').toUpperCase() as Format;
  requireOneOf(parameter_format, 'parameter_format', ['POSITIONAL', 'NAMED']);
  const { library_template_name } = body;
  const components =
    library_template_name === undefined
      ? componentsOf(body['components'])
      : libraryComponents(library_template_name, language, category);
  checkTemplateComponents(components, category, parameter_format);
  checkRoom(account, name, language);
  account.template_creations.push(Date.now());
  const template = call.state.addTemplate(
    buildTemplate({
      id: call.core.ids.numeric('template'),
      waba_id: account.id,
      ...{ name, language, category, parameter_format, components },
      // The library's content has been reviewed.
      status: library_template_name === undefined ? 'PENDING' : 'APPROVED',
      quality_score: 'UNKNOWN',
      ...settingsOf(body),
      ...(typeof library_template_name === 'string' && { library_template_name }),
    }),
  );
  review(call.core, template);
  return { id: template.id, status: template.status, category };
}

function settingsOf({ message_send_ttl_seconds: ttl }: JsonObject): Partial<Template> {
  if (ttl === undefined) return {};
  if (typeof ttl !== 'number' || !Number.isInteger(ttl) || ttl < -1 || ttl === 0) {
    throw invalid('Param message_send_ttl_seconds must be a number of seconds or -1');
  }
  return { message_send_ttl_seconds: ttl };
}

function libraryComponents(name: unknown, language: string, category: string): JsonObject[] {
  const found = LIBRARY.find((one) => one.name === name && one.language === language);
  if (!found) throw invalid(`The library has no template ${String(name)} in ${language}`);
  if (found.category !== category) throw invalid('Param category must be that of the library');
  const { header, body, body_params } = found;
  return [
    ...(header === undefined ? [] : [{ type: 'HEADER', format: 'TEXT', text: header }]),
    { type: 'BODY', text: body, example: { body_text: [body_params] } },
  ];
}

function componentsOf(value: unknown): JsonObject[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isObject)) {
    throw invalid('The parameter components is required.');
  }
  return value.map((component) => ({
    ...component,
    type: String(component['type'] ?? '').toUpperCase(),
  }));
}

function checkRoom(account: Account, name: string, language: string): void {
  for (const template of account.templates.values()) {
    if (template.name === name && template.language === language) {
      throw invalid('Content in this language already exists', {
        subcode: 2388024,
        user_title: 'Content in this language already exists',
        user_msg: `There is already ${language} content for this template. Create another one.`,
      });
    }
  }
  const verified = account.business_verification_status === 'verified';
  if (account.templates.size >= (verified ? TEMPLATES_VERIFIED_MAX : TEMPLATES_UNVERIFIED_MAX)) {
    throw upstreamError(2388019);
  }
  const refusal = upstreamError(80007, 'Too many templates were created for this account');
  requireRoom(account.template_creations, CREATIONS_MAX, HOUR_MS, refusal);
}

function review(core: Core, template: Template): void {
  const { outcome, delay_ms } = core.behaviour.current.template_review;
  if (outcome === 'none') return;
  core.webhooks.later(delay_ms, () => {
    if (!core.state.templates.has(template.id) || template.status !== 'PENDING') return;
    if (outcome === 'approve') changeStatus(core, template, 'APPROVED');
    else changeStatus(core, template, 'REJECTED', 'INVALID_FORMAT');
  });
}

/** Changes a template's status and posts the webhook, as the platform does after a review. */
export function changeStatus(
  core: Core,
  template: Template,
  status: string,
  reason = 'NONE',
): void {
  template.status = status;
  template.rejected_reason = status === 'REJECTED' ? reason : 'NONE';
  announce(core, template, 'message_template_status_update', {
    event: status,
    reason,
    message_template_category: template.category,
    ...(status === 'REJECTED' && {
      rejection_info: {
        reason: 'The template does not follow the rules of the format',
        recommendation: 'Change the text and submit it again',
      },
    }),
  });
}

export function changeQuality(core: Core, template: Template, new_quality_score: string): void {
  const previous_quality_score = template.quality_score;
  template.quality_score = new_quality_score;
  const change = { previous_quality_score, new_quality_score };
  announce(core, template, 'message_template_quality_update', change);
}

export function changeCategory(core: Core, template: Template, new_category: string): void {
  const previous_category = template.category;
  Object.assign(template, { previous_category, category: new_category });
  announce(core, template, 'template_category_update', { previous_category, new_category });
}

function announce(core: Core, template: Template, field: string, change: JsonObject): void {
  const account = core.state.accounts.get(template.waba_id);
  if (!account) return;
  const value = {
    ...change,
    message_template_id: template.id,
    message_template_name: template.name,
    message_template_language: template.language,
  };
  core.webhooks.notify(account, { field, value }, { timed: true });
}

function edit(call: Call): JsonObject {
  const template = templateOf(call);
  const { components, category, message_send_ttl_seconds } = call.body;
  if ([components, category, message_send_ttl_seconds].every((value) => value === undefined)) {
    throw invalid('One of components, category and message_send_ttl_seconds is required.');
  }
  if (!EDITABLE.includes(template.status)) {
    throw invalid(`A template that is ${template.status} cannot be edited`);
  }
  const approved = template.status === 'APPROVED';
  const { edited_at } = template;
  if (approved && (category ?? template.category) !== template.category) {
    throw invalid('The category of an approved template cannot be edited');
  }
  if (approved) {
    const refusal = invalid('An approved template can be edited once a day, ten times in 30 days');
    requireRoom(edited_at, EDITS_A_DAY, DAY_MS, refusal);
    requireRoom(edited_at, EDITS_IN_30_DAYS, 30 * DAY_MS, refusal);
  }
  if (components !== undefined) {
    const next = componentsOf(components);
    checkTemplateComponents(next, template.category, template.parameter_format);
    template.components = next;
  }
  if (typeof category === 'string') template.category = category.toUpperCase();
  Object.assign(template, settingsOf(call.body));
  if (approved) edited_at.push(Date.now());
  template.status = 'PENDING';
  review(call.core, template);
  return { success: true, id: template.id, category: template.category };
}

/** Deletes all languages of a name, or only the one of the given ID. */
function remove(call: Call): JsonObject {
  const account = accountOf(call);
  const name = requiredText(call, 'name');
  const id = parameter(call, 'hsm_id');
  const found = [...account.templates.values()].filter(
    (template) => template.name === name && (id === undefined || template.id === id),
  );
  if (found.length === 0) {
    if (id !== undefined) throw unknownObject(call.method, String(id));
    throw invalid(`The message template ${name} was not found`, {
      subcode: 2593002,
      user_title: 'Message template not found',
      user_msg: 'The message template that you try to delete does not exist.',
    });
  }
  for (const template of found) call.state.removeTemplate(template);
  return SUCCESS;
}
