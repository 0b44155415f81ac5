// The business account node and its lists.
import { accountOf, routesOf, type Call } from '../core';
import { invalid } from '../errors';
import { requestedFields, selectFields, type FieldRules } from '../fields';
import { listAnswer, page, type PagingRules } from '../paging';
import type { Account, Flow, JsonObject } from '../types';
import { analytics } from './analytics';
import { otherEntities, worst } from './health';
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
  'GET /:account/schedules': () => ({ data: [] }),
  'GET /:account/flows': (call) => {
    const flows = accountOf(call).flows.map((flow) => flowNode(call, flow));
    return listOf(call, flows, FLOW_RULES);
  },
  'GET /:flow': (call) => {
    const flow = call.state.flows.get(call.segments[0] as string) as Flow;
    return selectFields(flowNode(call, flow), call.query, FLOW_RULES);
  },
});

function readAccount(call: Call): JsonObject {
  const account = accountOf(call);
  const { portfolio, country } = account;
  const fields = requestedFields(call.query, ACCOUNT_RULES);
  const asked = fields.find(({ name }) => name === 'analytics');
  const node = {
    ...account,
    owner_business_info: { name: portfolio.name, id: portfolio.id },
    owner_business: { id: portfolio.id },
    health_status: worst(otherEntities(call, account)),
    status: 'ACTIVE',
    primary_business_location: country,
    whatsapp_business_manager_messaging_limit:
      call.state.numbersOf(account)[0]?.messaging_limit_tier,
    analytics: asked && analytics(account, asked),
  };
  return selectFields(node, call.query, ACCOUNT_RULES);
}

// --- lists ---

/** Most recently onboarded first; the sort is stable. */
function listNumbers(call: Call): JsonObject {
  const numbers = call.state
    .numbersOf(accountOf(call))
    .sort((a, b) => b.onboarded_at - a.onboarded_at);
  const shown = page(numbers, ({ id }) => id, call);
  return listAnswer(shown, (number) => numberNode(call, number));
}

function listOf(
  call: Call,
  items: JsonObject[],
  rules: FieldRules,
  paging: PagingRules = {},
): JsonObject {
  const shown = page(items, ({ id }) => String(id), call, paging);
  return listAnswer(shown, (item) => selectFields(item, call.query, rules));
}

function listActivities(call: Call): JsonObject {
  const { query } = call;
  const since = timeOf(query.get('since')) ?? -Infinity;
  const until = timeOf(query.get('until')) ?? Infinity;
  const type = query.get('activity_type');
  const items = accountOf(call).activities.filter((item) => {
    const at = Date.parse(String(item['timestamp']));
    return at >= since && at <= until && (type || item['activity_type']) === item['activity_type'];
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

function flowNode(call: Call, flow: Flow): JsonObject {
  const account = call.state.accounts.get(flow.waba_id) as Account;
  return {
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
}
