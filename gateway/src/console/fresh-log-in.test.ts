import { endpoints } from '../endpoints';
import { checkFreshLogIn } from './fresh-log-in';
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
