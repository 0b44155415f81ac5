import { anAuditEntry } from '../../../test/audit-entry';
import { refusal } from '../../../test/refusal';
import {
  auditCsvHeader,
  auditCsvLine,
  boundedTarget,
  kindOf,
  quotasOf,
  readCursor,
  recordable,
  writeCursor,
} from './rules';

test('of an address only the host is kept', () => {
  expect(
    recordable({ webhook_url: 'https://user:pw@hooks.example.com:8443/T0/secret?token=x#y' }),
  ).toEqual({ webhook_url: 'https://hooks.example.com:8443/…' });
  expect(recordable({ logo_url: 'https://' })).toEqual({ logo_url: '(not an address)' });
});

test('a value that is too long is not kept; no values are null', () => {
  expect(recordable({ name: 'x'.repeat(10_000), scopes: ['read'] })).toEqual({
    name: '(too long to be recorded)',
    scopes: ['read'],
  });
  expect(recordable({})).toBeNull();
  expect(recordable(undefined)).toBeNull();
});

test('targets have plain names, and are bounded', () => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_one, at) => [`id${at}`, 'x']));
  expect(Object.keys(boundedTarget(many))).toHaveLength(20);
  expect(boundedTarget({ 'a.b': '1', $set: '2', key_id: 'k'.repeat(300) })).toEqual({
    key_id: 'k'.repeat(256),
  });
});

test('a cursor returns to its place, and any other text is refused', () => {
  const place = { at: new Date('2026-09-01T12:00:00.123Z'), id: 'aud_1' };
  expect(readCursor(writeCursor(place))).toEqual(place);
  const texts = Buffer.from('["x","y"]').toString('base64url');
  for (const text of ['', 'x', 'WzFd', 'W10', 'e30', texts]) {
    expect(() => readCursor(text)).toThrow(refusal('INVALID_FIELD', { field: 'cursor' }));
  }
});

test('CSV has a cell for each column, which no spreadsheet runs', () => {
  const entry = anAuditEntry(new Date('2026-09-01T12:00:00Z'), {
    actor: { type: 'api_key', id: 'key_1', name: '=HYPERLINK("x")' },
    action: 'PATCH /keys/{key_id}',
    target: { key_id: 'key_2' },
    fields: ['name', 'scopes'],
    after: { name: 'B' },
    request_id: 'r',
    ended_at: null,
  });
  expect(auditCsvHeader.split(',')).toHaveLength(16);
  expect(auditCsvLine(entry)).toBe(
    `aud_1,2026-09-01T12:00:00.000Z,api_key,key_1,"'=HYPERLINK(""x"")",PATCH /keys/{key_id},` +
      `"{""key_id"":""key_2""}",name scopes,,"{""name"":""B""}",succeeded,,r,203.0.113.7,,1\r\n`,
  );
});

const KEY = { scopes: ['send', 'read'], waba_ids: null, addresses: ['203.0.113.0/24'] };

test.each([
  ['narrows', 'key', KEY, { scopes: ['read'] }, 'reduces_risk'],
  ['narrows', 'key', KEY, { scopes: ['read'], name: 'Shop' }, 'reduces_risk'],
  ['narrows', 'key', KEY, { waba_ids: ['9'] }, 'reduces_risk'],
  ['narrows', 'key', KEY, { addresses: ['203.0.113.7'] }, 'reduces_risk'],
  ['narrows', 'key', KEY, { expires_at: '2027-01-01T00:00:00Z' }, 'reduces_risk'],
  ['narrows', 'key', KEY, { addresses: null }, 'change'],
  ['narrows', 'key', KEY, { scopes: ['read', 'manage'] }, 'change'],
  ['narrows', 'key', KEY, { scopes: ['read'], addresses: null }, 'change'],
  ['narrows', 'key', KEY, { name: 'Shop' }, 'change'],
  ['narrows', 'key', null, { scopes: ['read'] }, 'change'],
  ['narrows', 'person', { role: 'owner' }, { role: 'support' }, 'reduces_risk'],
  ['narrows', 'person', { role: 'support' }, { role: 'owner' }, 'change'],
  ['reduces_risk', '', null, null, 'reduces_risk'],
  ['log_in', '', null, null, 'log_in'],
  ['of a later release', '', null, null, 'change'],
  [undefined, '', null, null, 'change'],
])('a change of the kind %s (%s from %j to %j) is %s', (given, of, before, after, kind) => {
  expect(kindOf(given, of, { before, after })).toBe(kind);
});

test('a key, a link and a person have far less than the partner', () => {
  expect(quotasOf(50_000)).toEqual({
    changes: 50_000,
    programs: 25_000,
    changes_of: { api_key: 10_000, person: 10_000, sign_up_link: 100 },
    reserve: 5_000,
    reserve_of_one: 1_000,
  });
});
