// The rows of number administration over HTTP, with a stubbed service behind them.
import { useApp } from '../../../test/app';
import { callsGroups } from './rows';
import { diagnostics } from '../diagnostics/rows';
import { numberSetup } from '../number-setup/rows';
import { phone } from '../phone/rows';
import { profile } from '../profile/rows';

const { start } = useApp();
let port: number;
let asked: Array<[method: string, request: unknown]> = [];
let reply: object = {};

const TARGET = {
  partner_id: 'par_1',
  waba_id: '900',
  phone_number_id: '800',
  directory_version: 'v1',
};

beforeAll(async () => {
  const service = {
    get: (_rpc: object, method: string) => async (request: unknown) => {
      asked.push([method, request]);
      return reply;
    },
  };
  port = await start({
    endpoints: [...profile, ...numberSetup, ...diagnostics, ...phone, ...callsGroups],
    scope: async () => TARGET,
    client: () => new Proxy({}, service),
  });
});

async function rest(verb: string, path: string, body?: object) {
  asked = [];
  const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
    method: verb,
    headers: { 'x-partner-key': 'k', 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const FIELDS = { fields: { id: '1', more: null } };
const ITEMS = { items: [{ id: '1' }], before: 'b', after: 'a', limit: 100 };
const PAGE = { paging: { cursors: { before: 'b', after: 'a' } }, limit: 100 };
const NODE = { id: '1', more: null };
const QR = {
  code: 'AB',
  prefilled_message: 'Hi',
  deep_link_url: 'https://l',
  qr_image_url: 'https://i',
};
const AUTOMATION = { enable_welcome_message: true, prompts: [], commands: [] };
const COMMERCE = { is_cart_enabled: true, is_catalog_visible: false };
const BLOCKED = { done: [{ input: '1' }], failed: [{ input: '2' }] };
const USERS = { users: ['1', '2'] };

test.each<[string, string, object | undefined, object, object]>([
  ['GET', '/profile', undefined, FIELDS, { profile: NODE }],
  ['GET', '/qr-codes', undefined, { qr_codes: [QR] }, { qr_codes: [QR] }],
  ['POST', '/qr-codes', { prefilled_message: 'Hi' }, QR, QR],
  ['GET', '/conversational-automation', undefined, AUTOMATION, AUTOMATION],
  ['GET', '/blocked', undefined, ITEMS, { blocked: [{ id: '1' }], ...PAGE }],
  ['POST', '/blocked', USERS, BLOCKED, { blocked: BLOCKED.done, failed: BLOCKED.failed }],
  ['DELETE', '/blocked', USERS, BLOCKED, { unblocked: BLOCKED.done, failed: BLOCKED.failed }],
  ['GET', '/commerce-settings', undefined, COMMERCE, { commerce_settings: COMMERCE }],
  ['GET', '/settings', undefined, FIELDS, { settings: NODE }],
  ['POST', '/settings', { calling: { status: 'ENABLED' } }, {}, {}],
  ['GET', '/phone-status?phone_number_id=801', undefined, FIELDS, { phone: NODE }],
  ['GET', '/waba', undefined, FIELDS, { waba: NODE }],
  [
    'GET',
    '/waba/activities?limit=300',
    undefined,
    { items: [], limit: 200 },
    { activities: [], limit: 200 },
  ],
  ['GET', '/waba/assigned-users', undefined, { items: [] }, { assigned_users: [] }],
  ['GET', '/waba/solutions', undefined, { items: [] }, { solutions: [] }],
  ['GET', '/schedules', undefined, { items: [] }, { schedules: [] }],
  ['GET', '/flows', undefined, { items: [], after: 'a' }, { flows: [], truncated: true }],
  ['GET', '/flows/11', undefined, FIELDS, { id: '1', flow: NODE }],
  ['POST', '/phone/request-code', { code_method: 'SMS', language: 'en' }, { fields: {} }, {}],
  ['POST', '/phone/verify-code', { code: '123456' }, FIELDS, { phone: NODE }],
  ['POST', '/phone/two-step', { pin: '123456' }, { pin_stored: true }, { pin_stored: true }],
  ['POST', '/phone/register', {}, { fields: {} }, {}],
  ['POST', '/phone/register', undefined, { fields: {} }, {}],
  ['POST', '/calls', { action: 'connect', to: '1' }, { fields: { calls: [] } }, { calls: [] }],
  [
    'GET',
    '/groups',
    undefined,
    { items: [] },
    { groups: [], paging: { cursors: { before: null, after: null } } },
  ],
  [
    'POST',
    '/groups',
    { subject: 'T' },
    { fields: { request_id: 'r' } },
    { group: { request_id: 'r' } },
  ],
  ['GET', '/groups/Y2Fw%3D%3D', undefined, FIELDS, { group: NODE }],
  ['DELETE', '/groups/Y2Fw%3D%3D', { confirm: true }, { fields: {} }, {}],
  ['DELETE', '/groups/g/participants', { participants: ['1'] }, FIELDS, { group: NODE }],
])('%s %s answers as in the contract', async (verb, path, body, answer, expected) => {
  reply = answer;
  const result = await rest(verb, path, body);
  expect(result.body).toEqual({ success: true, ...expected });
  expect(result.status).toBe(
    verb === 'POST' && ['/qr-codes', '/groups'].includes(path) ? 201 : 200,
  );
});

const HEALTH = { can_send_message: 'BLOCKED', entities: [] };

test.each<[string, string, object]>([
  [
    '/waba',
    'waba',
    {
      ...{ name: 'Shop', currency: 'USD', timezone_id: '1', account_review_status: 'APPROVED' },
      ...{ business_verification_status: 'verified', owner_business_info: { id: '6' } },
      ...{ message_template_namespace: 'n', health_status: HEALTH, ownership_type: 'SELF' },
      is_enabled_for_insights: true,
    },
  ],
  [
    '/flows/11',
    'flow',
    {
      ...{ id: '11', name: 'Booking', status: 'DRAFT', categories: ['OTHER'] },
      ...{ validation_errors: [], json_version: '7.0', health_status: HEALTH },
    },
  ],
  [
    '/groups/g',
    'group',
    {
      ...{ subject: 'Gardeners', description: '', participants: [{ wa_id: '1' }] },
      join_approval_mode: 'auto_approve',
    },
  ],
])('GET %s shows the contract’s fields at the top, and all under %s', async (path, name, shown) => {
  const node = { more: 1, success: false, error: 'x', [name]: 'upstream', ...shown };
  reply = { fields: node };
  const { body } = await rest('GET', path);
  expect(body).toEqual({ success: true, ...shown, [name]: node });
});

const requestOf = async (verb: string, path: string, body?: object): Promise<unknown> => {
  reply = {};
  await rest(verb, path, body);
  return asked[0]?.[1];
};

test('reads a body on DELETE and decodes the group id once', async () => {
  expect(
    await requestOf('DELETE', '/groups/Y2Fw%2B%3D%3D/participants', {
      participants: [
        '+1555',
        { wa_id: '1666', user_id: 'US.1', username: 'ada' },
        { user_id: 'US.2' },
        {},
      ],
    }),
  ).toEqual({ target: TARGET, group_id: 'Y2Fw+==', participants: ['+1555', '1666', 'US.2', ''] });
});

test('keeps absent automation fields absent and empty ones empty', async () => {
  expect(await requestOf('POST', '/conversational-automation', { prompts: [] })).toEqual({
    target: TARGET,
    enable_welcome_message: undefined,
    prompts: { items: [] },
    commands: undefined,
  });
});

test('passes the bodies of calls and settings on unchanged', async () => {
  const call = { later: { x: [null] }, action: 'connect' };
  expect(await requestOf('POST', '/calls', call)).toEqual({ target: TARGET, call });
  const settings = { unheard_of: { on: true }, calling: { status: 'DISABLED' } };
  expect(await requestOf('POST', '/settings', settings)).toEqual({ target: TARGET, settings });
});

test('prefers the code in the path over one in the body', async () => {
  const body = { code: 'ZZ', prefilled_message: 'Hi', target: { partner_id: 'other' } };
  expect(await requestOf('PUT', '/qr-codes/AB', body)).toEqual({
    target: TARGET,
    code: 'AB',
    prefilled_message: 'Hi',
  });
});

test('accepts phone_number_id in the body, or in the query of the status', async () => {
  const other = { phone_number_id: '801' };
  expect(await requestOf('POST', '/phone/deregister', { confirm: true, ...other })).toEqual({
    target: TARGET,
    ...other,
  });
  expect(await requestOf('GET', '/phone-status?phone_number_id=801')).toEqual({
    target: TARGET,
    ...other,
  });
});
