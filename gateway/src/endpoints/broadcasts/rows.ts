import {
  BroadcastsDefinition,
  type Broadcast,
  type Broadcast_Failure,
} from '@bmg/proto/broadcasts';
import { PeopleDefinition, type BroadcastApproval } from '@bmg/proto/people';
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import { checkContactCount, type ContactFaults } from '@bmg/common/messages';
import { APPROVING_SCOPE } from '@bmg/common/people';
import { readContacts } from './contacts';
import * as docs from './docs';
import * as schemas from './schemas';
import {
  get,
  post,
  put,
  rpc,
  type Endpoint,
  type Fields,
  type Input,
  type Target,
} from '../endpoint';
import type { Static } from '../parts/schema';

const BODY_LIMIT_BYTES = 16 * 1024 * 1024;
/** A broadcast in the list, its names as long as they may be. */
const LISTED_BYTES = 1_792;
const LIMIT_DEFAULT = 20;
/** 10,000 contacts, each with a recipient and some forty values of variables. */
const BODY_NODES_MAX = 400_000;
/** Checking and storing 10,000 contacts takes a second or two; longer on a busy database. */
const CREATE_TIMEOUT_MS = 60_000;

/** `faults` collects those of the contacts. */
export const createRequest = async (
  { body, target }: { body: Static<typeof schemas.createBroadcast>; target: Target },
  faults?: ContactFaults,
) => ({
  name: body.name,
  template_name: body.template_name,
  template_language: body.template_language,
  template_components: body.template_components ?? [],
  contacts: await readContacts(body.contacts as unknown[], faults),
  scheduled_at: readTime(body.scheduled_at),
  target,
});

const ISO_WITH_ZONE =
  /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/i;

/** The service refuses a time in the past. */
function readTime(value: string | null | undefined): Date | undefined {
  if (value === undefined || value === null) return undefined;
  const match = ISO_WITH_ZONE.exec(value);
  const time = match && new Date(withColon(value.toUpperCase()));
  if (!time || Number.isNaN(time.getTime()) || !isDay(match)) {
    throw invalidField('scheduled_at', 'must be an ISO 8601 date-time with a time zone');
  }
  return time;
}

const withColon = (text: string): string => text.replace(/([+-]\d{2})(\d{2})$/, '$1:$2');

/** Date would read 30 February as 2 March. */
function isDay([, year, month, day]: RegExpExecArray | string[]): boolean {
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) >= 1 && Number(day) <= days;
}

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

/** Only if the broadcast needs one: without the setting, answers have no such field. */
const approvalOf = ({ approval }: Pick<Broadcast, 'approval'>): Fields =>
  approval
    ? {
        approval: {
          state: approval.state,
          created_by: approval.created_by ?? null,
          ends_at: approval.ends_at ?? null,
          approved_by: approval.approved_by ?? null,
          approved_at: approval.approved_at ?? null,
        },
      }
    : {};

/** The contract's fields, those of a pause and of an approval; a time that is absent is null. */
const shown = (broadcast: Broadcast): Fields => ({
  id: broadcast.id,
  waba_id: broadcast.waba_id,
  phone_number_id: broadcast.phone_number_id,
  name: broadcast.name,
  template_name: broadcast.template_name,
  template_language: broadcast.template_language,
  total: broadcast.total,
  sent: broadcast.sent,
  delivered: broadcast.delivered,
  failed: broadcast.failed,
  status: broadcast.status,
  scheduled_at: broadcast.scheduled_at ?? null,
  started_at: broadcast.started_at ?? null,
  completed_at: broadcast.completed_at ?? null,
  created_at: broadcast.created_at ?? null,
  paused_at: broadcast.paused_at ?? null,
  pause_ends_at: broadcast.pause_ends_at ?? null,
  ...approvalOf(broadcast),
});

const detailed = (broadcast: Broadcast): Fields => ({
  ...shown(broadcast),
  error_log: broadcast.error_log ?? null,
  skipped: broadcast.skipped,
  duplicates: broadcast.duplicates,
  rate_per_sec: broadcast.rate_per_sec ?? null,
  estimated_completion_at: broadcast.estimated_completion_at ?? null,
  failures: broadcast.failures.map(({ code, count, example_recipient }: Broadcast_Failure) => ({
    code,
    count,
    example_recipient: example_recipient || null,
  })),
});

const setting = ({ above, approvers }: BroadcastApproval): Fields => ({
  above: above ?? null,
  approvers,
});

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
    reply: (created) => ({
      broadcast_id: created.broadcast_id,
      status: created.status,
      total: created.total,
      skipped: created.skipped,
      duplicates: created.duplicates,
      warnings: created.warnings.map(({ code, message }) => ({ code, message })),
      ...approvalOf(created),
    }),
    docs: docs.createBroadcast,
    summary: 'Create a broadcast: one template to many contacts',
  }),
  get('/broadcasts', rpc(BroadcastsDefinition, 'listBroadcasts'), {
    scope: 'filter',
    reads: 'list',
    answer_bytes: ({ limit = LIMIT_DEFAULT }) => limit * LISTED_BYTES,
    query: schemas.listBroadcasts,
    reply: ({ broadcasts: list, total }, { query }) => ({
      broadcasts: list.map(shown),
      total,
      limit: query.limit,
      offset: query.offset,
    }),
    docs: docs.listBroadcasts,
    summary: 'List broadcasts, newest first',
  }),
  get('/broadcasts/:broadcast_id', rpc(BroadcastsDefinition, 'getBroadcast'), {
    scope: 'filter',
    query: schemas.getBroadcast,
    request: (input) => ({ ...byId(input), forecast: input.query.include === 'forecast' }),
    reply: ({ broadcast, progress, forecast }, { query }) => ({
      broadcast: detailed(broadcast as Broadcast),
      progress,
      ...(query.include === 'forecast' && { forecast: forecast ?? null }),
    }),
    docs: docs.getBroadcast,
    summary: 'Retrieve a broadcast with its progress and failures',
  }),
  post('/broadcasts/:broadcast_id/cancel', rpc(BroadcastsDefinition, 'cancelBroadcast'), {
    scope: 'filter',
    key_scope: 'send',
    audit: { reduces_risk: true },
    request: byId,
    reply: () => ({}),
    docs: docs.cancelBroadcast,
    summary: 'Cancel a broadcast that has not started',
  }),
  post('/broadcasts/:broadcast_id/pause', rpc(BroadcastsDefinition, 'pauseBroadcast'), {
    scope: 'filter',
    key_scope: 'send',
    addition: true,
    audit: { reduces_risk: true },
    request: byId,
    reply: () => ({}),
    docs: docs.pauseBroadcast,
    summary: 'Pause a broadcast that is processing',
  }),
  post('/broadcasts/:broadcast_id/resume', rpc(BroadcastsDefinition, 'resumeBroadcast'), {
    scope: 'filter',
    key_scope: 'send',
    addition: true,
    audit: {},
    request: byId,
    reply: () => ({}),
    docs: docs.resumeBroadcast,
    summary: 'Resume a broadcast that is paused',
  }),
  post('/broadcasts/:broadcast_id/approve', rpc(BroadcastsDefinition, 'approveBroadcast'), {
    scope: 'filter',
    fresh_log_in: true,
    key_scope: APPROVING_SCOPE,
    person_only: true,
    addition: true,
    audit: {},
    request: (input) => ({ ...byId(input), caller_person_id: input.person_id }),
    reply: () => ({}),
    docs: docs.approveBroadcast,
    summary: 'Approve a broadcast that waits for approval',
  }),
  get('/broadcast-approval', rpc(PeopleDefinition, 'getBroadcastApproval'), {
    scope: 'partner',
    addition: true,
    reply: setting,
    docs: docs.getBroadcastApproval,
    summary: 'Retrieve from which size broadcasts need approval',
  }),
  put('/broadcast-approval', rpc(PeopleDefinition, 'setBroadcastApproval'), {
    scope: 'partner',
    fresh_log_in: true,
    person_only: true,
    addition: true,
    audit: { values: ['above'], before_of: 'partner' },
    body: schemas.setBroadcastApproval,
    request: ({ body: { above }, partner_id, person_id }) => {
      // Null is a value here.
      if (above === undefined) throw missingFields(['above']);
      return { partner_id, caller_person_id: person_id, above: above ?? undefined };
    },
    reply: setting,
    docs: docs.setBroadcastApproval,
    summary: 'Set from which size broadcasts need approval',
  }),
];
