import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packagesPage, readPackages } from './packages';

test('lists each packed client with the command that installs it, its size and its checksum', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bmg-packages-'));
  for (const name of ['bmg_client-1.0.0-py3-none-any.whl', 'bmg-client-1.0.0.tgz', 'notes.txt']) {
    writeFileSync(join(folder, name), 'abc');
  }
  const packages = readPackages(folder);
  rmSync(folder, { recursive: true });
  expect(packages.map(({ name }) => name)).toEqual([
    'bmg-client-1.0.0.tgz',
    'bmg_client-1.0.0-py3-none-any.whl',
  ]);
  const page = packagesPage(packages, [], 'https://example.com/gateway');
  for (const text of [
    'npm install https://example.com/gateway/clients/bmg-client-1.0.0.tgz',
    'pip install https://example.com/gateway/clients/bmg_client-1.0.0-py3-none-any.whl',
    '1 KiB',
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  ]) {
    expect(page).toContain(text);
  }
});

test('a gateway without packed clients says so', () => {
  expect(readPackages(join(tmpdir(), 'no such folder'))).toEqual([]);
  expect(packagesPage([], [], 'https://example.com')).toContain('ask its operator');
});
