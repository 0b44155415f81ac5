import { ApiError, missingFields } from '@bmg/common/errors';
import { checkContactCount } from '@bmg/common/messages';
import { APPROVING_SCOPE } from '@bmg/common/people';
import { BroadcastsDefinition, type Broadcast } from '@bmg/proto/broadcasts';
import { PeopleDefinition } from '@bmg/proto/people';
import { createRequest } from './request';
import { approvalSetting, created, detail, forecast, listed, params } from './answers';
import * as schemas from './schemas';
import { get, post, put, rpc, type Endpoint, type Input } from '../endpoint';
import * as is from '../parts/answers';
import { bytesOfItems, partnerAddition } from '../parts/rows';
import { shaped } from '../parts/shape';

const BODY_LIMIT_BYTES = 16 * 1024 * 1024;
/** A broadcast in the list, its names as long as they may be. */
const LISTED_BYTES = 1_792;
/** 10,000 contacts, each with a recipient and some forty values of variables. */
const BODY_NODES_MAX = 400_000;
/** Checking and storing 10,000 contacts takes a second or two; longer on a busy database. */
const CREATE_TIMEOUT_MS = 60_000;

const ID = /^[1-9]\d{0,14}$/;

/** A malformed id is answered like an unknown one. */
const byId = ({
  params: { broadcast_id: id },
  partner_id,
  waba_id,
}: Pick<Input<{ broadcast_id: string }>, 'params' | 'partner_id' | 'waba_id'>) => {
  if (!ID.test(id)) throw new ApiError('NOT_FOUND', 'there is no such broadcast');
  return { partner_id, waba_id, broadcast_id: Number(id) };
};

const shownInList = shaped(listed);
const shownDetail = shaped(detail);

const withoutBlanks = ({ failures, ...broadcast }: Broadcast) => ({
  ...broadcast,
  failures: failures.map(({ example_recipient, ...failure }) => ({
    ...failure,
    example_recipient: example_recipient || null,
  })),
});

/** A row that acts on one broadcast. */
const acting = {
  scope: 'filter',
  key_scope: 'send',
  request: byId,
  params,
  answer: is.nothing,
} as const;

export const BODY_LIMITS = {
  body_limit_bytes: BODY_LIMIT_BYTES,
  body_nodes_max: BODY_NODES_MAX,
  checkItems: (length: number) => checkContactCount({ length }),
};

export const broadcasts: Endpoint[] = [
  post('/broadcasts', rpc(BroadcastsDefinition, 'createBroadcast'), {
    scope: 'number',
    key_scope: 'send',
    idempotent: true,
    audit: {
      values: ['name', 'template_name', 'template_language', 'scheduled_at'],
      ids: { broadcast_id: 'broadcast_id' },
    },
    status: 201,
    body: schemas.createBroadcast,
    ...BODY_LIMITS,
    timeout_ms: CREATE_TIMEOUT_MS,
    request: async (input) => ({
      ...(await createRequest(input)),
      approval_above: input.approval_above,
      caller_person_id: input.person_id,
    }),
    reply: shaped(created),
    summary: 'Create a broadcast: one template to many contacts',
    answer: created,
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
  }),
  get('/broadcasts', rpc(BroadcastsDefinition, 'listBroadcasts'), {
    scope: 'filter',
    reads: 'list',
    answer_bytes: bytesOfItems(LISTED_BYTES),
    query: schemas.listBroadcasts,
    reply: ({ broadcasts: list, total }, { query }) => ({
      broadcasts: list.map(shownInList),
      total,
      limit: query.limit,
      offset: query.offset,
    }),
    summary: 'List broadcasts, newest first',
    answer: is.record({
      broadcasts: is.list(listed),
      total: is.whole(1),
      limit: is.used_limit,
      offset: is.whole(0),
    }),
    notes: 'With `x-waba-id`, only the broadcasts of that business account.',
  }),
  get('/broadcasts/:broadcast_id', rpc(BroadcastsDefinition, 'getBroadcast'), {
    scope: 'filter',
    query: schemas.getBroadcast,
    request: (input) => ({ ...byId(input), forecast: input.query.include === 'forecast' }),
    reply: ({ broadcast, progress, forecast }, { query }) => ({
      broadcast: shownDetail(withoutBlanks(broadcast as Broadcast)),
      progress,
      ...(query.include === 'forecast' && { forecast: forecast ?? null }),
    }),
    summary: 'Retrieve a broadcast with its progress and failures',
    params,
    answer: is.record(
      {
        broadcast: detail,
        progress: is.amount(100, 'Attempted contacts as a percentage of `total`.'),
        forecast: is.orNull(forecast),
      },
      { optional: ['forecast'] },
    ),
    codes: ['NOT_FOUND'],
    notes:
      '`delivered` and `failed` follow the status events, so that they still change after `completed`. While a broadcast is paused, `status` stays `processing` and `paused_at` is set. While a broadcast waits for approval, `status` is `pending` or `scheduled`, as it would be without, and `approval.state` is `waiting`.',
  }),
  post('/broadcasts/:broadcast_id/cancel', rpc(BroadcastsDefinition, 'cancelBroadcast'), {
    ...acting,
    audit: { reduces_risk: true },
    summary: 'Cancel a broadcast that has not started',
    codes: ['NOT_FOUND', 'CANNOT_CANCEL'],
    notes:
      'A broadcast can be cancelled until its first message is sent, while it waits for approval, which is how an approval is refused, and while it is paused: then the contacts that have no message yet get none. Cancelling a cancelled broadcast succeeds.',
  }),
  post('/broadcasts/:broadcast_id/pause', rpc(BroadcastsDefinition, 'pauseBroadcast'), {
    ...acting,
    addition: true,
    audit: { reduces_risk: true },
    summary: 'Pause a broadcast that is processing',
    codes: ['NOT_FOUND', 'CANNOT_PAUSE'],
    notes:
      'Sending stops within about a second; messages in flight are completed. The other contacts wait, in their order, and other broadcasts of the number take its pace. `status` stays `processing`, and `paused_at` is set. A broadcast that is paused for seven days is cancelled at `pause_ends_at`. Pausing a paused broadcast succeeds.',
  }),
  post('/broadcasts/:broadcast_id/resume', rpc(BroadcastsDefinition, 'resumeBroadcast'), {
    ...acting,
    addition: true,
    audit: {},
    summary: 'Resume a broadcast that is paused',
    codes: ['NOT_FOUND', 'CANNOT_RESUME'],
    notes:
      'Sending goes on with the contacts that have no message yet. Resuming a broadcast that is processing succeeds.',
  }),
  post('/broadcasts/:broadcast_id/approve', rpc(BroadcastsDefinition, 'approveBroadcast'), {
    scope: 'filter',
    fresh_log_in: true,
    key_scope: APPROVING_SCOPE,
    person_only: true,
    addition: true,
    audit: {},
    request: (input) => ({ ...byId(input), caller_person_id: input.person_id }),
    summary: 'Approve a broadcast that waits for approval',
    params,
    answer: is.nothing,
    codes: ['NOT_FOUND', 'SECOND_PERSON_REQUIRED', 'CANNOT_APPROVE'],
    notes:
      'Only a person with the role `owner` or `developer` approves, signed in to the console, and never the person who created the broadcast. It is then sent at `scheduled_at`, or at once if that is null or has passed. Template, number and messaging limit are those of that time, and prices may have changed since the creation. A broadcast that is not approved within seven days is cancelled at `approval.ends_at`. To refuse it, cancel it. Approving an approved broadcast succeeds.',
  }),
  get('/broadcast-approval', rpc(PeopleDefinition, 'getBroadcastApproval'), {
    ...partnerAddition,
    reply: shaped(approvalSetting),
    summary: 'Retrieve from which size broadcasts need approval',
    answer: approvalSetting,
    notes: 'A new partner has null.',
  }),
  put('/broadcast-approval', rpc(PeopleDefinition, 'setBroadcastApproval'), {
    ...partnerAddition,
    fresh_log_in: true,
    person_only: true,
    audit: { values: ['above'], before_of: 'partner' },
    body: schemas.setBroadcastApproval,
    request: ({ body: { above }, partner_id, person_id }) => {
      // Null is a value here.
      if (above === undefined) throw missingFields(['above']);
      return { partner_id, caller_person_id: person_id, above: above ?? undefined };
    },
    reply: shaped(approvalSetting),
    summary: 'Set from which size broadcasts need approval',
    answer: approvalSetting,
    example: { above: 1_000 },
    codes: ['MISSING_FIELDS'],
    notes:
      'Only a person with the role `owner` changes it, signed in to the console: a key that leaks cannot switch it off. A number needs two active people who may approve, owners or developers. Every broadcast that is created from then on follows it, whoever creates it; those that wait already go on waiting.',
  }),
];
