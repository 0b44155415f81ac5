// Profile, blocking and the account's diagnostics.
import { WABA } from '../build';
import {
  BASE,
  CURSORS,
  del,
  get,
  ON_NUMBER,
  ON_WABA,
  PAGING,
  post,
  PRODUCT,
  type Case,
} from './case';

const PROFILE = `${ON_NUMBER}/whatsapp_business_profile`;
const BLOCKED = `${ON_NUMBER}/block_users`;
const INPUT = '+15550100777';
const BLOCKED_USER = { input: INPUT, wa_id: '15550100777' };
const SHOP = { id: WABA, name: 'Example Shop', health_status: { can_send_message: 'LIMITED' } };

export const account: Case[] = [
  {
    method: 'getProfile',
    answers: [{ data: [{ ...PRODUCT, about: 'Plants', websites: ['https://example.org/'] }] }],
    sent: [
      get(PROFILE, {
        fields: 'about,address,description,email,profile_picture_url,websites,vertical',
      }),
    ],
    reply: { fields: { about: 'Plants', websites: ['https://example.org/'] } },
  },
  {
    method: 'getProfile',
    answers: [{ data: [{ business_profile: { ...PRODUCT, about: 'Nested' }, id: '1' }] }],
    sent: [{ method: 'GET' }],
    reply: { fields: { about: 'Nested' } },
  },
  {
    method: 'getProfile',
    answers: [{ data: [] }],
    sent: [{ method: 'GET' }],
    reply: { fields: {} },
  },
  {
    method: 'updateProfile',
    request: { profile: { about: '', websites: [], color: 'red', vertical: 'RETAIL' } },
    sent: [post(PROFILE, { ...PRODUCT, about: '', websites: [] })],
  },
  {
    method: 'listBlocked',
    request: { limit: 500, after: 'a0' },
    answers: [{ data: [{ ...PRODUCT, wa_id: '15550100777' }], paging: PAGING }],
    sent: [get(BLOCKED, { limit: '100', after: 'a0' })],
    reply: { items: [{ wa_id: '15550100777' }], ...CURSORS, limit: 100 },
  },
  {
    method: 'blockUsers',
    request: { users: [INPUT, 'whatsapp:US.4Qm7Zr81Kd02'] },
    answers: [{ ...PRODUCT, block_users: { added_users: [BLOCKED_USER] } }],
    sent: [
      post(BLOCKED, {
        ...PRODUCT,
        block_users: [{ user: INPUT }, { user_id: 'US.4Qm7Zr81Kd02' }],
      }),
    ],
    reply: { done: [BLOCKED_USER], failed: [] },
  },
  {
    method: 'unblockUsers',
    request: { users: [INPUT] },
    answers: [{ ...PRODUCT, block_users: { removed_users: [BLOCKED_USER] } }],
    sent: [del(BLOCKED, { ...PRODUCT, block_users: [{ user: INPUT }] })],
    reply: { done: [BLOCKED_USER], failed: [] },
  },
  {
    method: 'getWaba',
    answers: [SHOP],
    sent: [
      get(ON_WABA, {
        fields:
          'name,currency,timezone_id,account_review_status,business_verification_status,' +
          'owner_business_info,message_template_namespace,health_status,ownership_type,' +
          'is_enabled_for_insights',
      }),
    ],
    reply: { fields: SHOP },
  },
  {
    method: 'listActivities',
    request: { since: 1_789_000_000, until: 1_789_600_000 },
    answers: [{ data: [{ id: '1' }], paging: PAGING }],
    sent: [
      get(`${ON_WABA}/activities`, {
        fields: 'id,activity_type,timestamp,actor_type,actor_id,actor_name,description,details',
        since: '1789000000',
        until: '1789600000',
      }),
    ],
    reply: { items: [{ id: '1' }], after: 'a1' },
  },
  {
    method: 'listAssignedUsers',
    answers: [{ data: [{ id: '4', tasks: ['MANAGE'] }], summary: { total_count: 1 } }],
    sent: [
      get(`${ON_WABA}/assigned_users`, {
        business: '600000000000001',
        fields: 'id,name,business,user_type,tasks',
        limit: '100',
      }),
    ],
    reply: { items: [{ id: '4', tasks: ['MANAGE'] }] },
  },
  {
    method: 'listSolutions',
    answers: [{ data: [{ id: '14', status: 'ACTIVE' }] }],
    sent: [
      get(`${ON_WABA}/solutions`, {
        fields: 'id,name,status,status_for_pending_request,owner_app,owner_permissions',
        limit: '100',
      }),
    ],
    reply: { items: [{ id: '14', status: 'ACTIVE' }] },
  },
  {
    method: 'listSchedules',
    answers: [{ data: [{ anything: { at: 'all' } }] }],
    sent: [get(`${ON_WABA}/schedules`, { limit: '100' })],
    reply: { items: [{ anything: { at: 'all' } }] },
  },
  {
    method: 'listFlows',
    answers: [{ data: [{ id: '11', name: 'signup' }] }],
    sent: [
      get(`${ON_WABA}/flows`, {
        fields: 'id,name,status,categories,validation_errors',
        limit: '100',
      }),
    ],
    reply: { items: [{ id: '11', name: 'signup' }] },
  },
  {
    method: 'getFlow',
    request: { flow_id: '11' },
    answers: [{ id: '11', json_version: '6.0' }, { data: [{ id: '10' }, { id: '11' }] }],
    sent: [
      get(`${BASE}/11`, {
        fields: 'id,name,status,categories,validation_errors,json_version,health_status',
      }),
      get(`${ON_WABA}/flows`, { fields: 'id', limit: '100' }),
    ],
    reply: { fields: { id: '11', json_version: '6.0' } },
  },
];
