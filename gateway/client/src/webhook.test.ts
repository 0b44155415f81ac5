import { createHmac, randomBytes } from 'node:crypto';
import { verifyServiceSignature, verifyWebhook } from './webhook';

const [secret, old_secret, stranger] = [1, 2, 3].map(
  () => `whsec_${randomBytes(32).toString('base64')}`,
) as [string, string, string];
const body = Buffer.from('{"event":"message.received","data":{"text":"谢谢"}}');

/** The headers of Node.js, as the service signs a delivery. */
function headers(key: string, age_s = 0): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000) - age_s);
  const signature = createHmac('sha256', Buffer.from(key.replace(/^whsec_/, ''), 'base64'))
    .update(`evt_1.${timestamp}.`)
    .update(body)
    .digest('base64');
  return {
    'webhook-id': 'evt_1',
    'Webhook-Timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
    'X-Service-Signature': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
  };
}

describe.each([verifyWebhook, verifyServiceSignature])('%p', (verify) => {
  test(`${verify.name} returns the event of a delivery that one of the secrets has signed`, () => {
    const secrets = [secret, old_secret];
    expect(verify({ headers: headers(secret), body, secrets }).event).toBe('message.received');
    expect(verify({ headers: headers(old_secret), body, secrets })).toHaveProperty('data');
  });

  test(`${verify.name} refuses another secret, changed bytes and missing headers`, () => {
    const secrets = [secret];
    const refused = [
      { headers: headers(stranger), body, secrets },
      { headers: headers(secret), body: Buffer.concat([body, Buffer.from(' ')]), secrets },
      { headers: headers(secret), body, secrets: [] },
      { headers: {}, body, secrets },
    ];
    for (const request of refused) expect(() => verify(request)).toThrow();
  });

  test.each(['', 'whsec_'])(`${verify.name} refuses the empty secret “%s”`, (empty) => {
    const request = { headers: headers(empty), body, secrets: [empty] };
    expect(() => verify(request)).toThrow('a webhook secret is empty');
  });
});

test('verifyWebhook refuses an old delivery', () => {
  const request = { headers: headers(secret, 600), body, secrets: [secret] };
  expect(() => verifyWebhook(request)).toThrow();
});
