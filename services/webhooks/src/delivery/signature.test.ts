import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { isSignedByUpstream, signatureHeaders } from './signature';

describe('outgoing', () => {
  // The example of the Standard Webhooks specification.
  const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const BODY = Buffer.from('{"test": 2432232314}');
  const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
  const AT_S = 1_614_265_330;

  test('the Standard Webhooks vector', () => {
    expect(signatureHeaders(BODY, [SECRET], ID, AT_S)).toMatchObject({
      'webhook-id': ID,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  test('the contract’s header takes the whole secret as shown for its key', () => {
    const expected = createHmac('sha256', SECRET).update(BODY).digest('hex');
    expect(signatureHeaders(BODY, [SECRET], ID, AT_S)['x-service-signature']).toBe(
      `sha256=${expected}`,
    );
  });

  test('during a rotation both secrets sign, the newest first, and it alone the contract’s header', () => {
    const newer = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const both = signatureHeaders(BODY, [newer, SECRET], ID, AT_S);
    const alone = signatureHeaders(BODY, [newer], ID, AT_S);
    expect(both['x-service-signature']).toBe(alone['x-service-signature']);
    expect(both['webhook-signature']).toBe(
      `${alone['webhook-signature']} v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=`,
    );
  });
});

describe('upstream’s', () => {
  const SECRET = 'app-secret';
  const sign = (body: Buffer): string =>
    `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;

  test('any bytes signed right are taken, and no other bytes with that signature', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(), (bytes, at) => {
        const body = Buffer.from(bytes);
        const header = sign(body);
        expect(isSignedByUpstream(body, header, SECRET)).toBe(true);
        if (body.length === 0) return;
        const other = Buffer.from(body);
        other[at % body.length] = ((other[at % body.length] as number) + 1) % 256;
        expect(isSignedByUpstream(other, header, SECRET)).toBe(false);
      }),
    );
  });

  test('a missing or malformed signature is refused without a fault', () => {
    const body = Buffer.from('{}');
    for (const header of [undefined, '', 'sha256=', 'sha256=zz', sign(body).slice(0, -1)]) {
      expect(isSignedByUpstream(body, header, SECRET)).toBe(false);
    }
    expect(isSignedByUpstream(body, `sha1=${sign(body).slice(7)}`, SECRET)).toBe(false);
    expect(isSignedByUpstream(body, sign(body), 'another')).toBe(false);
    fc.assert(
      fc.property(fc.string(), (header) => {
        expect(isSignedByUpstream(body, header, SECRET)).toBe(false);
      }),
    );
  });

  test('hexadecimal digits may be capital', () => {
    const body = Buffer.from('{}');
    const header = `sha256=${sign(body).slice(7).toUpperCase()}`;
    expect(isSignedByUpstream(body, header, SECRET)).toBe(true);
  });
});
