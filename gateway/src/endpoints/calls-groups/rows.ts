import type { Node } from '@bmg/proto/common';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import * as docs from './docs';
import * as schemas from './schemas';
import { del, get, post, rpc, type Fields, type Input } from '../endpoint';
import { nodeUnder, outcomeUnder, pageUnder, uncounted } from '../parts/rows';

/** The phone number or BSUID of a participant, who may also be given as GET /groups/{group_id} shows them. */
function personOf(participant: unknown): unknown {
  if (typeof participant !== 'object' || participant === null) return participant;
  const { user, wa_id, user_id } = participant as Fields;
  const name = [user, wa_id, user_id].find((value) => typeof value === 'string' && value !== '');
  return name ?? '';
}

const removalRequest = ({ params, body, target }: Input): Fields => ({
  group_id: params['group_id'],
  participants: (body['participants'] as unknown[]).map(personOf),
  target,
});

export const callsGroups = [
  post('/calls', rpc(NumberAdminDefinition, 'placeCall'), {
    scope: 'number',
    idempotent: true,
    body: schemas.placeCall,
    request: ({ body, target }) => ({ call: body, target }),
    reply: ({ fields }: Node) => ({ ...fields }),
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
    body: schemas.createGroup,
    status: 201,
    reply: nodeUnder('group'),
    docs: docs.createGroup,
    summary: 'Create a group',
  }),
  get('/groups/:group_id', rpc(NumberAdminDefinition, 'getGroup'), {
    ...uncounted,
    reply: nodeUnder('group'),
    docs: docs.getGroup,
    summary: 'Retrieve a group and its participants',
  }),
  del('/groups/:group_id', rpc(NumberAdminDefinition, 'deleteGroup'), {
    ...uncounted,
    body: schemas.deleteGroup,
    // `confirm` is checked here and is not part of the call.
    request: ({ params, target }) => ({ group_id: params['group_id'], target }),
    reply: outcomeUnder('group'),
    docs: docs.deleteGroup,
    summary: 'Delete a group',
  }),
  del('/groups/:group_id/participants', rpc(NumberAdminDefinition, 'removeGroupParticipants'), {
    ...uncounted,
    body: schemas.removeParticipants,
    request: removalRequest,
    reply: outcomeUnder('group'),
    docs: docs.removeGroupParticipants,
    summary: 'Remove participants from a group',
  }),
];
