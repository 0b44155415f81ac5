import type { NodeList } from '@bmg/proto/common';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { get, rpc, type Endpoint, type Fields } from '../endpoint';
import * as is from '../parts/answers';
import { id, limit, object } from '../parts/inputs';
import { nodeAndTop, uncounted } from '../parts/rows';
import type { Schema, Typed } from '../parts/schema';

const health_status = is.node({
  can_send_message: is.open(['AVAILABLE', 'LIMITED', 'BLOCKED']),
  entities: is.list(is.node({ entity_type: is.text('PHONE_NUMBER'), id: is.text('…') })),
});

/** A list that the service pages itself; `truncated` if it stopped before the last page. */
const wholeList = (
  name: string,
  item: Schema,
  notes = 'Answers the pages of the upstream as one list.',
) => {
  const answer = is.record(
    {
      [name]: is.list(item),
      limit: is.used_limit,
      truncated: is.flag(true, 'Present if the list is longer than one response can hold.'),
    },
    { optional: ['limit', 'truncated'] },
  );
  const reply = ({ items, after, limit }: NodeList): Fields => ({
    [name]: items,
    ...(limit !== undefined && { limit }),
    ...(after !== undefined && { truncated: true }),
  });
  return { ...uncounted, reply, answer, notes };
};

const waba = is.node({
  name: is.text('Example Shop'),
  currency: is.text('USD'),
  timezone_id: is.text('1'),
  account_review_status: is.text('APPROVED'),
  business_verification_status: is.text('verified'),
  owner_business_info: is.node({ id: is.text('600000000000001'), name: is.text('Example') }),
  message_template_namespace: is.text('…'),
  health_status,
  ownership_type: is.text('CLIENT_OWNED'),
  is_enabled_for_insights: is.flag(true),
});

const flow = is.node({
  id: is.text('110000000000001'),
  name: is.text('Booking'),
  status: is.text('PUBLISHED'),
  categories: is.list(is.text('APPOINTMENT_BOOKING')),
  validation_errors: is.list(is.node({})),
});

const flowDetails = is.node({
  ...flow.properties,
  json_version: is.text('7.0'),
  health_status,
});

/** Contract 11.2: activity log `limit`. */
const ACTIVITIES_MAX = 200;

/** Epoch seconds in the year 2286. */
const EPOCH_MAX = 9_999_999_999;

const epoch = (description: string): Typed<'integer'> => ({
  type: 'integer',
  minimum: 0,
  maximum: EPOCH_MAX,
  description,
});

export const diagnostics: Endpoint[] = [
  get('/waba', rpc(NumberAdminDefinition, 'getWaba'), {
    ...uncounted,
    summary: 'Retrieve the details and health of a business account',
    ...nodeAndTop('waba', waba),
    notes:
      '`health_status` names what keeps messages from being sent. `primary_funding_id` is never included.',
  }),
  get('/waba/activities', rpc(NumberAdminDefinition, 'listActivities'), {
    query: object({
      limit: limit(undefined, ACTIVITIES_MAX),
      since: epoch('Only activities at or after this time, in epoch seconds.'),
      until: epoch('Only activities at or before this time, in epoch seconds.'),
    }),
    summary: 'List the activity log of a business account',
    ...wholeList(
      'activities',
      is.node({
        id: is.text('1'),
        activity_type: is.text('PHONE_NUMBER_ADDED'),
        timestamp: is.text('2026-09-01T12:00:00+0000'),
        actor_name: is.text('Ada'),
        description: is.text('A phone number was added'),
      }),
    ),
  }),
  get('/waba/assigned-users', rpc(NumberAdminDefinition, 'listAssignedUsers'), {
    query: object({
      business_id: id(
        'ID of the business whose users to list. Defaults to the business recorded when the account was registered.',
      ),
    }),
    summary: 'List the users with access to a business account',
    ...wholeList(
      'assigned_users',
      is.node({ id: is.text('1'), name: is.text('Ada'), tasks: is.list(is.text('MANAGE')) }),
    ),
  }),
  get('/waba/solutions', rpc(NumberAdminDefinition, 'listSolutions'), {
    summary: 'List the solutions attached to a business account',
    ...wholeList(
      'solutions',
      is.node({ id: is.text('1'), name: is.text('Example'), status: is.text('ACTIVE') }),
    ),
  }),
  get('/schedules', rpc(NumberAdminDefinition, 'listSchedules'), {
    summary: 'List scheduled changes of a business account',
    ...wholeList(
      'schedules',
      is.node({ id: is.text('1') }),
      'For example, a pending change of the messaging limit.',
    ),
  }),
  get('/flows', rpc(NumberAdminDefinition, 'listFlows'), {
    summary: 'List the flows of a business account',
    ...wholeList('flows', flow, 'Flows can only be read here.'),
  }),
  get('/flows/:flow_id', rpc(NumberAdminDefinition, 'getFlow'), {
    ...uncounted,
    summary: 'Retrieve a flow with its validation errors and health',
    params: { flow_id: is.text('110000000000001', 'ID of the flow.') },
    ...nodeAndTop('flow', flowDetails),
    notes: 'Flows can only be read here. `validation_errors` says why a flow cannot be published.',
  }),
];
