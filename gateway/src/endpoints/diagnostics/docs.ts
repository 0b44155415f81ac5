import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const health_status = is.node({
  can_send_message: is.open(['AVAILABLE', 'LIMITED', 'BLOCKED']),
  entities: is.list(is.node({ entity_type: is.text('PHONE_NUMBER'), id: is.text('…') })),
});

/** A list that the service pages itself. */
const wholeList = (name: string, items: ReturnType<typeof is.node>): RowDocs => ({
  answer: is.record(
    {
      [name]: is.list(items),
      limit: is.used_limit,
      truncated: is.flag(true, 'Present if the list is longer than one response can hold.'),
    },
    { optional: ['limit', 'truncated'] },
  ),
  notes: 'Answers the pages of the upstream as one list.',
});

export const waba = is.node({
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

export const getWaba: RowDocs = {
  answer: is.nodeAndTop('waba', waba),
  notes:
    '`health_status` names what keeps messages from being sent. `primary_funding_id` is never included.',
};

export const listActivities = wholeList(
  'activities',
  is.node({
    id: is.text('1'),
    activity_type: is.text('PHONE_NUMBER_ADDED'),
    timestamp: is.text('2026-09-01T12:00:00+0000'),
    actor_name: is.text('Ada'),
    description: is.text('A phone number was added'),
  }),
);

export const listAssignedUsers = wholeList(
  'assigned_users',
  is.node({ id: is.text('1'), name: is.text('Ada'), tasks: is.list(is.text('MANAGE')) }),
);

export const listSolutions = wholeList(
  'solutions',
  is.node({ id: is.text('1'), name: is.text('Example'), status: is.text('ACTIVE') }),
);

export const listSchedules: RowDocs = {
  ...wholeList('schedules', is.node({ id: is.text('1') })),
  notes: 'For example, a pending change of the messaging limit.',
};

const flow = is.node({
  id: is.text('110000000000001'),
  name: is.text('Booking'),
  status: is.text('PUBLISHED'),
  categories: is.list(is.text('APPOINTMENT_BOOKING')),
  validation_errors: is.list(is.node({})),
});

export const listFlows: RowDocs = {
  ...wholeList('flows', flow),
  notes: 'Flows can only be read here.',
};

export const flowDetails = is.node({
  ...flow.properties,
  json_version: is.text('7.0'),
  health_status,
});

export const getFlow: RowDocs = {
  params: { flow_id: is.text('110000000000001', 'ID of the flow.') },
  answer: is.nodeAndTop('flow', flowDetails),
  notes: 'Flows can only be read here. `validation_errors` says why a flow cannot be published.',
};
