import * as schemas from './schemas';
import { compile } from '../parts/schema';

const activities = compile(schemas.listActivities, 'query');
const users = compile(schemas.listAssignedUsers, 'query');

test('lowers the limit of the activity log to 200', () => {
  expect(activities({ limit: '500', since: '0', until: '1789600000' })).toEqual({
    limit: 200,
    since: 0,
    until: 1_789_600_000,
  });
});

test.each([
  ['limit', '0'],
  ['limit', 'many'],
  ['since', '-1'],
  ['since', '2026-09-01'],
  ['until', '1.5'],
])('rejects %s=%s', (field, value) => {
  expect(() => activities({ [field]: value })).toThrow(
    expect.objectContaining({ code: 'INVALID_FIELD', details: { field } }),
  );
});

test('accepts only an id as business_id', () => {
  expect(users({ business_id: '600' })).toEqual({ business_id: '600' });
  expect(() => users({ business_id: '6/0' })).toThrow(
    expect.objectContaining({ code: 'INVALID_FIELD', details: { field: 'business_id' } }),
  );
});
