// Control requests for an account's objects: templates, groups, customers, media.
import { Readable } from 'node:stream';
import {
  bad,
  flag,
  number,
  objects,
  oneOf,
  route,
  text,
  theAccount,
  theNumber,
  type ControlCall,
  type Input,
} from './control-parts';
import { newGroup } from './operations/groups';
import { customerMedia, mediaUrl } from './operations/media';
import { changeCategory, changeQuality, changeStatus } from './operations/templates';
import {
  buildCustomer,
  buildTemplate,
  type Customer,
  type GroupParticipant,
  type JsonObject,
  type Template,
} from './types';

const GENERATED_MAX_BYTES = 200 * 1024 * 1024;

const TEMPLATE = {
  ...{ waba_id: text, name: text, language: text, category: text, status: text, reason: text },
  ...{ quality_score: text, parameter_format: oneOf('POSITIONAL', 'NAMED'), components: objects },
  pacing: oneOf('none', 'release', 'drop'),
};
const GROUP = { phone_number_id: text, subject: text, participants: objects };
const CUSTOMER = { waba_id: text, wa_id: text, user_id: text, name: text, call_permission: flag };
const MEDIA = {
  ...{ phone_number_id: text, mime_type: text, base64: text, filename: text },
  size_bytes: number(0, GENERATED_MAX_BYTES),
};

export const controlObjectRoutes = [
  route('POST templates', TEMPLATE, changeTemplate),
  route('POST groups', GROUP, createGroup, 201),
  route('POST customers', CUSTOMER, saveCustomer, 201),
  route('POST media', MEDIA, createMedia, 201),
];

export type TemplateInput = Input<typeof TEMPLATE>;
export type GroupInput = Input<typeof GROUP>;
export type CustomerInput = Input<typeof CUSTOMER>;
export type MediaInput = Input<typeof MEDIA>;

/** Creates a template, or changes one; webhooks announce the change, as the platform's do. */
function changeTemplate(call: ControlCall, input: TemplateInput): JsonObject {
  const { core } = call;
  const account = theAccount(call, input.waba_id);
  const { waba_id: _account, name, language = 'en_US', reason, ...fields } = input;
  const { category, status, quality_score, ...silent } = fields;
  if (!name) throw bad('name is required');
  const existing = [...account.templates.values()].find(
    (template) => template.name === name && template.language === language,
  );
  const template =
    existing ??
    core.state.addTemplate(
      buildTemplate({
        ...{ id: core.ids.numeric('template'), waba_id: account.id, name, language },
        ...(fields as Partial<Template>),
      }),
    );
  Object.assign(template, silent);
  if (status && status !== template.status) changeStatus(core, template, status, reason);
  if (category && category !== template.category) changeCategory(core, template, category);
  if (quality_score && quality_score !== template.quality_score) {
    changeQuality(core, template, quality_score);
  }
  return {
    ...{ id: template.id, name, language, status: template.status, category: template.category },
    quality_score: template.quality_score,
  };
}

function createGroup(call: ControlCall, input: GroupInput): JsonObject {
  const { core } = call;
  const owner = theNumber(call, input.phone_number_id);
  const { subject = 'Group' } = input;
  const participants = (input.participants ?? []) as GroupParticipant[];
  const group = newGroup(core, owner, { subject, participants });
  core.state.groups.set(group.id, group);
  owner.group_ids.push(group.id);
  return { ...group };
}

function saveCustomer(call: ControlCall, input: CustomerInput): JsonObject {
  const { waba_id, ...fields } = input;
  const { wa_id, user_id } = fields;
  const portfolio_id = theAccount(call, waba_id).portfolio.id;
  const { state } = call.core;
  if (!wa_id && !user_id) throw bad('wa_id or user_id is required');
  const base = wa_id ? state.customerByPhone(portfolio_id, wa_id) : buildCustomer({ user_id: '' });
  const customer = Object.assign({ ...base, call_permission: false }, fields) as Customer;
  state.saveCustomer(portfolio_id, customer);
  return customer;
}

/** Creates media as if a customer had sent them: from given bytes, or generated in any size. */
async function createMedia(call: ControlCall, input: MediaInput): Promise<JsonObject> {
  const { core } = call;
  const { mime_type = 'image/jpeg', filename = null, base64, size_bytes = 2048 } = input;
  const owner = theNumber(call, input.phone_number_id);
  const bytes = Readable.from([Buffer.from(base64 ?? '', 'base64')]);
  const stored =
    base64 === undefined ? { size: size_bytes } : await core.media.store(bytes, Infinity);
  const media = customerMedia(core, owner, { mime_type, filename, ...stored });
  const { id, sha256, size } = media;
  return { id, mime_type, size_bytes: size, sha256, url: mediaUrl(core, media) };
}
