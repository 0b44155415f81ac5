import { createHmac } from 'node:crypto';
import { signatureHeaders } from './sign-delivery';

// The example of the Standard Webhooks specification.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = Buffer.from('{"test": 2432232314}');
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const AT_S = 1_614_265_330;

test('produces the signature of the Standard Webhooks example', () => {
  expect(signatureHeaders(BODY, [SECRET], ID, AT_S)).toMatchObject({
    'webhook-id': ID,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('keys x-service-signature with the whole secret, prefix included', () => {
  const expected = createHmac('sha256', SECRET).update(BODY).digest('hex');
  expect(signatureHeaders(BODY, [SECRET], ID, AT_S)['x-service-signature']).toBe(
    `sha256=${expected}`,
  );
});

test('signs with both secrets during a rotation, newest first, and x-service-signature with the newest', () => {
  const newer = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const both = signatureHeaders(BODY, [newer, SECRET], ID, AT_S);
  const alone = signatureHeaders(BODY, [newer], ID, AT_S);
  expect(both['x-service-signature']).toBe(alone['x-service-signature']);
  expect(both['webhook-signature']).toBe(
    `${alone['webhook-signature']} v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=`,
  );
});
