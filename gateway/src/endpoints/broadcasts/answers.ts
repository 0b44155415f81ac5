// The answers about broadcasts.
import { outlook } from '../messages/docs';
import * as is from '../parts/answers';

export const params = { broadcast_id: is.text('17', 'ID of the broadcast.') };

const STATUSES = ['pending', 'scheduled', 'processing', 'completed', 'cancelled'];

const PERSON_ID = 'per_01k5x3v9m2c4e6g8j0n1p3r5t7';

/** The first state is that of the example. */
const approvalIn = (states: readonly string[], title?: string) =>
  is.record(
    {
      state: is.open(states),
      created_by: is.maybe.text(PERSON_ID, 'The person who created it; null: a key.'),
      ends_at: is.maybe.time('While it waits: when it is cancelled, unless it is approved before.'),
      approved_by: is.maybe.text(PERSON_ID, 'The person who approved it.'),
      approved_at: is.maybe.time(),
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
  scheduled_at: is.maybe.time('Null if it starts at once.'),
  started_at: is.maybe.time(),
  completed_at: is.maybe.time(),
  created_at: is.maybe.time(),
  paused_at: is.maybe.time('Since when it is paused; it stays if the broadcast is cancelled then.'),
  pause_ends_at: is.maybe.time(
    'While it is paused: when it is cancelled, unless it is resumed before.',
  ),
  approval: approvalIn(['approved', 'waiting', 'ended'], 'BroadcastApproval'),
};
/** Absent of a broadcast that needs none. */
const optional = ['approval'];
export const listed = is.record(fields, { title: 'Broadcast', optional });
export const detail = is.record(
  {
    ...fields,
    error_log: is.maybe.text('1 contact failed'),
    skipped: is.whole(0),
    duplicates: is.whole(0),
    rate_per_sec: is.maybe.amount(20, 'Messages per second.'),
    estimated_completion_at: is.maybe.time(),
    failures: is.list(
      is.record({
        code: is.text('131026'),
        count: is.whole(1),
        example_recipient: is.maybe.text('1555010••••', 'Masked.'),
      }),
    ),
  },
  { title: 'BroadcastDetail', optional },
);

export const created = is.record(
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
);

export const forecast = is.record(
  {
    total: is.whole(103, 'Contacts that would be attempted.'),
    failing: is.whole(3, 'Contacts that would fail.'),
    starts_at: is.time('Now, if it is approved or starts now.'),
    ...outlook,
  },
  {
    title: 'BroadcastForecast',
    description:
      'Only with `include=forecast`; null once the broadcast has started. It is advice at the time of the request.',
  },
);

export const approvalSetting = is.record({
  above: is.maybe.whole(1_000, 'Broadcasts to more contacts wait for approval. Null: none do.'),
  approvers: is.whole(2, 'Active people whose role may approve.'),
});
