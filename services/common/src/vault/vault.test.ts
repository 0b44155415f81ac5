import { createVault, KEYRING_PATTERN } from './vault';

const OLD = 'old:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const NEW = 'new:Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=';
const DERIVED = 'derived:hkdf:Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=';
const OTHER = 'old:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=';
const TOKEN = 'EAAB-a-secret-token';

const identity = 'client/ptn_1/900/800/token';

describe.each([
  ['a key', OLD],
  ['a key that derives a wrapping key for each record', DERIVED],
])('%s', (_name, ring) => {
  const vault = createVault(ring);

  it('seals and opens bytes, and only under their identity', () => {
    const bytes = Buffer.from([0, 255, 128, 10]);
    const sealed = vault.sealBytes('event-log/1', bytes);
    expect(vault.openBytes('event-log/1', sealed)).toEqual(bytes);
    expect(() => vault.openBytes('event-log/2', sealed)).toThrow();
  });

  it('leaves no part of the secret in the clear', () => {
    const text = JSON.stringify(vault.seal(identity, TOKEN));
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(Buffer.from(TOKEN).toString('base64').slice(0, 16));
    expect(text).not.toContain(Buffer.from(TOKEN).toString('hex').slice(0, 16));
  });

  it('seals the same secret differently every time', () => {
    const [first, second] = [vault.seal(identity, TOKEN), vault.seal(identity, TOKEN)];
    expect(first.data).not.toBe(second.data);
    expect(first.wrapped_key).not.toBe(second.wrapped_key);
  });

  it('does not open a record that was copied to another client or field', () => {
    const sealed = vault.seal(identity, TOKEN);
    expect(vault.open(identity, sealed)).toBe(TOKEN);
    for (const other of [
      'client/ptn_2/900/800/token',
      'client/ptn_1/900/801/token',
      'client/ptn_1/900/800/pin',
    ]) {
      expect(() => vault.open(other, sealed)).toThrow();
      expect(() => vault.rewrap(other, sealed)).toThrow();
    }
  });

  it('does not open a record with exchanged or changed parts', () => {
    const [one, two] = [vault.seal(identity, TOKEN), vault.seal(identity, 'another')];
    expect(() => vault.open(identity, { ...one, data: two.data })).toThrow();
    for (const part of ['data', 'wrapped_key'] as const) {
      const bytes = Buffer.from(one[part], 'base64');
      for (const place of [0, 20, 31, 32, bytes.length - 1]) {
        const changed = Buffer.from(bytes);
        changed[place] = (changed[place] ?? 0) ^ 1;
        expect(() =>
          vault.open(identity, { ...one, [part]: changed.toString('base64') }),
        ).toThrow();
      }
    }
  });

  it('does not open a record with another key, of the same name or missing', () => {
    const sealed = createVault(OLD).seal(identity, TOKEN);
    expect(() => createVault(OTHER).open(identity, sealed)).toThrow();
    expect(() => createVault(NEW).open(identity, sealed)).toThrow('no key old');
  });
});

describe('a key that derives a wrapping key for each record', () => {
  it('wraps each data key with another salt and nonce', () => {
    const vault = createVault(DERIVED);
    const beginnings = Array.from({ length: 200 }, () =>
      Buffer.from(vault.seal(identity, TOKEN).wrapped_key, 'base64').toString('hex', 0, 44),
    );
    expect(new Set(beginnings.map((one) => one.slice(0, 64))).size).toBe(200);
    expect(new Set(beginnings.map((one) => one.slice(64))).size).toBe(200);
  });

  it('does not wrap with the key itself', () => {
    const sealed = createVault(DERIVED).seal(identity, TOKEN);
    const plain = createVault(DERIVED.replace('hkdf:', ''));
    const without_salt = Buffer.from(sealed.wrapped_key, 'base64').subarray(32).toString('base64');
    expect(() => plain.open(identity, sealed)).toThrow();
    expect(() => plain.open(identity, { ...sealed, wrapped_key: without_salt })).toThrow();
  });

  it('takes over the records of an earlier key, and they of it', () => {
    const sealed = createVault(OLD).seal(identity, TOKEN);
    const both = createVault(`${DERIVED},${OLD}`);
    expect(both.open(identity, sealed)).toBe(TOKEN);
    const rewrapped = both.rewrap(identity, sealed);
    expect(rewrapped).toMatchObject({ key_id: 'derived', data: sealed.data });
    expect(createVault(DERIVED).open(identity, rewrapped)).toBe(TOKEN);
    const back = createVault(`${OLD},${DERIVED}`).rewrap(identity, rewrapped);
    expect(createVault(OLD).open(identity, back)).toBe(TOKEN);
  });
});

it('opens a record of an earlier release', () => {
  const sealed = {
    key_id: 'old',
    wrapped_key: 'bmu812t0hWFNKhmI415OBo3SBYoHqp87Oc0V5aGgpMNSKJwcSIRULZ4QfDM2ZmZwtNiGrenjsCWJCqKY',
    data: 'HTRxYg79wuoNgkoAvxsJnB/2mWCV1SHnVXAVuc5sGmGNZ2D5XVB6oKzEtUvIbf0=',
  };
  expect(createVault(OLD).open(identity, sealed)).toBe(TOKEN);
});

it.each([
  [OLD, true],
  [`${NEW},${DERIVED}`, true],
  ['derived:hkdf:short=', false],
  ['derived:other:Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=', false],
  ['', false],
])('the setting accepts %s: %s', (keyring, accepted) => {
  expect(new RegExp(KEYRING_PATTERN).test(keyring)).toBe(accepted);
});
