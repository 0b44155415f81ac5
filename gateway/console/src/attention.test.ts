import type { Client, DataSync, Person, RaisedAlert, Settings } from './api/types';
import { attentionOf, type Known } from './attention';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const anAlert = (overrides: Partial<RaisedAlert> = {}): RaisedAlert => ({
  cause: 'spend_per_day',
  day: '2026-11-22',
  value: '12.5',
  threshold: '10',
  currency: 'USD',
  phone_number_id: null,
  raised_at: '2026-11-22T11:00:00Z',
  ...overrides,
});
const found = (known: Partial<Known>) =>
  attentionOf(
    {
      ...{ settings: undefined, clients: [], billing: undefined, failed_events: 0 },
      people: undefined,
      ...known,
    },
    NOW,
  );
const alerted = (...raised_alerts: RaisedAlert[]) =>
  found({ settings: { webhook_url: 'https://example.org', raised_alerts } as Settings });

test('shows an alert of the last day with its figures and where to look', () => {
  expect(alerted(anAlert())).toMatchObject([
    {
      id: 'alert-spend_per_day-2026-11-22',
      text: '12.5 USD on 2026-11-22; your threshold is 10.',
      to: '/usage/ledger',
    },
  ]);
});

test('shows no older alert, and none of a cause that it does not know', () => {
  const old = anAlert({ raised_at: '2026-11-21T11:00:00Z' });
  expect(alerted(old, anAlert({ cause: 'weather' }))).toEqual([]);
});

test('shows an alert without a figure in words', () => {
  const alert = anAlert({ cause: 'unpaid_slots', value: '1', threshold: 'true', currency: null });
  expect(alerted(alert)[0]?.text).toBe('It happened on 2026-11-22.');
});

const withSync = (sync: Partial<DataSync> | null) =>
  found({
    clients: [
      {
        ...{ waba_id: '900', phone_number_id: '800', display_name: 'Shop', status: 'active' },
        data_sync: sync && { status: 'waiting', request_until: '2026-11-22T21:30:00Z', ...sync },
      } as Client,
    ],
  });

test('counts down the hours in which a data sync can be requested', () => {
  const shown = { search: { open: '900/800' }, to: '/numbers' };
  expect(withSync({})).toMatchObject([
    { title: 'The data sync of Shop waits: 10 hours are left', severe: false, ...shown },
  ]);
  expect(withSync({ request_until: '2026-11-22T12:20:00Z' })).toMatchObject([
    { title: 'The data sync of Shop waits: 1 hour is left', severe: true, ...shown },
  ]);
  const missed = [{ title: 'The data sync of Shop was missed', severe: true, ...shown }];
  expect(withSync({ request_until: '2026-11-22T11:59:00Z' })).toMatchObject(missed);
  expect(withSync({ status: 'expired' })).toMatchObject(missed);
});

test('ignores a data sync that is requested, absent, or missed long ago', () => {
  expect(withSync({ status: 'requested' })).toEqual([]);
  expect(withSync(null)).toEqual([]);
  expect(withSync({ status: 'expired', request_until: '2026-11-10T00:00:00Z' })).toEqual([]);
});

test('shows a new passkey for a week', () => {
  const people = ['2026-11-16T12:00:00Z', '2026-11-15T11:59:00Z', null].map(
    (passkey_added_at, at) => ({ person_id: `per_${at}`, email: `${at}@a.b`, passkey_added_at }),
  ) as Person[];
  expect(found({ people })).toMatchObject([
    { title: '0@a.b has a new passkey', to: '/settings/people', severe: false },
  ]);
});
