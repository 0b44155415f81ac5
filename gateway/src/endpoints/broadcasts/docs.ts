import type { RowDocs } from '../endpoint';
import { cost } from '../messages/docs';
import * as is from '../parts/answers';

const params = { broadcast_id: is.text('17', 'ID of the broadcast.') };

const STATUSES = ['pending', 'scheduled', 'processing', 'completed', 'cancelled'];

const PERSON_ID = 'per_01k5x3v9m2c4e6g8j0n1p3r5t7';

/** The first state is that of the example. */
const approvalIn = (states: readonly string[], title?: string) =>
  is.record(
    {
      state: is.open(states),
      created_by: is.orNull(is.text(PERSON_ID, 'The person who created it; null: a key.')),
      ends_at: is.orNull(
        is.time('While it waits: when it is cancelled, unless it is approved before.'),
      ),
      approved_by: is.orNull(is.text(PERSON_ID, 'The person who approved it.')),
      approved_at: is.orNull(is.time()),
    },
    {
      ...(title && { title }),
      description:
        'Only of a broadcast that needs the approval of a second person, or got it. `ended`: it was cancelled before.',
    },
  );

const fields = {
  id: is.whole(17),
  waba_id: is.text('900000000000001'),
  phone_number_id: is.text('800000000000001'),
  name: is.text('September news'),
  template_name: is.text('hello_world'),
  template_language: is.text('en_US'),
  total: is.whole(2, 'Contacts to attempt.'),
  sent: is.whole(1),
  delivered: is.whole(1),
  failed: is.whole(1),
  status: { ...is.choice(STATUSES), examples: ['completed'] },
  scheduled_at: is.orNull(is.time('Null if it starts at once.')),
  started_at: is.orNull(is.time()),
  completed_at: is.orNull(is.time()),
  created_at: is.orNull(is.time()),
  paused_at: is.orNull(
    is.time('Since when it is paused; it stays if the broadcast is cancelled then.'),
  ),
  pause_ends_at: is.orNull(
    is.time('While it is paused: when it is cancelled, unless it is resumed before.'),
  ),
  approval: approvalIn(['approved', 'waiting', 'ended'], 'BroadcastApproval'),
};
const optional = ['approval'];

export const createBroadcast: RowDocs = {
  answer: is.record(
    {
      broadcast_id: is.whole(17),
      status: is.choice(['pending', 'scheduled']),
      total: is.whole(2, 'Contacts that will be attempted.'),
      skipped: is.whole(0, 'Contacts without a recipient.'),
      duplicates: is.whole(0, 'Contacts whose recipient appears earlier in the list.'),
      warnings: is.list(
        is.record({
          code: is.open(['MESSAGING_LIMIT']),
          message: is.text(
            'the number may write to 250 people in 24 hours …',
            'For people; do not match on it.',
          ),
        }),
        'Problems to expect. Usually empty.',
      ),
      approval: approvalIn(['waiting', 'approved', 'ended']),
    },
    { optional },
  ),
  example: {
    name: 'September news',
    template_name: 'hello_world',
    template_language: 'en_US',
    contacts: ['15550100777', { recipient: '15550100778' }],
  },
  codes: [
    'TOO_MANY_CONTACTS',
    'QUOTA_EXCEEDED',
    'NO_ACTIVE_WABA',
    'PAYMENT_FAILED',
    'PAYMENT_ACTION_REQUIRED',
    'AUTH_TEMPLATE_NEEDS_PHONE',
  ],
  notes:
    'The whole request is validated before anything is stored. A partner may have 2,000 broadcasts that are pending, scheduled, paused or wait for approval; the next one is refused with `QUOTA_EXCEEDED`. A number that is also used in the business app sends about 20 messages per second, any other number 80, or 1,000 with high throughput; your own sends on the number take precedence. More recipients than the number’s messaging limit allows in 24 hours cause a warning, not an error. If you require approval (`PUT /broadcast-approval`) and it has more contacts, nothing is sent before a second person approves it, and `approval` is set.',
};

export const listBroadcasts: RowDocs = {
  answer: is.record({
    broadcasts: is.list(is.record(fields, { title: 'Broadcast', optional })),
    total: is.whole(1),
    limit: is.used_limit,
    offset: is.whole(0),
  }),
  notes: 'With `x-waba-id`, only the broadcasts of that business account.',
};

const forecast = is.record(
  {
    total: is.whole(103, 'Contacts that would be attempted.'),
    failing: is.whole(3, 'Contacts that would fail.'),
    starts_at: is.time('Now, if it is approved or starts now.'),
    ends_at: is.time('When the last contact would leave; other broadcasts of the number included.'),
    duration_s: is.whole(6, 'Seconds from `starts_at` to `ends_at`.'),
    windows: is.record(
      { open: is.whole(20), closed: is.whole(80), unknown: is.whole(0) },
      { description: 'Contacts by the state of their customer service window.' },
    ),
    cost: is.orNull(cost),
  },
  {
    title: 'BroadcastForecast',
    description:
      'Only with `include=forecast`; null once the broadcast has started. It is advice at the time of the request.',
  },
);

export const getBroadcast: RowDocs = {
  params,
  answer: is.record(
    {
      broadcast: is.record(
        {
          ...fields,
          error_log: is.orNull(is.text('1 contact failed')),
          skipped: is.whole(0),
          duplicates: is.whole(0),
          rate_per_sec: is.orNull(is.amount(20, 'Messages per second.')),
          estimated_completion_at: is.orNull(is.time()),
          failures: is.list(
            is.record({
              code: is.text('131026'),
              count: is.whole(1),
              example_recipient: is.orNull(is.text('1555010••••', 'Masked.')),
            }),
          ),
        },
        { title: 'BroadcastDetail', optional },
      ),
      progress: is.amount(100, 'Attempted contacts as a percentage of `total`.'),
      forecast: is.orNull(forecast),
    },
    { optional: ['forecast'] },
  ),
  codes: ['NOT_FOUND'],
  notes:
    '`delivered` and `failed` follow the status events, so that they still change after `completed`. While a broadcast is paused, `status` stays `processing` and `paused_at` is set. While a broadcast waits for approval, `status` is `pending` or `scheduled`, as it would be without, and `approval.state` is `waiting`.',
};

export const cancelBroadcast: RowDocs = {
  params,
  answer: is.nothing,
  codes: ['NOT_FOUND', 'CANNOT_CANCEL'],
  notes:
    'A broadcast can be cancelled until its first message is sent, while it waits for approval, which is how an approval is refused, and while it is paused: then the contacts that have no message yet get none. Cancelling a cancelled broadcast succeeds.',
};

export const pauseBroadcast: RowDocs = {
  params,
  answer: is.nothing,
  codes: ['NOT_FOUND', 'CANNOT_PAUSE'],
  notes:
    'Sending stops within about a second; messages in flight are completed. The other contacts wait, in their order, and other broadcasts of the number take its pace. `status` stays `processing`, and `paused_at` is set. A broadcast that is paused for seven days is cancelled at `pause_ends_at`. Pausing a paused broadcast succeeds.',
};

export const resumeBroadcast: RowDocs = {
  params,
  answer: is.nothing,
  codes: ['NOT_FOUND', 'CANNOT_RESUME'],
  notes:
    'Sending goes on with the contacts that have no message yet. Resuming a broadcast that is processing succeeds.',
};

export const approveBroadcast: RowDocs = {
  params,
  answer: is.nothing,
  codes: ['NOT_FOUND', 'SECOND_PERSON_REQUIRED', 'CANNOT_APPROVE'],
  notes:
    'Only a person with the role `owner` or `developer` approves, signed in to the console, and never the person who created the broadcast. It is then sent at `scheduled_at`, or at once if that is null or has passed. Template, number and messaging limit are those of that time, and prices may have changed since the creation. A broadcast that is not approved within seven days is cancelled at `approval.ends_at`. To refuse it, cancel it. Approving an approved broadcast succeeds.',
};

const approvalSetting = is.record({
  above: is.orNull(
    is.whole(1_000, 'Broadcasts to more contacts wait for approval. Null: none do.'),
  ),
  approvers: is.whole(2, 'Active people whose role may approve.'),
});

export const getBroadcastApproval: RowDocs = {
  answer: approvalSetting,
  notes: 'A new partner has null.',
};

export const setBroadcastApproval: RowDocs = {
  answer: approvalSetting,
  example: { above: 1_000 },
  codes: ['MISSING_FIELDS'],
  notes:
    'Only a person with the role `owner` changes it, signed in to the console: a key that leaks cannot switch it off. A number needs two active people who may approve, owners or developers. Every broadcast that is created from then on follows it, whoever creates it; those that wait already go on waiting.',
};
