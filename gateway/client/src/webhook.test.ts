import { createHmac, randomBytes } from 'node:crypto';
import { verifyWebhook } from './webhook';

const [secret, old_secret, stranger] = [1, 2, 3].map(
  () => `whsec_${randomBytes(32).toString('base64')}`,
) as [string, string, string];
const body = Buffer.from('{"event":"message.received","data":{"text":"谢谢"}}');

/** The headers of Node.js, as the service signs a delivery. */
function headers(key: string, age_s = 0): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000) - age_s);
  const signature = createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
    .update(`evt_1.${timestamp}.`)
    .update(body)
    .digest('base64');
  return {
    'webhook-id': 'evt_1',
    'Webhook-Timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}

test('returns the event of a delivery that one of the secrets has signed', () => {
  const secrets = [secret, old_secret];
  expect(verifyWebhook({ headers: headers(secret), body, secrets }).event).toBe('message.received');
  expect(verifyWebhook({ headers: headers(old_secret), body, secrets })).toHaveProperty('data');
});

test('refuses another secret, changed bytes and an old delivery', () => {
  const secrets = [secret];
  const refused = [
    { headers: headers(stranger), body, secrets },
    { headers: headers(secret), body: Buffer.concat([body, Buffer.from(' ')]), secrets },
    { headers: headers(secret, 600), body, secrets },
    { headers: headers(secret), body, secrets: [] },
    { headers: {}, body, secrets },
  ];
  for (const request of refused) expect(() => verifyWebhook(request)).toThrow();
});
