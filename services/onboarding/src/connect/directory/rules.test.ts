import type { Client } from '../../ground/clients';
import { receivingClients, validSecrets } from './rules';

const NOW = new Date('2026-03-01T00:00:00Z');
const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * 86_400_000);

const aClient = (partner_id: string, given: Partial<Client> = {}): Client =>
  ({ partner_id, phone_number_id: '8001', known_since: daysAgo(10), ...given }) as Client;
const receiving = (...rows: Client[]): string[] =>
  receivingClients(rows, NOW).map(({ partner_id }) => partner_id);

const dead = { token_expires_at: daysAgo(1) };

test('all clients with access receive events', () => {
  const later = { token_expires_at: new Date(NOW.getTime() + 1) };
  expect(
    receiving(aClient('a'), aClient('b', later), aClient('c', { token_expires_at: null })),
  ).toEqual(['a', 'b', 'c']);
});

test('a client whose access was withdrawn does not, even as the only one', () => {
  const withdrawn = aClient('a', { withdrawn_at: daysAgo(1) });
  expect(receiving(withdrawn)).toEqual([]);
  expect(receiving(withdrawn, aClient('b'))).toEqual(['b']);
});

test('a client with a dead token does until another partner onboards the number', () => {
  expect(receiving(aClient('a', dead))).toEqual(['a']);
  expect(receiving(aClient('a', dead), aClient('b', { known_since: daysAgo(5) }))).toEqual(['b']);
});

test.each<[string, Partial<Client>]>([
  ['onboarded it earlier', { known_since: daysAgo(20) }],
  ['onboarded another number', { known_since: daysAgo(5), phone_number_id: '8002' }],
])('a client with a dead token keeps its events beside a partner that %s', (_name, given) => {
  expect(receiving(aClient('a', dead), aClient('b', given))).toEqual(['a', 'b']);
});

test.each<[string, Partial<Client>]>([
  ['whose token is dead too', dead],
  ['whose access was withdrawn', { withdrawn_at: daysAgo(2) }],
])('a client with a dead token is not replaced by a partner %s', (_name, given) => {
  const other = aClient('b', { known_since: daysAgo(5), ...given });
  expect(receiving(aClient('a', dead), other)).toContain('a');
});

test('rows from before the time of onboarding was stored count from their registration', () => {
  const { known_since: _unused, ...old } = aClient('a', dead);
  const first = { ...old, registered_at: daysAgo(30) } as Client;
  expect(receiving(first, aClient('b'))).toEqual(['b']);
});

const later = (minutes: number): Date => new Date(NOW.getTime() + minutes * 60_000);

describe('the valid secrets of a key', () => {
  const secrets = (previous_end: Date | null, expires_at: Date | null) =>
    validSecrets(
      {
        key_hash: 'new',
        previous: previous_end && { key_hash: 'old', expires_at: previous_end },
        expires_at,
      },
      NOW,
    );

  test('are the present one, and the one before until the overlap or the key ends', () => {
    expect(secrets(null, null)).toEqual([{ key_hash: 'new', expires_at: null }]);
    expect(secrets(later(5), null)).toEqual([
      { key_hash: 'new', expires_at: null },
      { key_hash: 'old', expires_at: later(5) },
    ]);
    expect(secrets(later(5), later(2)).map(({ expires_at }) => expires_at)).toEqual([
      later(2),
      later(2),
    ]);
    expect(secrets(NOW, null)).toHaveLength(1);
  });

  test('are none once the key has expired', () => {
    expect(secrets(later(5), NOW)).toEqual([]);
  });
});
