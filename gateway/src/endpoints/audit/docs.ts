import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const values = (description: string) => is.orNull({ ...is.node({}), description });

const record = is.record(
  {
    id: is.text('aud_01k5x3v9m2c4e6g8j0n1p3r5t7'),
    at: is.time('When the change began.'),
    actor: is.record(
      {
        type: is.open(['partner_key', 'api_key', 'person', 'console', 'sign_up_link', 'operator']),
        id: is.orNull(
          is.text('key_01k5x3v9m2c4e6g8j0n1p3r5t7', 'Of the API key, person, session or link.'),
        ),
        name: is.orNull(
          is.text(
            'Order system',
            'The name of the API key or the address of the person at that time; the hint of a partner key.',
          ),
        ),
      },
      { title: 'AuditActor' },
    ),
    action: is.text('PATCH /keys/{key_id}', 'The endpoint; what the console or the operator did.'),
    target: is.byName(
      is.text('key_01k5x3v9m2c4e6g8j0n1p3r5t8'),
      'IDs of what was changed or created, by name.',
    ),
    fields: is.list(is.text('scopes'), 'Names of the fields that the request set.'),
    before: values('Values before the change, of the fields that may be recorded.'),
    after: values('Values that the request set, of the fields that may be recorded.'),
    outcome: is.open(
      ['succeeded', 'failed', 'unknown'],
      '`failed`: the change was refused, or did not succeed. `unknown`: it is in progress, or may have been made.',
    ),
    code: is.orNull(is.text('NOT_FOUND', 'The error code of a failure.')),
    request_id: is.text('9f2c4a1e-6a0b-4b52-9a55-1d2f0c9e7b31'),
    address: is.orNull(is.text('203.0.113.7', 'Where the request came from.')),
    ended_at: is.orNull(is.time('When the outcome was recorded.')),
    count: is.whole(
      1,
      'The changes that the record stands for: more than one if very many of a kind were made on one day; outcome and code are then those of the latest.',
    ),
  },
  { title: 'AuditRecord' },
);

export const listAudit: RowDocs = {
  operation: 'listAudit',
  answer: is.record({
    records: is.list(record),
    limit: is.used_limit,
    paging: is.record({ cursors: is.record({ after: is.orNull(is.cursor('WzE3NTY3')) }) }),
  }),
  notes:
    'Lists every change that your keys, your people, your console sessions and the operator made, for 400 days. Reads and sends are not among them. Secrets, message contents and recipients are never recorded. With `Accept: text/csv` the answer is one CSV of all records that the filters leave, at most 100,000. With `x-waba-id` only changes of that business account.',
};
