import { anAuditEntry } from '../../../test/audit-entry';
import { faultOfLink, faultsOfRecords, isExpired, linkAfter, sealed } from './chain';
import type { AuditEntry, Link } from './store';

const DAY_MS = 86_400_000;
const KEPT_MS = 400 * DAY_MS;
const AT = new Date('2026-09-01T12:00:00Z');
const later = (ms: number): Date => new Date(AT.getTime() + ms);
const NOW = later(600_000);

const anEntry = (given: Partial<AuditEntry> = {}): AuditEntry =>
  anAuditEntry(AT, { ended_at: later(1_000), ...given });

const aLink = (entries: AuditEntry[], last?: Link): Link =>
  linkAfter(last, {
    at: later(180_000),
    from: AT,
    to: later(60_000),
    records: entries.map(sealed),
  });

/** The problems of a link of `stored` after its records have become `present`. */
const problems = (stored: AuditEntry[], present: AuditEntry[], now = NOW): string[] => {
  const link = aLink(stored);
  const of_period = present.filter(({ ended_at }) => ended_at !== null && ended_at <= link.to);
  const is_expired = isExpired(link, KEPT_MS, now);
  const found = { of_period, by_id: present };
  return faultsOfRecords(link, found, is_expired).map(({ problem }) => problem);
};

describe('a record', () => {
  test('fits its link as it was stored', () => {
    expect(problems([anEntry()], [anEntry()])).toEqual([]);
  });

  test.each([
    ['at', { at: later(1) }],
    ['partner', { partner_id: 'p2' }],
    ['actor', { actor: { type: 'person', id: 'per_9', name: 'ada@example.com' } }],
    ['address of the person', { actor: { type: 'person', id: 'per_1', name: 'eve@example.com' } }],
    ['action', { action: 'GET /people' }],
    ['target', { target: { person_id: 'per_3' } }],
    ['account', { waba_id: '9' }],
    ['fields', { fields: ['email'] }],
    ['values before', { before: { role: 'owner' } }],
    ['values after', { after: { email: 'grace@example.com', role: 'owner' } }],
    ['outcome', { outcome: 'failed' as const }],
    ['code', { code: 'NOT_FOUND' }],
    ['request', { request_id: 'req_2' }],
    ['network', { address: '203.0.113.8' }],
    ['end', { ended_at: later(2_000) }],
    ['end, to a later link', { ended_at: later(120_000) }],
    ['salt', { salt: 'other' }],
    ['address, with the salt removed', { address: '203.0.113.8', salt: undefined }],
  ])('shows that its %s was changed', (_name, change) => {
    expect(problems([anEntry()], [anEntry(change as Partial<AuditEntry>)])).toEqual([
      'was changed',
    ]);
  });

  test('shows that it was removed, until its time has passed', () => {
    expect(problems([anEntry()], [])).toEqual(['was removed']);
    expect(problems([anEntry()], [], later(KEPT_MS))).toEqual([]);
  });

  test('shows that it was added later', () => {
    const added = anEntry({ _id: 'aud_2' });
    expect(problems([anEntry()], [anEntry(), added])).toEqual(['was added after its time']);
  });

  test('still fits once its person is erased, and then no other change', () => {
    const { salt: _salt, ...rest } = anEntry();
    const actor = { type: 'person', id: 'per_1', name: null };
    const erased = { ...rest, actor, address: null, before: null, after: null };
    expect(problems([anEntry()], [erased])).toEqual([]);
    expect(problems([anEntry()], [{ ...erased, action: 'GET /people' }])).toEqual(['was changed']);
  });

  test('of a killed process may get its outcome later, once', () => {
    const open = anEntry({ outcome: 'unknown', ended_at: null });
    expect(problems([open], [anEntry({ ended_at: later(3_600_000) })])).toEqual([]);
    expect(problems([open], [{ ...open, action: 'GET /people' }])).toEqual(['was changed']);
  });

  test('that stands for several changes moves on during its day only', () => {
    const shared = anEntry({ count: 2 });
    expect(problems([shared], [{ ...shared, count: 3, ended_at: later(7_200_000) }])).toEqual([]);
    const next_day = { ...shared, count: 3, ended_at: later(DAY_MS) };
    expect(problems([shared], [next_day])).toEqual(['was changed']);
  });
});

describe('a link', () => {
  const first = aLink([anEntry()]);
  const second = aLink([anEntry({ _id: 'aud_2' })], first);
  const fault = (link: Link, before: Link | undefined, now = NOW) =>
    faultOfLink(link, before, isExpired(link, KEPT_MS, now));

  test('follows the one before', () => {
    expect([fault(first, undefined), fault(second, first)]).toEqual([undefined, undefined]);
  });

  test('shows that it was changed, and that the one before was made again', () => {
    const forged = { ...second, records: [] };
    expect(fault(forged, first)).toMatchObject({ link: 2, problem: 'the link was changed' });
    const anew = aLink([anEntry({ action: 'GET /people' })]);
    expect(fault(second, anew)).toMatchObject({ link: 1, problem: 'the link was changed' });
  });

  test('misses the one before, until the time of that has passed', () => {
    expect(fault(second, undefined)).toMatchObject({ link: 1, problem: 'the link is missing' });
    expect(fault(second, undefined, later(KEPT_MS))).toBeUndefined();
  });
});
