// A key that leaked uses up its quota of changes, and its partner the rest: the owner still narrows
// and revokes it, and logs in.
import { callRest, joinMesh, ONE } from '../harness/shared-mesh';
import { ADA } from './endpoint-stage';
import { useMesh } from './use-mesh';

const CHANGES_MAX = 10;
const OF_A_KEY = 2;
const NUMBER = { 'x-waba-id': ONE.waba_id };

const mesh = useMesh(() => joinMesh({ AUDITED_CHANGES_MAX: String(CHANGES_MAX) }, ['onboarding']));

test('the owner narrows and revokes a leaked key, and logs in, when all changes are used up', async () => {
  const partner = await mesh.createPartner();
  await partner.register(ONE);
  const made = await partner.call('POST', '/keys', { name: 'Shop', scopes: ['send', 'read'] });
  const path = `/keys/${made.body.key.key_id as string}`;
  const leaked = { 'x-partner-key': made.body.secret as string, ...NUMBER };
  const broadcast = {
    name: 'Spam',
    template_name: 'none',
    template_language: 'en_US',
    contacts: [ADA],
  };
  const change = () => partner.call('POST', '/broadcasts', broadcast, leaked);
  for (let at = 0; at < OF_A_KEY; at += 1) expect((await change()).status).not.toBe(429);
  const refused = await change();
  expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
    429,
    'RATE_LIMIT_EXCEEDED',
    { limit: OF_A_KEY },
  ]);
  const invite = () =>
    partner.call('POST', '/people', { email: 'ada@shop.example', role: 'support' });
  expect((await invite()).status).toBe(201);
  for (let at = 0; at < CHANGES_MAX; at += 1) await invite();
  expect((await invite()).status).toBe(429);
  const send = () => partner.call('POST', '/messages/send', { to: ADA, text: 'Hi' }, leaked);
  expect((await send()).status).toBe(200);

  expect((await partner.call('PATCH', path, { scopes: ['read'] })).status).toBe(200);
  expect((await send()).status).toBe(403);
  const { origin } = new URL(mesh.base_url);
  const { partner_key } = partner;
  const log_in = await callRest(
    `${origin}/dashboard/api`,
    'POST',
    '/session',
    { partner_key },
    { origin },
  );
  expect(log_in.status).toBe(201);
  expect((await partner.call('DELETE', path)).status).toBe(200);
  expect((await send()).status).toBe(401);
});
