// Flows, solutions, users and activities of a seeded account.
import { buildFlow, type Account, type JsonObject } from './types';

export function diagnostics(waba_id: string): Partial<Account> {
  const tail = waba_id.slice(-1);
  const business = { id: `60000000000000${tail}`, name: `Example Holding ${tail}` };
  return {
    flows: [
      buildFlow({ id: `11000000000000${tail}`, waba_id }),
      buildFlow({
        id: `11100000000000${tail}`,
        waba_id,
        name: 'survey',
        status: 'DRAFT',
        categories: ['SURVEY'],
        validation_errors: [
          {
            ...{ error: 'INVALID_PROPERTY_VALUE', error_type: 'FLOW_JSON_ERROR' },
            message: 'The screen has no title.',
            ...{ line_start: 4, line_end: 4, column_start: 10, column_end: 21, pointers: [] },
          },
        ],
      }),
    ],
    solutions: [
      {
        id: `14000000000000${tail}`,
        name: 'Example solution',
        status: 'ACTIVE',
        status_for_pending_request: 'NONE',
        owner_app: { id: '700000000000001', name: 'Example gateway' },
        owner_permissions: ['MESSAGING'],
      },
    ],
    assigned_users: [
      {
        id: `40100000000000${tail}`,
        name: 'Ada',
        tasks: ['MANAGE', 'MESSAGING'],
        business,
        user_type: 'BUSINESS_USER',
      },
      {
        id: `40200000000000${tail}`,
        name: 'Gateway system user',
        tasks: ['FULL_CONTROL'],
        business,
        user_type: 'SYSTEM_USER',
      },
    ],
    activities: seedActivities(tail),
  };
}

const ACTIVITY_COUNT = 130;
const ACTIVITY_STEP_S = 3600;
/** 20 Sep 2026, 10:15:30 UTC. */
const ACTIVITY_NEWEST_S = 1_789_899_330;

/** More than one page of the maximum size, newest first. */
function seedActivities(tail: string): JsonObject[] {
  const types = ['PHONE_NUMBER_ADDED', 'TEMPLATE_CREATED', 'USER_ADDED', 'WEBHOOK_SUBSCRIBED'];
  return Array.from({ length: ACTIVITY_COUNT }, (_, index) => ({
    id: `15${tail}${String(index).padStart(6, '0')}`,
    activity_type: types[index % types.length],
    timestamp: new Date((ACTIVITY_NEWEST_S - index * ACTIVITY_STEP_S) * 1000).toISOString(),
    actor_type: index % 2 ? 'SYSTEM' : 'USER',
    actor_id: `40100000000000${tail}`,
    actor_name: 'Ada',
    description: `Seeded activity ${index}`,
    details: { index },
  }));
}
