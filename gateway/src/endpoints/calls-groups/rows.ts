import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import * as docs from './docs';
import * as schemas from './schemas';
import { del, get, post, rpc, type Endpoint, type Fields } from '../endpoint';
import { nodeAndTop, nodeUnder, outcomeUnder, pageUnder, uncounted } from '../parts/rows';

/**
 * The phone number or BSUID of a participant, who may also be given as GET /groups/{group_id} shows
 * them.
 */
function personOf(participant: string | object): string {
  if (typeof participant === 'string') return participant;
  const { user, wa_id, user_id } = participant as Fields;
  return [user, wa_id, user_id].find((name): name is string => isText(name)) ?? '';
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

export const callsGroups: Endpoint[] = [
  post('/calls', rpc(NumberAdminDefinition, 'placeCall'), {
    scope: 'number',
    key_scope: 'send',
    idempotent: true,
    body: schemas.placeCall,
    request: ({ body, target }) => ({ call: body, target }),
    reply: ({ fields }) => ({ ...fields }),
    docs: docs.placeCall,
    summary: 'Start, answer, reject or end a call',
  }),
  get('/groups', rpc(NumberAdminDefinition, 'listGroups'), {
    ...uncounted,
    query: schemas.listGroups,
    reply: pageUnder('groups'),
    docs: docs.listGroups,
    summary: 'List the groups of a number',
  }),
  post('/groups', rpc(NumberAdminDefinition, 'createGroup'), {
    ...uncounted,
    idempotent: true,
    audit: { ids: { group_id: 'fields.id' } },
    body: schemas.createGroup,
    status: 201,
    reply: nodeUnder('group'),
    docs: docs.createGroup,
    summary: 'Create a group',
  }),
  get('/groups/:group_id', rpc(NumberAdminDefinition, 'getGroup'), {
    ...uncounted,
    reply: nodeAndTop('group', docs.group),
    docs: docs.getGroup,
    summary: 'Retrieve a group and its participants',
  }),
  del('/groups/:group_id', rpc(NumberAdminDefinition, 'deleteGroup'), {
    ...uncounted,
    body: schemas.deleteGroup,
    // `confirm` is checked here and is not part of the call.
    request: ({ params, target }) => ({ group_id: params.group_id, target }),
    reply: outcomeUnder('group'),
    docs: docs.deleteGroup,
    summary: 'Delete a group',
  }),
  del('/groups/:group_id/participants', rpc(NumberAdminDefinition, 'removeGroupParticipants'), {
    ...uncounted,
    body: schemas.removeParticipants,
    request: ({ params, body, target }) => ({
      group_id: params.group_id,
      participants: body.participants.map(personOf),
      target,
    }),
    reply: outcomeUnder('group'),
    docs: docs.removeGroupParticipants,
    summary: 'Remove participants from a group',
  }),
];
