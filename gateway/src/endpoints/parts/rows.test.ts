// The replies that rows of several chapters share, and the requests of number administration.
import { replyOf, requestOf, TARGET } from '../../../../test/contract/rows';

const NODE = { id: '1', more: null };
const ITEMS = [{ id: '1' }];
const BLOCKED = { done: [{ input: '1' }], failed: [{ input: '2' }] };
const COMMERCE = { is_cart_enabled: true, is_catalog_visible: false };

test.each<[string, string, object, object]>([
  ['a node under its name', 'GET /settings', { fields: NODE }, { settings: NODE }],
  ['the fields of a call', 'POST /calls', { fields: { calls: [] } }, { calls: [] }],
  ['an outcome', 'POST /phone/verify-code', { fields: NODE }, { phone: NODE }],
  ['no outcome without fields', 'POST /phone/register', { fields: {} }, {}],
  [
    'a page',
    'GET /blocked',
    { items: ITEMS, before: 'b', after: 'a', limit: 100 },
    { blocked: ITEMS, paging: { cursors: { before: 'b', after: 'a' } }, limit: 100 },
  ],
  [
    'the only page',
    'GET /groups',
    { items: [] },
    { groups: [], paging: { cursors: { before: null, after: null } } },
  ],
  ['a whole list', 'GET /waba/solutions', { items: ITEMS }, { solutions: ITEMS }],
  [
    'a list that is too long',
    'GET /waba/activities',
    { items: [], after: 'a', limit: 200 },
    { activities: [], truncated: true, limit: 200 },
  ],
  ['blocked users', 'POST /blocked', BLOCKED, { blocked: BLOCKED.done, failed: BLOCKED.failed }],
  [
    'unblocked users',
    'DELETE /blocked',
    BLOCKED,
    { unblocked: BLOCKED.done, failed: BLOCKED.failed },
  ],
  ['commerce settings', 'GET /commerce-settings', COMMERCE, { commerce_settings: COMMERCE }],
])('answers %s: %s', (_what, name, reply, answer) => {
  expect(replyOf(name, reply)).toEqual(answer);
});

test.each([
  ['GET /waba', 'waba', { name: 'Shop', currency: 'USD', health_status: { entities: [] } }],
  ['GET /flows/:flow_id', 'flow', { id: '11', json_version: '7.0', validation_errors: [] }],
  ['GET /groups/:group_id', 'group', { subject: 'Gardeners', participants: [{ wa_id: '1' }] }],
])('%s shows the contract’s fields at the top, and all under %s', (name, key, shown) => {
  const fields = { more: 1, success: false, error: 'x', [key]: 'upstream', ...shown };
  expect(replyOf(name, { fields })).toEqual({ ...shown, [key]: fields });
});

test('keeps absent automation fields absent and empty ones empty', () => {
  expect(requestOf('POST /conversational-automation', { body: { prompts: [] } })).toEqual({
    target: TARGET,
    enable_welcome_message: undefined,
    prompts: { items: [] },
    commands: undefined,
  });
});

test.each([
  ['POST /calls', 'call', { later: { x: [null] }, action: 'connect' }],
  ['POST /settings', 'settings', { unheard_of: { on: true }, calling: { status: 'DISABLED' } }],
])('%s passes its body on unchanged', (name, field, body) => {
  expect(requestOf(name, { body })).toEqual({ target: TARGET, [field]: body });
});
