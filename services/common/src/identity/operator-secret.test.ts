import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stateFolder } from '../config';
import { isOperatorSecret, operatorSecret, operatorSecretFile } from './operator-secret';

const dir = mkdtempSync(join(tmpdir(), 'bmg-secret-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const newFile = (): string => join(mkdtempSync(join(dir, 'state-')), 'bmg', 'operator-secret');

test('is made once, readable only by its user', () => {
  const file = newFile();
  const secret = operatorSecret(file);
  expect(secret).toMatch(/^[\w-]{43}$/);
  expect(operatorSecret(file)).toBe(secret);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(isOperatorSecret(secret, file)).toBe(true);
  for (const other of ['', secret.slice(1), `${secret}x`, operatorSecret(newFile())]) {
    expect(isOperatorSecret(other, file)).toBe(false);
  }
});

test('is in the state folder of the user', () => {
  expect(stateFolder({ XDG_STATE_HOME: '/state' })).toBe('/state');
  expect(stateFolder({})).toMatch(/\/\.local\/state$/);
  expect(operatorSecretFile()).toBe(join(stateFolder(), 'bmg', 'operator-secret'));
});

test.each([0o640, 0o604, 0o622])('is not used with mode %o', (mode) => {
  const file = newFile();
  operatorSecret(file);
  chmodSync(file, mode);
  expect(() => operatorSecret(file)).toThrow('readable only');
});

test('is not an empty file, which every caller could guess', () => {
  const file = newFile();
  operatorSecret(file);
  writeFileSync(file, '\n');
  expect(() => operatorSecret(file)).toThrow('is too short');
});

test('is not another user’s', () => {
  const file = newFile();
  operatorSecret(file);
  const linked = `${file}-linked`;
  symlinkSync(file, linked);
  const uid = jest.spyOn(process, 'getuid').mockReturnValue(1);
  expect(() => operatorSecret(linked)).toThrow('must belong to the user');
  uid.mockRestore();
});
