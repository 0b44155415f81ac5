import { validSecrets } from './valid-secrets';

const NOW = new Date('2026-09-01T12:00:00Z');
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
