import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const params = { broadcast_id: is.text('17', 'ID of the broadcast.') };

const STATUSES = ['pending', 'scheduled', 'processing', 'completed', 'cancelled'];

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
};

export const createBroadcast: RowDocs = {
  answer: is.record({
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
  }),
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
    'The whole request is validated before anything is stored. A partner may have 2,000 pending, scheduled and paused broadcasts; the next one is refused with `QUOTA_EXCEEDED`. A number that is also used in the business app sends about 20 messages per second, any other number 80, or 1,000 with high throughput; your own sends on the number take precedence. More recipients than the number’s messaging limit allows in 24 hours cause a warning, not an error.',
};

export const listBroadcasts: RowDocs = {
  answer: is.record({
    broadcasts: is.list(is.record(fields, { title: 'Broadcast' })),
    total: is.whole(1),
    limit: is.used_limit,
    offset: is.whole(0),
  }),
  notes: 'With `x-waba-id`, only the broadcasts of that business account.',
};

export const getBroadcast: RowDocs = {
  params,
  answer: is.record({
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
      { title: 'BroadcastDetail' },
    ),
    progress: is.amount(100, 'Attempted contacts as a percentage of `total`.'),
  }),
  codes: ['NOT_FOUND'],
  notes:
    '`delivered` and `failed` follow the status events, so that they still change after `completed`. While a broadcast is paused, `status` stays `processing` and `paused_at` is set.',
};

export const cancelBroadcast: RowDocs = {
  params,
  answer: is.nothing,
  codes: ['NOT_FOUND', 'CANNOT_CANCEL'],
  notes:
    'A broadcast can be cancelled until its first message is sent, and while it is paused: then the contacts that have no message yet get none. Cancelling a cancelled broadcast succeeds.',
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
