import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authorities } from './load';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'authorities-'))));
afterAll(() => rmSync(folder, { recursive: true }));

const tls = (isOn: boolean) => ({ by: 'tls=true in MONGO_URL', isOn });

test('reads the file, and needs none', () => {
  const file = join(folder, 'ca.pem');
  writeFileSync(file, 'PEM');
  expect(authorities('MONGO_TLS_CA_FILE', file, tls(true))).toBe('PEM');
  expect(authorities('MONGO_TLS_CA_FILE', undefined, tls(true))).toBeUndefined();
  expect(authorities('MONGO_TLS_CA_FILE', undefined, tls(false))).toBeUndefined();
});

test('refuses a file without effect, and one that it cannot read', () => {
  expect(() => authorities('MONGO_TLS_CA_FILE', 'ca.pem', tls(false))).toThrow(
    'tls=true in MONGO_URL is required when MONGO_TLS_CA_FILE is set',
  );
  expect(() => authorities('MONGO_TLS_CA_FILE', join(folder, 'none'), tls(true))).toThrow(
    'MONGO_TLS_CA_FILE names a file that cannot be read',
  );
});
