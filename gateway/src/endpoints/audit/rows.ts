// The audit log. It is written by the chain of every row that changes something: see audit/.
import { AuditDefinition } from '@bmg/proto/audit';
import { get, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { instant, limit, nextCursor, object, text } from '../parts/inputs';
import { bytesOfItems, nextPage, timeOf } from '../parts/rows';
import { shaped } from '../parts/shape';

const values = (description: string) => is.maybe.node({}, { description });

const record = is.named('AuditRecord', {
  id: is.text('aud_01k5x3v9m2c4e6g8j0n1p3r5t7'),
  at: is.time('When the change began.'),
  actor: is.named('AuditActor', {
    type: is.open(['partner_key', 'api_key', 'person', 'console', 'sign_up_link', 'operator']),
    id: is.maybe.text('key_01k5x3v9m2c4e6g8j0n1p3r5t7', 'Of the API key, person, session or link.'),
    name: is.maybe.text(
      'Order system',
      'The name of the API key or the address of the person at that time; the hint of a partner key.',
    ),
  }),
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
  code: is.maybe.text('NOT_FOUND', 'The error code of a failure.'),
  request_id: is.text('9f2c4a1e-6a0b-4b52-9a55-1d2f0c9e7b31'),
  address: is.maybe.text('203.0.113.7', 'Where the request came from.'),
  ended_at: is.maybe.time('When the outcome was recorded.'),
  count: is.whole(
    1,
    'The changes that the record stands for: more than one if very many of a kind were made on one day; outcome and code are then those of the latest.',
  ),
});

const NAME_MAX = 256;

/** A record with all values of a key before and after a change. */
const RECORD_BYTES = 4 * 1024;
/** A CSV of 100,000 records, to a slow reader. */
const EXPORT_TIMEOUT_MS = 120_000;

const shown = shaped(record);

export const audit: Endpoint[] = [
  get('/audit', rpc(AuditDefinition, 'listAuditRecords'), {
    scope: 'filter',
    key_scope: 'manage',
    reads: 'log',
    addition: true,
    query: object({
      from: instant('Only changes made at this time or later.'),
      to: instant('Only changes made at this time or earlier.'),
      actor: text(
        NAME_MAX,
        'Only changes of this actor: an ID (of an API key, a console session, a sign-up link), or a type.',
      ),
      action: text(NAME_MAX, 'Only this action, as the records spell it: `PATCH /keys/{key_id}`.'),
      target: text(
        NAME_MAX,
        'Only changes of the object with this ID: a key, an account, a broadcast.',
      ),
      limit: limit(50, 100),
      cursor: nextCursor,
    }),
    answer_bytes: bytesOfItems(RECORD_BYTES),
    csv: rpc(AuditDefinition, 'exportAuditRecords'),
    timeout_ms: EXPORT_TIMEOUT_MS,
    request: ({ query, partner_id, waba_id }) => ({
      ...query,
      partner_id,
      waba_id,
      from: timeOf(query.from),
      to: timeOf(query.to),
    }),
    reply: ({ records, after }, { query }) => ({
      records: records.map(({ count = 1, ...one }) => shown({ ...one, count })),
      limit: query.limit,
      ...nextPage(after),
    }),
    summary: 'List who changed what, newest first',
    operation: 'listAudit',
    answer: is.record({
      records: is.list(record),
      limit: is.used_limit,
      paging: is.nextPage('WzE3NTY3'),
    }),
    notes:
      'Lists every change that your keys, your people, your console sessions and the operator made, for 400 days. Reads and sends are not among them. Secrets, message contents and recipients are never recorded. With `Accept: text/csv` the answer is one CSV of all records that the filters leave, at most 100,000. With `x-waba-id` only changes of that business account.',
  }),
];
