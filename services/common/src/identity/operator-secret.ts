// Identifies an operator on a machine without certificates by a secret in a file that only the user
// of the mesh may read. The first process that needs the secret creates it. It is sent over
// loopback connections only.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { stateFolder } from '../config';

export const OPERATOR_SECRET_HEADER = 'x-operator-secret';

const SECRET_BYTES = 32;
const OTHERS = 0o077;

export const operatorSecretFile = (): string => join(stateFolder(), 'bmg', 'operator-secret');

/** Throws if the file cannot be made, or if another user owns it or may read it. */
export function operatorSecret(file = operatorSecretFile()): string {
  try {
    return read(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    create(file);
    return read(file);
  }
}

/** Whether the caller sent this machine's secret. */
export function isOperatorSecret(given: string, file = operatorSecretFile()): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(operatorSecret(file)));
}

function read(file: string): string {
  const opened = openSync(file, 'r');
  try {
    const { uid, mode } = fstatSync(opened);
    if (uid !== process.getuid?.() || (mode & OTHERS) !== 0) {
      throw new Error(`${file} must belong to the user of this process and be readable only by it`);
    }
    const secret = readFileSync(opened, 'utf8').trim();
    if (secret.length < SECRET_BYTES) {
      throw new Error(`the secret in ${file} is too short: delete it, and it is made again`);
    }
    return secret;
  } finally {
    closeSync(opened);
  }
}

/** Processes that start together agree on one secret, because a link is atomic. */
function create(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
