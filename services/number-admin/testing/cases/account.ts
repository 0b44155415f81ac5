// Profile, blocking and the account's diagnostics.
import { WABA } from '../build';
import { BASE, CURSORS, OK, ON_NUMBER, ON_WABA, PAGING, PRODUCT, type Case } from './case';

export const account: Case[] = [
  {
    method: 'getProfile',
    answers: [{ data: [{ ...PRODUCT, about: 'Plants', websites: ['https://example.org/'] }] }],
    sent: [
      {
        method: 'GET',
        path: `${ON_NUMBER}/whatsapp_business_profile`,
        query: {
          fields: 'about,address,description,email,profile_picture_url,websites,vertical',
        },
      },
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
    answers: [OK],
    sent: [
      {
        method: 'POST',
        path: `${ON_NUMBER}/whatsapp_business_profile`,
        query: {},
        body: { ...PRODUCT, about: '', websites: [] },
      },
    ],
    reply: {},
  },
  {
    method: 'listBlocked',
    request: { limit: 500, after: 'a0' },
    answers: [{ data: [{ ...PRODUCT, wa_id: '15550100777' }], paging: PAGING }],
    sent: [
      {
        method: 'GET',
        path: `${ON_NUMBER}/block_users`,
        query: { limit: '100', after: 'a0' },
      },
    ],
    reply: { items: [{ wa_id: '15550100777' }], ...CURSORS, limit: 100 },
  },
  {
    method: 'blockUsers',
    request: { users: ['+15550100777', 'whatsapp:US.4Qm7Zr81Kd02'] },
    answers: [
      {
        ...PRODUCT,
        block_users: { added_users: [{ input: '+15550100777', wa_id: '15550100777' }] },
      },
    ],
    sent: [
      {
        method: 'POST',
        path: `${ON_NUMBER}/block_users`,
        query: {},
        body: {
          ...PRODUCT,
          block_users: [{ user: '+15550100777' }, { user_id: 'US.4Qm7Zr81Kd02' }],
        },
      },
    ],
    reply: { done: [{ input: '+15550100777', wa_id: '15550100777' }], failed: [] },
  },
  {
    method: 'unblockUsers',
    request: { users: ['+15550100777'] },
    answers: [
      { ...PRODUCT, block_users: { removed_users: [{ input: '+15550100777', wa_id: '1' }] } },
    ],
    sent: [
      {
        method: 'DELETE',
        path: `${ON_NUMBER}/block_users`,
        body: { ...PRODUCT, block_users: [{ user: '+15550100777' }] },
      },
    ],
    reply: { done: [{ input: '+15550100777', wa_id: '1' }], failed: [] },
  },
  {
    method: 'getWaba',
    answers: [{ id: WABA, name: 'Example Shop', health_status: { can_send_message: 'LIMITED' } }],
    sent: [
      {
        method: 'GET',
        path: ON_WABA,
        query: {
          fields:
            'name,currency,timezone_id,account_review_status,business_verification_status,' +
            'owner_business_info,message_template_namespace,health_status,ownership_type,' +
            'is_enabled_for_insights',
        },
      },
    ],
    reply: {
      fields: { id: WABA, name: 'Example Shop', health_status: { can_send_message: 'LIMITED' } },
    },
  },
  {
    method: 'listActivities',
    request: { since: 1_789_000_000, until: 1_789_600_000 },
    answers: [{ data: [{ id: '1' }], paging: PAGING }],
    sent: [
      {
        method: 'GET',
        path: `${ON_WABA}/activities`,
        query: {
          fields: 'id,activity_type,timestamp,actor_type,actor_id,actor_name,description,details',
          since: '1789000000',
          until: '1789600000',
        },
      },
    ],
    reply: { items: [{ id: '1' }], after: 'a1' },
  },
  {
    method: 'listAssignedUsers',
    answers: [{ data: [{ id: '4', tasks: ['MANAGE'] }], summary: { total_count: 1 } }],
    sent: [
      {
        method: 'GET',
        path: `${ON_WABA}/assigned_users`,
        query: {
          business: '600000000000001',
          fields: 'id,name,business,user_type,tasks',
          limit: '100',
        },
      },
    ],
    reply: { items: [{ id: '4', tasks: ['MANAGE'] }] },
  },
  {
    method: 'listSolutions',
    answers: [{ data: [{ id: '14', status: 'ACTIVE' }] }],
    sent: [
      {
        method: 'GET',
        path: `${ON_WABA}/solutions`,
        query: {
          fields: 'id,name,status,status_for_pending_request,owner_app,owner_permissions',
          limit: '100',
        },
      },
    ],
    reply: { items: [{ id: '14', status: 'ACTIVE' }] },
  },
  {
    method: 'listSchedules',
    answers: [{ data: [{ anything: { at: 'all' } }] }],
    sent: [{ method: 'GET', path: `${ON_WABA}/schedules`, query: { limit: '100' } }],
    reply: { items: [{ anything: { at: 'all' } }] },
  },
  {
    method: 'listFlows',
    answers: [{ data: [{ id: '11', name: 'signup' }] }],
    sent: [
      {
        method: 'GET',
        path: `${ON_WABA}/flows`,
        query: { fields: 'id,name,status,categories,validation_errors', limit: '100' },
      },
    ],
    reply: { items: [{ id: '11', name: 'signup' }] },
  },
  {
    method: 'getFlow',
    request: { flow_id: '11' },
    answers: [{ id: '11', json_version: '6.0' }, { data: [{ id: '10' }, { id: '11' }] }],
    sent: [
      {
        method: 'GET',
        path: `${BASE}/11`,
        query: {
          fields: 'id,name,status,categories,validation_errors,json_version,health_status',
        },
      },
      { method: 'GET', path: `${ON_WABA}/flows`, query: { fields: 'id', limit: '100' } },
    ],
    reply: { fields: { id: '11', json_version: '6.0' } },
  },
];
