// Reads of an account's state upstream.
import { ApiError, invalidField } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import {
  cursorsOf,
  isObject,
  itemsOf,
  needTarget,
  nextOf,
  type Json,
  type Targeted,
} from '@bmg/common/upstream';
import type { NodeList } from '@bmg/proto/common';
import type { Part, Tools } from '../tools';
import { usedLimit } from '../requests';

// Business account details: without primary_funding_id, which the onboarding token may never read.
// One field that is not permitted fails the whole request.
const WABA_FIELDS = [
  'name',
  'currency',
  'timezone_id',
  'account_review_status',
  'business_verification_status',
  'owner_business_info',
  'message_template_namespace',
  'health_status',
  'ownership_type',
  'is_enabled_for_insights',
].join(',');
const ACTIVITY_FIELDS =
  'id,activity_type,timestamp,actor_type,actor_id,actor_name,description,details';
const USER_FIELDS = 'id,name,business,user_type,tasks';
const SOLUTION_FIELDS = 'id,name,status,status_for_pending_request,owner_app,owner_permissions';
const FLOW_FIELDS = 'id,name,status,categories,validation_errors';
const FLOW_DETAIL_FIELDS = `${FLOW_FIELDS},json_version,health_status`;

/** The maximum length of a list that the caller does not page. */
const WHOLE = { page_size: 100, items_max: 2_000 };
/** Limits: the activity log gives at most 200, of which the upstream gives 100 at a time. */
const ACTIVITIES_MAX = 200;

/** A list that exceeds the maximum has a cursor for the rest. */
const wholeList = (body: Json): NodeList => ({
  items: itemsOf(body),
  after: cursorsOf(body).after,
});

/** Error codes for a token that may not read the owner: the field, the object or the permission. */
const UNREADABLE = new Set([3, 10, 100]);
const isUnreadable = (code: number | undefined): boolean =>
  code !== undefined && (UNREADABLE.has(code) || (code >= 200 && code <= 299));

/** The business recorded at registration, otherwise the account's owner upstream. */
async function defaultBusiness(
  { ask, credentials }: Tools,
  request: Targeted,
  call: Call,
): Promise<string> {
  const { business_id } = await credentials.of(needTarget(request.target), call);
  if (business_id) return business_id;
  let owner: unknown;
  try {
    const query = { fields: 'owner_business_info' };
    const body = await ask({ upstream: 'GET /{waba_id}', query }, request, call);
    owner = body['owner_business_info'];
  } catch (error) {
    if (!(error instanceof ApiError) || !isUnreadable(error.upstream_code)) throw error;
  }
  const id = isObject(owner) ? owner['id'] : undefined;
  if (typeof id === 'string' && id !== '') return id;
  throw invalidField('business_id', 'is unknown for this business account: set it in the request');
}

export const diagnostics = (
  tools: Tools,
): Part<
  | 'getWaba'
  | 'listActivities'
  | 'listAssignedUsers'
  | 'listSolutions'
  | 'listSchedules'
  | 'listFlows'
  | 'getFlow'
> => ({
  getWaba: {
    upstream: 'GET /{waba_id}',
    query: { fields: WABA_FIELDS },
    reply: (body) => ({ fields: body }),
  },
  listActivities: {
    upstream: 'GET /{waba_id}/activities',
    query: ({ since, until }) => ({ fields: ACTIVITY_FIELDS, since, until }),
    pages: (request) => {
      const items_max = usedLimit(request, ACTIVITIES_MAX);
      // A request without a limit gets one page of the upstream's own size.
      return items_max === undefined ? undefined : { page_size: 100, items_max };
    },
    reply: (body, request) => {
      const limit = usedLimit(request, ACTIVITIES_MAX);
      // Several pages are one body, which has a cursor only if items were left out.
      const after = limit === undefined ? nextOf(body) : cursorsOf(body).after;
      return { items: itemsOf(body), limit, after };
    },
  },
  async listAssignedUsers(request, call) {
    const business = request.business_id || (await defaultBusiness(tools, request, call));
    const query = { business, fields: USER_FIELDS };
    const list = { upstream: 'GET /{waba_id}/assigned_users', query, pages: WHOLE } as const;
    return wholeList(await tools.ask(list, request, call));
  },
  listSolutions: {
    upstream: 'GET /{waba_id}/solutions',
    query: { fields: SOLUTION_FIELDS },
    pages: WHOLE,
    reply: wholeList,
  },
  listSchedules: { upstream: 'GET /{waba_id}/schedules', pages: WHOLE, reply: wholeList },
  listFlows: {
    upstream: 'GET /{waba_id}/flows',
    query: { fields: FLOW_FIELDS },
    pages: WHOLE,
    reply: wholeList,
  },
  async getFlow(request, call) {
    const query = { fields: FLOW_DETAIL_FIELDS };
    const fields = await tools.ask({ upstream: 'GET /{flow_id}', query }, request, call);
    // The token may reach flows of other accounts, and other objects.
    await tools.requireMember('flow', request.flow_id, needTarget(request.target), call);
    return { fields };
  },
});
