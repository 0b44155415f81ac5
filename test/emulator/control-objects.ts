// Control requests for an account's objects: templates, groups, customers, media.
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
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
import { derivedBsuid } from './ids';
import { generatedMedia } from './inbound';
import { newGroup } from './operations/groups';
import { addMedia, mediaUrl } from './operations/media';
import { announceCategory, announceQuality, announceStatus } from './operations/templates';
import { buildTemplate, type GroupParticipant, type JsonObject, type Template } from './types';

const GENERATED_MAX_BYTES = 200 * 1024 * 1024;
const MEDIA_LIFETIME_MS = 7 * 24 * 3600 * 1000;

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

/**
 * Creates a template, or changes one and announces the change by webhook, as the platform would.
 */
function changeTemplate(call: ControlCall, input: TemplateInput): JsonObject {
  const { core } = call;
  const account = theAccount(call, input.waba_id);
  const { name, language = 'en_US', category: first = 'UTILITY' } = input;
  if (!name) throw bad('name is required');
  const existing = [...account.templates.values()].find(
    (template) => template.name === name && template.language === language,
  );
  const template =
    existing ??
    core.state.addTemplate(
      buildTemplate({
        ...{ id: core.ids.numeric('template'), waba_id: account.id, name, language },
        ...{ category: first, status: input.status ?? 'APPROVED' },
      }),
    );
  const { components, parameter_format, pacing } = input;
  if (components) template.components = components;
  if (parameter_format) template.parameter_format = parameter_format;
  if (pacing) template.pacing = pacing;
  if (existing) announceChanges(call, existing, input);
  const { id, status, category, quality_score } = template;
  return { id, name, language, status, category, quality_score };
}

function announceChanges(
  { core }: ControlCall,
  template: Template,
  { status, reason = 'NONE', category, quality_score }: TemplateInput,
): void {
  if (status && status !== template.status) announceStatus(core, template, status, reason);
  if (category && category !== template.category) announceCategory(core, template, category);
  if (quality_score && quality_score !== template.quality_score) {
    announceQuality(core, template, quality_score);
  }
}

function createGroup(call: ControlCall, input: GroupInput): JsonObject {
  const { core } = call;
  const { subject = 'Group', participants = [] } = input;
  const owner = theNumber(call, input.phone_number_id);
  const group = newGroup(core, owner, { subject });
  group.participants.push(...(participants as GroupParticipant[]));
  core.state.groups.set(group.id, group);
  owner.group_ids.push(group.id);
  return { ...group };
}

function saveCustomer(call: ControlCall, input: CustomerInput): JsonObject {
  const { wa_id = null, name = 'Customer', call_permission = false } = input;
  const portfolio_id = theAccount(call, input.waba_id).portfolio.id;
  const user_id = input.user_id ?? (wa_id ? derivedBsuid(portfolio_id, wa_id) : null);
  if (!user_id) throw bad('wa_id or user_id is required');
  const nothing = { parent_user_id: null, username: null };
  const customer = { wa_id, user_id, name, call_permission, ...nothing };
  call.core.state.saveCustomer(portfolio_id, customer);
  return customer;
}

/** Creates media as if a customer had sent them: from given bytes, or generated in any size. */
async function createMedia(call: ControlCall, input: MediaInput): Promise<JsonObject> {
  const { core } = call;
  const { mime_type = 'image/jpeg', filename = null, base64, size_bytes: size = 2048 } = input;
  const owner = theNumber(call, input.phone_number_id);
  const media =
    base64 === undefined
      ? generatedMedia(core, owner, { mime_type, size, filename })
      : addMedia(core, owner, {
          ...(await store(call, Buffer.from(base64, 'base64'))),
          ...{ mime_type, filename, lifetime_ms: MEDIA_LIFETIME_MS },
        });
  const { id, sha256 } = media;
  return { id, mime_type, size_bytes: media.size, sha256, url: mediaUrl(core, media) };
}

async function store({ core }: ControlCall, bytes: Buffer) {
  const path = core.media.newPath();
  await writeFile(path, bytes);
  return { path, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}
