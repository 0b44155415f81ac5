// Control requests for an account's objects: templates, groups, customers, media.
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { buildTemplate } from './builders';
import {
  bad,
  ControlError,
  flag,
  listOf,
  number,
  onlyKeys,
  text,
  theAccount,
  theNumber,
  type ControlCall,
  type ControlRoute,
} from './control-parts';
import { derivedBsuid } from './ids';
import { generatedMedia } from './inbound';
import { announce } from './operations/groups';
import { addMedia, mediaUrl } from './operations/media';
import { announceCategory, announceQuality, announceStatus } from './operations/templates';
import type { BusinessNumber, Group, GroupParticipant, JsonObject, Template } from './types';
import { words } from '../testkit/words';

const GENERATED_MAX_BYTES = 200 * 1024 * 1024;
const MEDIA_LIFETIME_MS = 7 * 24 * 3600 * 1000;

export const controlObjectRoutes: readonly ControlRoute[] = [
  { method: 'POST', path: 'templates', handler: changeTemplate },
  { method: 'POST', path: 'groups', status: 201, handler: createGroup },
  { method: 'POST', path: 'groups/join', handler: joinGroup },
  { method: 'POST', path: 'customers', status: 201, handler: saveCustomer },
  { method: 'POST', path: 'media', status: 201, handler: createMedia },
];

// --- templates ---

const TEMPLATE_KEYS = words(`
  waba_id name language category status reason quality_score parameter_format components pacing
`);

/**
 * Creates a template, or changes one and announces the change by webhook, as the platform would.
 */
function changeTemplate(call: ControlCall): JsonObject {
  const { core, body } = call;
  onlyKeys(body, TEMPLATE_KEYS);
  const account = theAccount(call, text(body, 'waba_id'));
  const name = text(body, 'name');
  if (!name) throw bad('name is required');
  const language = text(body, 'language') ?? 'en_US';
  const existing = [...account.templates.values()].find(
    (template) => template.name === name && template.language === language,
  );
  const pacing = text(body, 'pacing');
  if (pacing !== undefined && !['none', 'release', 'drop'].includes(pacing)) {
    throw bad('pacing must be one of none, release, drop');
  }
  const template =
    existing ??
    core.state.addTemplate(
      buildTemplate({
        id: core.ids.numeric('template'),
        waba_id: account.id,
        name,
        language,
        category: text(body, 'category') ?? 'UTILITY',
        status: text(body, 'status') ?? 'APPROVED',
      }),
    );
  if (body['components'] !== undefined) template.components = listOf(body, 'components');
  if (body['parameter_format'] === 'NAMED') template.parameter_format = 'NAMED';
  if (pacing !== undefined) template.pacing = pacing as typeof template.pacing;
  if (existing) announceChanges(call, existing);
  const { id, status, category, quality_score } = template;
  return { id, name, language, status, category, quality_score };
}

function announceChanges({ core, body }: ControlCall, template: Template): void {
  const status = text(body, 'status');
  const category = text(body, 'category');
  const quality = text(body, 'quality_score');
  if (status !== undefined && status !== template.status) {
    announceStatus(core, template, status, text(body, 'reason') ?? 'NONE');
  }
  if (category !== undefined && category !== template.category) {
    announceCategory(core, template, category);
  }
  if (quality !== undefined && quality !== template.quality_score) {
    announceQuality(core, template, quality);
  }
}

// --- groups, customers, media ---

function createGroup(call: ControlCall): JsonObject {
  const { core, body } = call;
  onlyKeys(body, ['phone_number_id', 'id', 'subject', 'description', 'participants', 'suspended']);
  const owner = theNumber(call, text(body, 'phone_number_id'));
  const group: Group = {
    id: text(body, 'id') ?? core.ids.group(),
    phone_number_id: owner.id,
    subject: text(body, 'subject') ?? 'Group',
    description: text(body, 'description') ?? '',
    join_approval_mode: 'auto_approve',
    invite_link: core.ids.inviteLink(),
    suspended: flag(body, 'suspended') ?? false,
    creation_timestamp: Math.floor(Date.now() / 1000),
    participants: listOf(body, 'participants') as GroupParticipant[],
  };
  core.state.groups.set(group.id, group);
  owner.group_ids.push(group.id);
  return { ...group };
}

/** A customer joins by the invite link. */
function joinGroup(call: ControlCall): JsonObject {
  const { core, body } = call;
  onlyKeys(body, ['group_id', 'wa_id', 'user_id']);
  const group = core.state.groups.get(text(body, 'group_id') ?? '');
  if (!group) throw new ControlError(404, 'group_id does not exist');
  const owner = core.state.numbers.get(group.phone_number_id) as BusinessNumber;
  const wa_id = text(body, 'wa_id');
  const portfolio_id = core.state.accountOf(owner).portfolio.id;
  const user_id = text(body, 'user_id') ?? (wa_id ? derivedBsuid(portfolio_id, wa_id) : undefined);
  if (!user_id) throw bad('wa_id or user_id is required');
  const person: GroupParticipant = { ...(wa_id ? { wa_id } : {}), user_id };
  group.participants.push(person);
  announce(core, owner, 'group_participants_update', {
    group_id: group.id,
    type: 'group_participants_add',
    reason: 'invite_link',
    added_participants: [person],
  });
  return { participants: group.participants.length };
}

function saveCustomer(call: ControlCall): JsonObject {
  const { core, body } = call;
  onlyKeys(body, [
    'waba_id',
    'wa_id',
    'user_id',
    'parent_user_id',
    'name',
    'username',
    'call_permission',
  ]);
  const portfolio_id = theAccount(call, text(body, 'waba_id')).portfolio.id;
  const wa_id = text(body, 'wa_id') ?? null;
  const user_id = text(body, 'user_id') ?? (wa_id ? derivedBsuid(portfolio_id, wa_id) : null);
  if (!user_id) throw bad('wa_id or user_id is required');
  const customer = {
    wa_id,
    user_id,
    parent_user_id: text(body, 'parent_user_id') ?? null,
    name: text(body, 'name') ?? 'Customer',
    username: text(body, 'username') ?? null,
    call_permission: flag(body, 'call_permission') ?? false,
  };
  core.state.saveCustomer(portfolio_id, customer);
  return customer;
}

/** Creates media as if a customer had sent them: from given bytes, or generated in any size. */
async function createMedia(call: ControlCall): Promise<JsonObject> {
  const { core, body } = call;
  onlyKeys(body, ['phone_number_id', 'mime_type', 'base64', 'size_bytes', 'filename']);
  const owner = theNumber(call, text(body, 'phone_number_id'));
  const mime_type = text(body, 'mime_type') ?? 'image/jpeg';
  const filename = text(body, 'filename');
  const base64 = text(body, 'base64');
  const size = number(body, 'size_bytes') ?? 2048;
  if (!Number.isInteger(size) || size < 0 || size > GENERATED_MAX_BYTES) {
    throw bad(`size_bytes must be from 0 to ${GENERATED_MAX_BYTES}`);
  }
  const media =
    base64 === undefined
      ? generatedMedia(core, owner, { mime_type, size, ...(filename ? { filename } : {}) })
      : addMedia(core, owner, {
          ...(await store(call, Buffer.from(base64, 'base64'))),
          mime_type,
          filename: filename ?? null,
          lifetime_ms: MEDIA_LIFETIME_MS,
        });
  return {
    id: media.id,
    mime_type,
    size_bytes: media.size,
    sha256: media.sha256,
    url: mediaUrl(core, media),
  };
}

async function store({ core }: ControlCall, bytes: Buffer) {
  const path = core.media.newPath();
  await writeFile(path, bytes);
  return { path, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}
