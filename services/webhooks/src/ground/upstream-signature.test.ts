import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { isSignature, isSignedByUpstream } from './upstream-signature';

const SECRET = 'app-secret';
const sign = (body: Buffer): string =>
  `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;

test('accepts the signature of any bytes, and rejects it for any other bytes', () => {
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

test('rejects a missing or malformed signature without throwing', () => {
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

test('accepts upper-case hexadecimal digits', () => {
  const body = Buffer.from('{}');
  const header = `sha256=${sign(body).slice(7).toUpperCase()}`;
  expect(isSignedByUpstream(body, header, SECRET)).toBe(true);
});

test('verifies nothing with an empty secret', () => {
  const body = Buffer.from('{}');
  const header = `sha256=${createHmac('sha256', '').update(body).digest('hex')}`;
  expect(isSignedByUpstream(body, header, '')).toBe(false);
});

test('knows the form of a signature', () => {
  expect(isSignature(sign(Buffer.from('{}')))).toBe(true);
  for (const header of [undefined, '', 'sha256=', 'sha256=zz', ['sha256=00']]) {
    expect(isSignature(header)).toBe(false);
  }
});
