// Groups: creation, deletion and removal are asynchronous upstream; the results arrive as events.
import { invalidField, missingFields } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import {
  cursorsOf,
  isObject,
  needTarget,
  unusable,
  upstreamError,
  without,
  type Json,
  type Targeted,
  type UpstreamErrorBody,
} from '@bmg/common/upstream';
import type { Node } from '@bmg/proto/common';
import type { CreateGroupRequest, RemoveGroupParticipantsRequest } from '@bmg/proto/numberadmin';
import { groupsOf } from '../membership';
import type { Part, Tools } from '../tools';
import { outcome, pageQuery, usedLimit, userEntry } from '../requests';

const FIELDS =
  'subject,description,participants,join_approval_mode,suspended,creation_timestamp,total_participant_count';
const GROUPS_PAGE_MAX = 1_024;
/** Limits: a subject has at most 128 characters, a request removes at most 8 participants. */
const SUBJECT_MAX = 128;
const REMOVALS_MAX = 8;
/** Not all participants could be removed: HTTP 206 with an error object. */
const PARTIAL = 131_201;

function createBody({ subject, description, join_approval_mode }: CreateGroupRequest): Json {
  if (subject.trim() === '') throw missingFields(['subject']);
  if ([...subject].length > SUBJECT_MAX) {
    throw invalidField('subject', `must have at most ${SUBJECT_MAX} characters`);
  }
  return {
    messaging_product: 'whatsapp',
    subject,
    ...(description !== undefined && { description }),
    join_approval_mode: join_approval_mode || 'auto_approve',
  };
}

function removalBody({ participants }: RemoveGroupParticipantsRequest): Json {
  if (participants.length === 0) throw missingFields(['participants']);
  if (participants.length > REMOVALS_MAX) {
    throw invalidField('participants', `must have at most ${REMOVALS_MAX} items`);
  }
  return {
    messaging_product: 'whatsapp',
    participants: participants.map((person, index) => userEntry(person, `participants[${index}]`)),
  };
}

const isPartial = ({ error }: Json): boolean =>
  isObject(error) && Number(error['code']) === PARTIAL;

/** An event reports later who was removed; the reply can only pass the upstream's error on. */
function removal(body: Json): Node {
  if (!isPartial(body)) return outcome(body);
  const { upstream_code, message, details } = upstreamError(body['error'] as UpstreamErrorBody, []);
  return {
    fields: {
      ...without(body, 'messaging_product', 'success', 'error'),
      partial_failure: { upstream_code, message, details },
    },
  };
}

type Groups = 'listGroups' | 'createGroup' | 'getGroup' | 'deleteGroup' | 'removeGroupParticipants';

export const groups = ({ ask, requireMember }: Tools): Part<Groups> => {
  /**
   * The id may be that of any object of the token: a template, a QR code, a group of another
   * number.
   */
  const groupNode = async (
    request: Targeted & { group_id: string },
    fields: string,
    call: Call,
  ): Promise<Json> => {
    const node = await ask({ upstream: 'GET /{group_id}', query: { fields } }, request, call);
    await requireMember('group', request.group_id, needTarget(request.target), call);
    return node;
  };
  return {
    listGroups: {
      upstream: 'GET /{phone_number_id}/groups',
      query: (request) => pageQuery(request, GROUPS_PAGE_MAX),
      reply: (body, request) => ({
        items: groupsOf(body),
        ...cursorsOf(body),
        limit: usedLimit(request, GROUPS_PAGE_MAX),
      }),
    },
    createGroup: {
      upstream: 'POST /{phone_number_id}/groups',
      body: createBody,
      // An interrupted creation may have succeeded: a repeat is not safe.
      send: true,
      reply: (body) => {
        const created = outcome(body);
        // The event with this request_id carries the invite link and the id.
        if (!isFilled(body['request_id']) && !isFilled(body['id'])) {
          throw unusable('a request id', { outcome: 'unknown' });
        }
        return created;
      },
    },
    getGroup: async (request, call) => outcome(await groupNode(request, FIELDS, call)),
    async deleteGroup(request, call) {
      await groupNode(request, 'id', call);
      return outcome(await ask({ upstream: 'DELETE /{group_id}' }, request, call));
    },
    async removeGroupParticipants(request, call) {
      const body = removalBody(request);
      await groupNode(request, 'id', call);
      const path = 'DELETE /{group_id}/participants';
      return removal(await ask({ upstream: path, body, accept: isPartial }, request, call));
    },
  };
};

const isFilled = (value: unknown): boolean => typeof value === 'string' && value !== '';
