import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { del, get, post, rpc, type Endpoint, type Fields } from '../endpoint';
import * as is from '../parts/answers';
import { choice, confirm, object, page, text } from '../parts/inputs';
import { nodeAndTop, nodeUnder, outcomeUnder, pageUnder, uncounted } from '../parts/rows';
import { call, participant } from '../parts/rules';

const NOT_ENABLED =
  'If groups are not enabled for the number, the upstream answers with `upstream_code` 131000; do not retry.';
const params = { group_id: is.text('Y2FwaV9ncm91cDox', 'ID of the group.') };

const group = is.node({
  subject: is.text('Gardeners'),
  description: is.text('Plants and pots'),
  join_approval_mode: is.open(['auto_approve', 'approval_required']),
  participants: is.list(is.node({ wa_id: is.text('15550100777') })),
});

/** Contract 11.2: group subject, participants removed per request. */
const SUBJECT_MAX = 128;
const REMOVALS_MAX = 8;
/** Upper bound only: the upstream has a lower limit. */
const DESCRIPTION_MAX = 4_096;
/** The upstream's largest page of groups. */
const GROUPS_PAGE_MAX = 1_024;

/** Only the keys that the contract shows are checked; the SDP is not (contract 11.4). */
const placed = object(
  {
    action: choice(
      ['connect', 'pre_accept', 'accept', 'reject', 'terminate'],
      'What to do with the call.',
    ),
    to: { type: 'string', description: 'Phone number to call. For `connect`.' },
    call_id: { type: 'string', description: 'ID of the call. For every action but `connect`.' },
    session: {
      type: 'object',
      properties: {
        sdp_type: choice(['offer', 'answer']),
        sdp: { type: 'string' },
      },
      description: 'Session description, passed to the upstream unchanged.',
    },
  },
  ['action'],
);

/**
 * The phone number or BSUID of a participant, who may also be given as GET /groups/{group_id} shows
 * them.
 */
function personOf(participant: string | object): string {
  if (typeof participant === 'string') return participant;
  const { user, wa_id, user_id } = participant as Fields;
  const isFilled = (name: unknown): name is string => typeof name === 'string' && name !== '';
  return [user, wa_id, user_id].find(isFilled) ?? '';
}

export const callsGroups: Endpoint[] = [
  post('/calls', rpc(NumberAdminDefinition, 'placeCall'), {
    scope: 'number',
    key_scope: 'send',
    idempotent: true,
    body: { ...placed, published: { allOf: call, additionalProperties: true } },
    request: ({ body, target }) => ({ call: body, target }),
    reply: ({ fields }) => ({ ...fields }),
    summary: 'Start, answer, reject or end a call',
    answer: is.node({
      calls: is.list(is.node({ id: is.text('wacid.HBgLMTU1NTAxMDA3NzcVAgA') })),
    }),
    example: {
      action: 'connect',
      to: '15550100777',
      session: { sdp_type: 'offer', sdp: 'v=0\r\n…' },
    },
    codes: ['NO_ACTIVE_WABA', 'PAYMENT_FAILED', 'PAYMENT_ACTION_REQUIRED'],
    notes:
      'Requires `calling.status` `ENABLED` in `POST /settings`, and the customer’s permission for a call that the business starts. The body is passed to the upstream unchanged; errors of the upstream are passed back.',
  }),
  get('/groups', rpc(NumberAdminDefinition, 'listGroups'), {
    ...uncounted,
    query: page(GROUPS_PAGE_MAX),
    summary: 'List the groups of a number',
    ...pageUnder(
      'groups',
      is.node({
        id: is.text('Y2FwaV9ncm91cDox'),
        subject: is.text('Gardeners'),
        created_at: is.text('1788264000'),
      }),
    ),
    notes: NOT_ENABLED,
  }),
  post('/groups', rpc(NumberAdminDefinition, 'createGroup'), {
    ...uncounted,
    idempotent: true,
    audit: { ids: { group_id: 'fields.id' } },
    body: object(
      {
        subject: text(SUBJECT_MAX, 'Name of the group.'),
        description: text(DESCRIPTION_MAX, 'Description of the group.'),
        join_approval_mode: choice(
          ['auto_approve', 'approval_required'],
          'Whether a person who opens the invite link joins at once or needs approval.',
          'auto_approve',
        ),
      },
      ['subject'],
    ),
    status: 201,
    summary: 'Create a group',
    ...nodeUnder(
      'group',
      is.node({
        request_id: is.text('…', 'The event with the invite link carries the same `request_id`.'),
      }),
    ),
    example: {
      subject: 'Gardeners',
      description: 'Plants and pots',
      join_approval_mode: 'auto_approve',
    },
    notes: `People join through the invite link, which arrives in a \`group_lifecycle_update\` event. ${NOT_ENABLED}`,
  }),
  get('/groups/:group_id', rpc(NumberAdminDefinition, 'getGroup'), {
    ...uncounted,
    summary: 'Retrieve a group and its participants',
    params,
    ...nodeAndTop('group', group),
    notes: 'Returns the group as the upstream describes it.',
  }),
  del('/groups/:group_id', rpc(NumberAdminDefinition, 'deleteGroup'), {
    ...uncounted,
    body: object({ confirm }, ['confirm']),
    // `confirm` is checked here and is not part of the call.
    request: ({ params, target }) => ({ group_id: params.group_id, target }),
    summary: 'Delete a group',
    params,
    ...outcomeUnder('group'),
    example: { confirm: true },
    codes: ['CONFIRMATION_REQUIRED'],
    notes: 'A deleted group cannot be restored, so that the body must confirm it.',
  }),
  del('/groups/:group_id/participants', rpc(NumberAdminDefinition, 'removeGroupParticipants'), {
    ...uncounted,
    body: object(
      {
        participants: {
          type: 'array',
          maxItems: REMOVALS_MAX,
          // Objects as GET /groups/{group_id} returns them, or only the phone number or BSUID.
          items: { type: ['string', 'object'], published: participant },
          description:
            'Phone numbers or BSUIDs, or participants as `GET /groups/{group_id}` returns them.',
        },
      },
      ['participants'],
    ),
    request: ({ params, body, target }) => ({
      group_id: params.group_id,
      participants: body.participants.map(personOf),
      target,
    }),
    summary: 'Remove participants from a group',
    params,
    ...outcomeUnder('group', {
      ...is.node({
        request_id: is.text('rq-0002', 'The event with the result carries the same `request_id`.'),
        partial_failure: is.record(
          {
            upstream_code: is.whole(131_201),
            message: is.text('(#131201) Partial success'),
            details: is.any('Details from the upstream, or null.'),
          },
          { description: 'Present if some participants could not be removed.' },
        ),
      }),
      examples: [{ request_id: 'rq-0002' }],
    }),
    example: { participants: ['15550100777'] },
    notes:
      'Participants are removed asynchronously; a `group_lifecycle_update` event reports who was removed. If the upstream rejects some of them at once (131201), the response is a success with `partial_failure`: HTTP 200 does not mean that everyone was removed. A removed participant cannot rejoin through the invite link.',
  }),
];
