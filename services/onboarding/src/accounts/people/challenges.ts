// Challenges of passkeys. A challenge carries its own end and a keyed hash, so that one that is only issued
// costs no memory; it is stored when it is answered, because it is accepted once.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Peppers } from '@bmg/common/keys';
import type { UsedChallenges } from './store';

export interface Challenges {
  /** A challenge that only an answer for the same purpose may use. */
  issue(purpose: string): string;
  /** Whether it was issued for the purpose and has not expired. `given` is base64url, as browsers send it. */
  isValid(purpose: string, given: string): boolean;
  /** False if it was used before. */
  use(given: string): Promise<boolean>;
}

/** The time that a person has to answer the browser. */
export const CHALLENGE_MS = 5 * 60_000;
const RANDOM_BYTES = 16;
const SHAPE = /^((\d{13,15})\.[\w-]{22})\.(.{20,100})$/;

export function createChallenges(
  peppers: Peppers,
  used: UsedChallenges,
  now: () => Date,
): Challenges {
  const sealed = (purpose: string, text: string): string => `passkey:${purpose}:${text}`;
  return {
    issue(purpose) {
      const expires_at = now().getTime() + CHALLENGE_MS;
      const text = `${expires_at}.${randomBytes(RANDOM_BYTES).toString('base64url')}`;
      return `${text}.${peppers.hash(sealed(purpose, text))}`;
    },
    isValid(purpose, given) {
      const [, text, expires_at, hash] = SHAPE.exec(textOf(given)) ?? [];
      if (text === undefined || hash === undefined) return false;
      if (Number(expires_at) <= now().getTime()) return false;
      return peppers.hashes(sealed(purpose, text)).some((one) => isEqual(one, hash));
    },
    use(given) {
      const [, text = ''] = SHAPE.exec(textOf(given)) ?? [];
      return used.use(text, new Date(now().getTime() + CHALLENGE_MS));
    },
  };
}

const textOf = (base64url: string): string => Buffer.from(base64url, 'base64url').toString('utf8');

const isEqual = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};
