import type { Context } from 'koa';
import { endpoints } from '../endpoints';
import { createMemoryBucket } from '../limits/bucket';
import { checkFreshLogIn, checkOwnSite, checkRate } from './checks';
import { createRoutes } from './routes';

const NOW = new Date('2026-09-01T12:00:00Z');
const ago = (seconds: number) => ({ authenticated_at: new Date(NOW.getTime() - seconds * 1_000) });
const FRESH = { fresh_log_in: true } as const;

test.each([
  ['of a minute ago', ago(60), FRESH, true],
  ['of six minutes ago', ago(360), FRESH, false],
  ['of which the issuer does not say when', { authenticated_at: new Date(0) }, FRESH, false],
  ['at a service of the previous release', { authenticated_at: undefined }, FRESH, true],
  ['of six minutes ago, for what needs no fresh one', ago(360), {}, true],
])('a log-in %s suffices: %#', (_name, session, row, suffices) => {
  const check = expect(() => checkFreshLogIn(session, row, NOW));
  if (suffices) check.not.toThrow();
  else check.toThrow(expect.objectContaining({ code: 'FRESH_LOG_IN_REQUIRED' }));
});

test('new credentials, secrets, invitations and approvals need a fresh log-in', () => {
  const routes = createRoutes({ public_url: 'https://gateway.example.com' } as never);
  const fresh = [...endpoints, ...routes].filter((row) => row.fresh_log_in);
  expect(fresh.map(({ verb, path }) => `${verb.toUpperCase()} ${path}`).sort()).toEqual([
    'PATCH /people/:person_id',
    'POST /broadcasts/:broadcast_id/approve',
    'POST /keys',
    'POST /keys/:key_id/rotate',
    'POST /passkeys',
    'POST /passkeys/options',
    'POST /people',
    'POST /people/:person_id/invitation',
    'POST /webhook-secret/reveal',
    'POST /webhook-secret/rotate',
    'POST /webhook/rotate-secret',
    'PUT /broadcast-approval',
  ]);
});

describe('a change', () => {
  const OWN = 'https://gateway.example.com';
  const from = (headers: Record<string, string>) => () =>
    checkOwnSite({ get: (name: string) => headers[name] ?? '' } as unknown as Context, OWN);

  test.each([
    { origin: OWN },
    { origin: OWN, 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-origin' },
  ])('is accepted with the headers %j', (headers) => {
    expect(from(headers as Record<string, string>)).not.toThrow();
  });

  test.each([
    {},
    { origin: 'null' },
    { origin: 'http://gateway.example.com' },
    { origin: 'https://gateway.example.com.evil.example' },
    { origin: 'https://gateway.example.com:8443' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  ])('is refused with the headers %j', (headers) => {
    expect(from(headers as Record<string, string>)).toThrow(/header Origin/);
  });
});

const OVERVIEW_REQUESTS = 18;

test('three overviews of a partner at once are served, a fourth waits, another partner does not', async () => {
  const bucket = createMemoryBucket(() => 0);
  const outcomes = async (partner_id: string, count: number): Promise<number> => {
    const checks = Array.from({ length: count }, () => checkRate(bucket, partner_id));
    return (await Promise.allSettled(checks)).filter(({ status }) => status === 'fulfilled').length;
  };
  expect(await outcomes('one', 3 * OVERVIEW_REQUESTS)).toBe(3 * OVERVIEW_REQUESTS);
  expect(await outcomes('one', OVERVIEW_REQUESTS)).toBe(6);
  await expect(checkRate(bucket, 'one')).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
  expect(await outcomes('two', OVERVIEW_REQUESTS)).toBe(OVERVIEW_REQUESTS);
});
