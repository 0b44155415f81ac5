import * as schemas from './schemas';
import { compile, type Schema } from '../parts/schema';

const take = (schema: Schema, body: object) => compile(schema, 'body')(body);

test.each<[string, Schema, object, string, object]>([
  ['a call without an action', schemas.placeCall, {}, 'MISSING_FIELDS', { fields: ['action'] }],
  ['another action', schemas.placeCall, { action: 'hold' }, 'INVALID_FIELD', { field: 'action' }],
  [
    'a phone number that is no text',
    schemas.placeCall,
    { action: 'connect', to: 15550100777 },
    'INVALID_FIELD',
    { field: 'to' },
  ],
  [
    'a session that is no object',
    schemas.placeCall,
    { action: 'accept', session: 'v=0' },
    'INVALID_FIELD',
    { field: 'session' },
  ],
  [
    'another kind of session',
    schemas.placeCall,
    { action: 'accept', session: { sdp_type: 'maybe' } },
    'INVALID_FIELD',
    { field: 'session.sdp_type' },
  ],
  ['no subject', schemas.createGroup, {}, 'MISSING_FIELDS', { fields: ['subject'] }],
  [
    'a subject of 129 characters',
    schemas.createGroup,
    { subject: 'x'.repeat(129) },
    'INVALID_FIELD',
    { field: 'subject' },
  ],
  [
    'another way to join',
    schemas.createGroup,
    { subject: 'Team', join_approval_mode: 'never' },
    'INVALID_FIELD',
    { field: 'join_approval_mode' },
  ],
  [
    'an empty list of participants to remove',
    schemas.removeParticipants,
    { participants: [] },
    'MISSING_FIELDS',
    { fields: ['participants'] },
  ],
  [
    'a ninth participant',
    schemas.removeParticipants,
    { participants: [...'123456789'] },
    'INVALID_FIELD',
    { field: 'participants' },
  ],
  [
    'a participant that is a number',
    schemas.removeParticipants,
    { participants: [15550100777] },
    'INVALID_FIELD',
    { field: 'participants[0]' },
  ],
])('rejects %s', (_what, schema, body, code, details) => {
  expect(() => take(schema, body)).toThrow(expect.objectContaining({ code, details }));
});

test.each([{}, { confirm: false }, { confirm: 'yes' }])(
  'deleting a group with %j wants a confirmation',
  (body) => {
    expect(() => take(schemas.deleteGroup, body)).toThrow(
      expect.objectContaining({ code: 'CONFIRMATION_REQUIRED' }),
    );
  },
);

test('accepts a call with any further keys', () => {
  const call = { later: [null, { b: 1 }], action: 'connect', session: { sdp: 'no sdp at all' } };
  expect(JSON.stringify(take(schemas.placeCall, call))).toBe(JSON.stringify(call));
});

test('defaults join_approval_mode to auto_approve', () => {
  expect(take(schemas.createGroup, { subject: 'x'.repeat(128) })).toMatchObject({
    join_approval_mode: 'auto_approve',
  });
});

test('lowers the page size of groups to 1,024', () => {
  expect(compile(schemas.listGroups, 'query')({ limit: '9999' })).toEqual({ limit: 1_024 });
});
