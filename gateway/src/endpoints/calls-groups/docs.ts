import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const NOT_ENABLED =
  'If groups are not enabled for the number, the upstream answers with `upstream_code` 131000; do not retry.';
const params = { group_id: is.text('Y2FwaV9ncm91cDox', 'ID of the group.') };

export const placeCall: RowDocs = {
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
};

const groupFields = {
  subject: is.text('Gardeners'),
  description: is.text('Plants and pots'),
  join_approval_mode: is.open(['auto_approve', 'approval_required']),
};

export const listGroups: RowDocs = {
  answer: is.record(
    {
      groups: is.list(
        is.node({
          id: is.text('Y2FwaV9ncm91cDox'),
          subject: is.text('Gardeners'),
          created_at: is.text('1788264000'),
        }),
      ),
      paging: is.paging,
      limit: is.used_limit,
    },
    { optional: ['limit'] },
  ),
  notes: NOT_ENABLED,
};

export const createGroup: RowDocs = {
  answer: is.record({
    group: is.node({
      request_id: is.text('…', 'The event with the invite link carries the same `request_id`.'),
    }),
  }),
  example: {
    subject: 'Gardeners',
    description: 'Plants and pots',
    join_approval_mode: 'auto_approve',
  },
  notes: `People join through the invite link, which arrives in a \`group_lifecycle_update\` event. ${NOT_ENABLED}`,
};

export const group = is.node({
  ...groupFields,
  participants: is.list(is.node({ wa_id: is.text('15550100777') })),
});

export const getGroup: RowDocs = {
  params,
  answer: is.nodeAndTop('group', group),
  notes: 'Returns the group as the upstream describes it.',
};

export const deleteGroup: RowDocs = {
  params,
  answer: is.outcome('group'),
  example: { confirm: true },
  codes: ['CONFIRMATION_REQUIRED'],
  notes: 'A deleted group cannot be restored, so that the body must confirm it.',
};

export const removeGroupParticipants: RowDocs = {
  params,
  answer: is.record(
    {
      group: {
        ...is.node({
          request_id: is.text(
            'rq-0002',
            'The event with the result carries the same `request_id`.',
          ),
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
      },
    },
    { optional: ['group'] },
  ),
  example: { participants: ['15550100777'] },
  notes:
    'Participants are removed asynchronously; a `group_lifecycle_update` event reports who was removed. If the upstream rejects some of them at once (131201), the response is a success with `partial_failure`: HTTP 200 does not mean that everyone was removed. A removed participant cannot rejoin through the invite link.',
};
