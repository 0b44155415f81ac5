// What the audit log keeps of a request: names of fields, IDs, and only the values that the row
// allows.
import { inputOf, rowOf } from '../../../test/contract/rows';
import type { Fields, Input } from '../endpoints/endpoint';
import { isAudited } from './audited';
import { actorOf, changeOf, idsOf } from './change';

const input = (given: Partial<Input>): Input => inputOf({ target: undefined, ...given });
const target = {
  partner_id: 'ptn_1',
  waba_id: '900000000000001',
  phone_number_id: '800000000000001',
  directory_version: '1',
};

test('keeps allowed values, and of other fields only the names', () => {
  const body = { waba_id: '9', phone_number_id: '8', access_token: 'SECRET', display_name: 'Shop' };
  const change = changeOf(rowOf('POST /clients/register'), input({ body }), {});
  expect(change).toEqual({
    partner_id: 'ptn_1',
    actor: { type: 'partner_key' },
    action: 'POST /clients/register',
    target: { waba_id: '9', phone_number_id: '8' },
    waba_id: '9',
    fields: ['waba_id', 'phone_number_id', 'access_token', 'display_name'],
    after: { display_name: 'Shop' },
    before_of: '',
    before: [],
  });
});

test('keeps nothing of a field that the schema lacks: its name and value may be anything', () => {
  const body = { pin: '123456', 'SECRET-NAME': 'x', key: { key_id: 'forged' } };
  const change = changeOf(rowOf('POST /phone/two-step'), input({ body, target }), {});
  expect(change.fields).toEqual(['pin']);
  expect(JSON.stringify(change)).not.toMatch(/SECRET|123456|forged/);
  const { waba_id, phone_number_id } = target;
  expect(change.target).toEqual({ waba_id, phone_number_id });
});

test('names the number in the body if a request may name another one', () => {
  const body = { code_method: 'SMS', language: 'en_US', phone_number_id: '800000000000002' };
  const change = changeOf(rowOf('POST /phone/request-code'), input({ body, target }), {});
  expect(change.target['phone_number_id']).toBe('800000000000002');
});

test('requests the values before a change, of the fields that it sets', () => {
  const request = input({ params: { key_id: 'key_2' }, body: { scopes: ['read'] } });
  expect(changeOf(rowOf('PATCH /keys/:key_id'), request, { key_id: 'key_1' })).toMatchObject({
    actor: { type: 'api_key', id: 'key_1' },
    target: { key_id: 'key_2' },
    after: { scopes: ['read'] },
    before_of: 'key',
    before: ['scopes'],
  });
});

test.each<[string, Fields, string | undefined]>([
  ['DELETE /keys/:key_id', {}, 'reduces_risk'],
  ['PATCH /keys/:key_id', { scopes: ['read'] }, 'narrows'],
  ['PATCH /people/:person_id', { role: 'support' }, 'narrows'],
  ['POST /keys/:key_id/rotate', { overlap_hours: 0 }, 'reduces_risk'],
  ['POST /keys/:key_id/rotate', { overlap_hours: 1 }, 'change'],
  ['POST /keys', { name: 'x' }, undefined],
])('%s with %j has the kind %s', (action, body, kind) => {
  expect(changeOf(rowOf(action), input({ body }), {}).kind).toBe(kind);
});

test.each<[Fields, Record<string, string>]>([
  [{ client: { waba_id: '9', phone_number_id: '8' } }, { waba_id: '9', phone_number_id: '8' }],
  [{ client: null }, {}],
  [{ client: { waba_id: '' } }, {}],
  [{}, {}],
])('takes IDs of what was created from the reply %j', (reply, ids) => {
  expect(idsOf(rowOf('POST /clients/register-from-code').audit, reply)).toEqual(ids);
});

test.each([
  [{}, undefined, { type: 'partner_key' }],
  [{ key_id: 'key_1' }, undefined, { type: 'api_key', id: 'key_1' }],
  [{ console_session: 'ses_1' }, undefined, { type: 'console', id: 'ses_1' }],
  [{ console_session: 'ses_1', person_id: 'per_1' }, undefined, { type: 'person', id: 'per_1' }],
  [{}, 'cs_1', { type: 'sign_up_link', id: 'cs_1' }],
])('names who made a request: %j, link %s', (state, session_id, actor) => {
  expect(actorOf(state, session_id)).toEqual(actor);
});

test('a new row that changes something is audited by default', () => {
  expect(isAudited({ verb: 'POST' })).toBe(true);
  expect(isAudited({ verb: 'POST', key_scope: 'billing' })).toBe(true);
  expect(isAudited({ verb: 'POST', key_scope: 'send' })).toBe(false);
  expect(isAudited({ verb: 'POST', key_scope: 'send', audit: {} })).toBe(true);
  expect(isAudited({ verb: 'GET', audit: {} })).toBe(false);
});
