import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const NOT_ENABLED =
  'Where groups are not enabled upstream the answer carries `upstream_code` 131000; repeating does not help.';

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
    'Needs `calling.status` `ENABLED`, and for a call that the business starts the customer’s permission. The body is passed on unchanged.',
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
      request_id: is.text('…', 'the event with the invite link carries it too'),
    }),
  }),
  example: {
    subject: 'Gardeners',
    description: 'Plants and pots',
    join_approval_mode: 'auto_approve',
  },
  notes: `People join by the invite link, which follows with the event \`group_lifecycle_update\`. ${NOT_ENABLED}`,
};

export const getGroup: RowDocs = {
  answer: is.record({
    group: is.node({
      ...groupFields,
      participants: is.list(is.node({ wa_id: is.text('15550100777') })),
    }),
  }),
};

const outcome = is.record(
  { group: is.node({}, { description: 'what the upstream says beside its success, if anything' }) },
  { optional: ['group'] },
);

export const deleteGroup: RowDocs = {
  answer: outcome,
  example: { confirm: true },
  codes: ['CONFIRMATION_REQUIRED'],
};

export const removeGroupParticipants: RowDocs = {
  answer: is.record(
    {
      group: {
        ...is.node({
          request_id: is.text('rq-0002', 'the event with the outcome carries it too'),
          partial_failure: is.record(
            {
              upstream_code: is.whole(131_201),
              message: is.text('(#131201) Partial success'),
              details: is.any('what the upstream says of it, or null'),
            },
            { description: 'not all of them could be removed' },
          ),
        }),
        examples: [{ request_id: 'rq-0002' }],
      },
    },
    { optional: ['group'] },
  ),
  example: { participants: ['15550100777'] },
  notes:
    'Carried out asynchronously: who was removed follows with an event. Where the upstream says at once that a part of them cannot be (131201), the answer is a success with `partial_failure`: 200 does not mean that everybody was removed.',
};
