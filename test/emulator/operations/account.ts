// The business account node and its lists.
import { accountOf, routesOf, type Call } from '../core';
import { invalid } from '../errors';
import { requestedFields, selectFields, type Field, type FieldRules } from '../fields';
import { listAnswer, page, type PagingRules } from '../paging';
import type { Account, BusinessNumber, Flow, JsonObject } from '../types';
import { analytics } from './analytics';
import { accountHealth, otherEntities, worst } from './health';
import { numberNode } from './number';
import { words } from '../../testkit/words';

const ACTIVITIES_MAX = 100;

const ACCOUNT_RULES: FieldRules = {
  node_type: 'BusinessAccount',
  defaults: ['id', 'name', 'currency', 'timezone_id', 'message_template_namespace'],
  known: words(`
    account_review_status business_verification_status owner_business_info owner_business
    on_behalf_of_business_info health_status ownership_type is_enabled_for_insights country status
    primary_business_location creation_time auth_international_rate_eligibility
    marketing_messages_lite_api_status whatsapp_business_manager_messaging_limit analytics
    conversation_analytics pricing_analytics
  `),
  denied: ['primary_funding_id', 'purchase_order_number'],
};

const FLOW_RULES: FieldRules = {
  node_type: 'Flow',
  defaults: ['id', 'name', 'status', 'categories', 'validation_errors'],
  known: words(`
    json_version data_api_version endpoint_uri preview updated_at health_status
    whatsapp_business_account application
  `),
};

const ACTIVITY_RULES: FieldRules = {
  node_type: 'BusinessAccountActivity',
  defaults: ['id', 'activity_type', 'timestamp', 'actor_type'],
  known: ['actor_id', 'actor_name', 'description', 'details', 'ip_address', 'user_agent'],
};

const USER_RULES: FieldRules = {
  node_type: 'AssignedUser',
  defaults: ['id', 'name', 'tasks'],
  known: ['business', 'user_type'],
};

const SOLUTION_RULES: FieldRules = {
  node_type: 'BusinessSolution',
  defaults: ['id', 'name', 'status', 'status_for_pending_request'],
  known: ['owner_app', 'owner_permissions'],
};

export const accountRoutes = routesOf('whatsapp_business_management', {
  'GET /:account': readAccount,
  'GET /:account/phone_numbers': listNumbers,
  'GET /:account/activities': listActivities,
  'GET /:account/assigned_users': listUsers,
  'GET /:account/solutions': (call) => listOf(call, accountOf(call).solutions, SOLUTION_RULES),
  'GET /:account/schedules': (call) => listOf(call, accountOf(call).schedules, null),
  'GET /:account/flows': listFlows,
  'GET /:flow': readFlow,
});

function readAccount(call: Call): JsonObject {
  const account = accountOf(call);
  const answer: JsonObject = {};
  for (const field of requestedFields(call.query, ACCOUNT_RULES)) {
    const value = accountField(call, account, field);
    if (value !== undefined) answer[field.name] = value;
  }
  answer['id'] = account.id;
  return answer;
}

function accountField(call: Call, account: Account, field: Field): unknown {
  switch (field.name) {
    case 'owner_business_info':
      return { name: account.portfolio.name, id: account.portfolio.id };
    case 'owner_business':
      return { id: account.portfolio.id };
    case 'health_status':
      return accountHealth(call, account);
    case 'status':
      return 'ACTIVE';
    case 'primary_business_location':
      return account.country;
    case 'whatsapp_business_manager_messaging_limit':
      return call.state.numbersOf(account)[0]?.messaging_limit_tier;
    case 'analytics':
      return analytics(account, field);
    default:
      return (account as unknown as JsonObject)[field.name];
  }
}

// --- lists ---

function listNumbers(call: Call): JsonObject {
  const account = accountOf(call);
  // Most recently onboarded first by default; the sort is stable.
  const ascending = (call.query.get('sort') ?? '').includes('asc');
  const numbers = call.state
    .numbersOf(account)
    .sort((a, b) => (ascending ? 1 : -1) * (a.onboarded_at - b.onboarded_at));
  const shown = page(filtered(numbers, call.query), ({ id }) => id, call);
  return listAnswer(shown, (number) => numberNode(call, number));
}

function filtered(numbers: BusinessNumber[], query: URLSearchParams): BusinessNumber[] {
  const text = query.get('filtering');
  if (!text) return numbers;
  let filters: Array<{ field: string; operator: string; value: string }>;
  try {
    filters = JSON.parse(text) as typeof filters;
  } catch {
    throw invalid('Param filtering must be a JSON array');
  }
  return numbers.filter((number) =>
    filters.every(
      ({ field, operator, value }) =>
        operator === 'EQUAL' && (number as unknown as JsonObject)[field] === value,
    ),
  );
}

function listOf(
  call: Call,
  items: JsonObject[],
  rules: FieldRules | null,
  paging: PagingRules = {},
): JsonObject {
  const shown = page(items, ({ id }) => String(id), call, paging);
  return listAnswer(shown, (item) => (rules ? selectFields(item, call.query, rules) : item));
}

function listActivities(call: Call): JsonObject {
  const { query } = call;
  const since = timeOf(query.get('since'));
  const until = timeOf(query.get('until'));
  const type = query.get('activity_type');
  const items = accountOf(call).activities.filter((item) => {
    const at = Date.parse(String(item['timestamp']));
    return (
      (since === null || at >= since) &&
      (until === null || at <= until) &&
      (!type || item['activity_type'] === type)
    );
  });
  return listOf(call, items, ACTIVITY_RULES, { size_max: ACTIVITIES_MAX, refuse_above_max: true });
}

/** Epoch seconds or an ISO time. */
function timeOf(text: string | null): number | null {
  if (!text) return null;
  const at = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  if (Number.isNaN(at)) throw invalid('since and until must be times');
  return at;
}

function listUsers(call: Call): JsonObject {
  const business = call.query.get('business');
  if (!business) throw invalid('The parameter business is required.');
  const account = accountOf(call);
  const users = business === account.portfolio.id ? account.assigned_users : [];
  const answer = listOf(call, users, USER_RULES);
  return { ...answer, summary: { total_count: users.length } };
}

function listFlows(call: Call): JsonObject {
  const shown = page(accountOf(call).flows, ({ id }) => id, call);
  return listAnswer(shown, (flow) => showFlow(call, flow));
}

function readFlow(call: Call): JsonObject {
  return showFlow(call, call.state.flows.get(call.segments[0] as string) as Flow);
}

function showFlow(call: Call, flow: Flow): JsonObject {
  const account = call.state.accounts.get(flow.waba_id) as Account;
  const node: JsonObject = {
    ...flow,
    health_status: worst([
      { entity_type: 'FLOW', id: flow.id, can_send_message: 'AVAILABLE' },
      ...otherEntities(call, account),
    ]),
    preview: {
      preview_url: `https://previews.example.org/${flow.id}`,
      expires_at: '2026-12-31T00:00:00+0000',
    },
    whatsapp_business_account: { id: account.id, name: account.name },
    application: { id: call.core.config.app_id, name: 'Example gateway' },
  };
  return selectFields(node, call.query, FLOW_RULES);
}
