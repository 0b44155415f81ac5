// Groups: created, changed and deleted asynchronously, with the results in webhooks.
import { numberOf, routesOf, type Call, type Core } from '../core';
import { invalid, upstreamError, webhookError } from '../errors';
import { selectFields, type FieldRules } from '../fields';
import { digitsOf } from '../ids';
import { page } from '../paging';
import { metadataOf, seconds } from '../statuses';
import type { BusinessNumber, Group, GroupParticipant, JsonObject } from '../types';
import { isObject, requiredText, requireOneOf, requireProduct, SUCCESS } from './parameters';
import { words } from '../../testkit/words';

const SUBJECT_MAX = 128;
const DESCRIPTION_MAX = 2048;
const REMOVALS_MAX = 8;
const GROUPS_MAX = 10_000;
const PAGE_MAX = 1024;

const GROUP_RULES: FieldRules = {
  node_type: 'Group',
  defaults: ['id', 'messaging_product'],
  known: words(`
    subject description participants join_approval_mode suspended creation_timestamp
    total_participant_count
  `),
};

export const groupRoutes = routesOf('whatsapp_business_messaging', {
  'GET /:number/groups': list,
  'POST /:number/groups': create,
  'GET /:group': read,
  'DELETE /:group': remove,
  'DELETE /:group/participants': removeParticipants,
});

function requireGroups(number: BusinessNumber): void {
  if (number.groups === 'ineligible') throw upstreamError(131215);
  if (number.groups === 'disabled') throw upstreamError(131000, 'Groups are not enabled');
  if (!number.registered) throw upstreamError(133010);
}

function groupOf(call: Call): Group {
  const group = call.state.groups.get(call.segments[0] as string) as Group;
  requireGroups(ownerOf(call.core, group));
  return group;
}

function ownerOf(core: Core, group: Group): BusinessNumber {
  return core.state.numbers.get(group.phone_number_id) as BusinessNumber;
}

/** The array is one level deeper than in every other list. */
function list(call: Call): JsonObject {
  const number = numberOf(call);
  requireGroups(number);
  const groups = number.group_ids.map((id) => call.state.groups.get(id) as Group);
  const shown = page(groups, ({ id }) => id, call, {
    size_max: PAGE_MAX,
    bad_cursor: () => upstreamError(131059),
  });
  return {
    data: {
      groups: shown.items.map(({ id, subject, creation_timestamp }) => ({
        id,
        subject,
        created_at: String(creation_timestamp),
      })),
    },
    ...(shown.paging ? { paging: shown.paging } : {}),
  };
}

function create(call: Call): JsonObject {
  const number = numberOf(call);
  const { body, core } = call;
  requireProduct(body);
  requireGroups(number);
  const subject = requiredText(call, 'subject');
  const { description = '' } = body;
  if (subject.length > SUBJECT_MAX) {
    throw invalid(`Param subject must be a string of at most ${SUBJECT_MAX} characters`);
  }
  if (typeof description !== 'string' || description.length > DESCRIPTION_MAX) {
    throw invalid(`Param description must be a string of at most ${DESCRIPTION_MAX} characters`);
  }
  const join_approval_mode = String(body['join_approval_mode'] ?? 'auto_approve');
  requireOneOf(join_approval_mode, 'join_approval_mode', ['auto_approve', 'approval_required']);
  if (number.group_ids.length >= GROUPS_MAX) throw upstreamError(131211);
  const request_id = core.ids.request();
  const group = newGroup(core, number, { subject, description, join_approval_mode });
  core.webhooks.later(core.behaviour.current.lifecycle_delay_ms, () => {
    if (!core.state.numbers.has(number.id)) return;
    core.state.groups.set(group.id, group);
    number.group_ids.push(group.id);
    announce(core, number, 'group_lifecycle_update', {
      group_id: group.id,
      type: 'group_create',
      request_id,
      subject: group.subject,
      ...(group.description ? { description: group.description } : {}),
      invite_link: group.invite_link,
      join_approval_mode,
    });
  });
  return { messaging_product: 'whatsapp', request_id };
}

export function newGroup(core: Core, number: BusinessNumber, given: Partial<Group>): Group {
  return {
    id: core.ids.group(),
    waba_id: number.waba_id,
    phone_number_id: number.id,
    subject: '',
    description: '',
    join_approval_mode: 'auto_approve',
    invite_link: core.ids.inviteLink(),
    suspended: false,
    creation_timestamp: Math.floor(Date.now() / 1000),
    participants: [],
    ...given,
  };
}

function announce(core: Core, number: BusinessNumber, field: string, group: JsonObject): void {
  const account = core.state.accountOf(number);
  const value = {
    messaging_product: 'whatsapp',
    metadata: metadataOf(number),
    groups: [{ timestamp: seconds(Date.now()), ...group }],
  };
  core.webhooks.notify(account, { field, value });
}

function read(call: Call): JsonObject {
  const group = groupOf(call);
  return selectFields(
    {
      ...group,
      messaging_product: 'whatsapp',
      total_participant_count: group.participants.length,
    },
    call.query,
    GROUP_RULES,
  );
}

function remove(call: Call): JsonObject {
  const group = groupOf(call);
  const { core } = call;
  const number = ownerOf(core, group);
  const request_id = core.ids.request();
  call.state.groups.delete(group.id);
  number.group_ids = number.group_ids.filter((id) => id !== group.id);
  core.webhooks.later(core.behaviour.current.lifecycle_delay_ms, () => {
    announce(core, number, 'group_lifecycle_update', {
      group_id: group.id,
      type: 'group_delete',
      request_id,
    });
  });
  return SUCCESS;
}

function removeParticipants(call: Call): JsonObject {
  const group = groupOf(call);
  const { body, core } = call;
  requireProduct(body);
  const list = body['participants'];
  if (!Array.isArray(list) || list.length === 0) {
    throw invalid('The parameter participants is required.');
  }
  if (list.length > REMOVALS_MAX) throw upstreamError(131204);
  const inputs = (list as unknown[]).map(inputOf);
  if (new Set(inputs).size !== inputs.length) throw upstreamError(131202);
  const request_id = core.ids.request();
  core.webhooks.later(core.behaviour.current.lifecycle_delay_ms, () => {
    finishRemoval(core, group, inputs, request_id);
  });
  return { messaging_product: 'whatsapp', request_id };
}

/** Each entry has either `user` or `user_id`, not both. */
function inputOf(entry: unknown): string {
  const { user, user_id } = isObject(entry) ? entry : {};
  if ((typeof user === 'string') === (typeof user_id === 'string')) {
    throw invalid('Each element of participants needs either a user or a user_id');
  }
  return (user ?? user_id) as string;
}

function finishRemoval(core: Core, group: Group, inputs: string[], request_id: string): void {
  const removed: JsonObject[] = [];
  const failed: JsonObject[] = [];
  for (const input of inputs) {
    const index = group.participants.findIndex((participant) => isPerson(participant, input));
    if (index < 0) {
      failed.push({ input, errors: [webhookError(131212)] });
      continue;
    }
    group.participants.splice(index, 1);
    removed.push({ input });
  }
  announce(core, ownerOf(core, group), 'group_participants_update', {
    group_id: group.id,
    type: 'group_participants_remove',
    request_id,
    initiated_by: 'business',
    removed_participants: removed,
    ...(failed.length > 0
      ? {
          failed_participants: failed,
          errors: [webhookError(131201, undefined, 'Some participants could not be removed')],
        }
      : {}),
  });
}

function isPerson(participant: GroupParticipant, input: string): boolean {
  return participant.user_id === input || participant.wa_id === digitsOf(input);
}
