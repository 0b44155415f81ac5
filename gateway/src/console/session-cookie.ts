// The browser's part of a console session: a random token in a cookie that scripts cannot read and
// other sites cannot send, and a CSRF token derived from it, which our page sends with every
// change.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import type { Peppers } from '@bmg/common/keys';

const NAME = 'bmg_session';
/**
 * Browsers take a cookie of such a name only from this host itself, over HTTPS and for all paths.
 */
const HOST_ONLY = '__Host-';
/** The longest life of a session; onboarding may end it earlier. */
const LIFE_S = 8 * 3_600;
const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/**
 * How a cookie is named and where it is sent. Over plain HTTP (local work) browsers take neither
 * the prefix nor `Secure`.
 */
export function cookieOf(
  public_url: string,
  name: string,
  path: string,
): { name: string; scope: readonly string[] } {
  const { protocol, pathname } = new URL(public_url);
  if (protocol === 'https:') return { name: HOST_ONLY + name, scope: ['Path=/', 'Secure'] };
  return { name, scope: [`Path=${pathname.replace(/\/+$/, '')}${path}`] };
}

export type SessionCookies = ReturnType<typeof createSessionCookies>;

export function createSessionCookies(public_url: string, peppers: Peppers) {
  const { name, scope } = cookieOf(public_url, NAME, '/dashboard');
  const attributes = [...scope, 'HttpOnly', 'SameSite=Strict'];
  const setCookie = (context: Context, value: string, age_s: number): void =>
    context.set('Set-Cookie', [`${name}=${value}`, `Max-Age=${age_s}`, ...attributes].join('; '));
  const csrfTokens = (token: string): [string, ...string[]] => peppers.hashes(`csrf:${token}`);
  return {
    newToken: (): string => randomBytes(TOKEN_BYTES).toString('base64url'),
    /** Sets the cookie on the answer. */
    set: (context: Context, token: string): void => setCookie(context, token, LIFE_S),
    /** The token of the request; undefined when none is well formed. */
    read(context: Context): string | undefined {
      const token = context.cookies.get(name, { signed: false });
      return token !== undefined && TOKEN.test(token) ? token : undefined;
    },
    clear: (context: Context): void => setCookie(context, '', 0),
    /** Stored and looked up instead of the token: the newest first, and those by older peppers. */
    hashes: (token: string) => peppers.hashes(token),
    /** Derived from the session's token: nothing is stored, and it ends with the session. */
    csrfToken: (token: string): string => csrfTokens(token)[0],
    isCsrfToken(given: string, token: string): boolean {
      const actual = Buffer.from(given);
      return csrfTokens(token).some((one) => {
        const expected = Buffer.from(one);
        return expected.length === actual.length && timingSafeEqual(expected, actual);
      });
    },
  };
}
