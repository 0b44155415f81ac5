// The browser's part of a console session: a random token in a cookie that scripts cannot read and other
// sites cannot send, and a CSRF token derived from it, which our page sends with every change.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import { hashKey } from '@bmg/common/keys';

const NAME = 'bmg_session';
/** The longest life of a session; onboarding may end it earlier. */
const LIFE_S = 8 * 3_600;
const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export interface SessionCookies {
  newToken(): string;
  /** Sets the cookie on the answer. */
  set(context: Context, token: string): void;
  /** The token of the request; undefined when none is well formed. */
  read(context: Context): string | undefined;
  clear(context: Context): void;
  /** Stored and looked up instead of the token. */
  hash(token: string): string;
  /** Derived from the session's token: nothing is stored, and it ends with the session. */
  csrfToken(token: string): string;
  isCsrfToken(given: string, token: string): boolean;
}

export function createSessionCookies(public_url: string, pepper: string): SessionCookies {
  const { protocol, pathname } = new URL(public_url);
  const attributes = [
    `Path=${pathname.replace(/\/+$/, '')}/dashboard`,
    'HttpOnly',
    'SameSite=Strict',
    // Over plain HTTP (local work) browsers would not send a Secure cookie back.
    ...(protocol === 'http:' ? [] : ['Secure']),
  ];
  const setCookie = (context: Context, value: string, age_s: number): void =>
    context.set('Set-Cookie', [`${NAME}=${value}`, `Max-Age=${age_s}`, ...attributes].join('; '));
  const csrfToken = (token: string): string =>
    createHmac('sha256', pepper).update(`csrf:${token}`).digest('base64url');
  return {
    newToken: () => randomBytes(TOKEN_BYTES).toString('base64url'),
    set: (context, token) => setCookie(context, token, LIFE_S),
    read(context) {
      const token = context.cookies.get(NAME, { signed: false });
      return token !== undefined && TOKEN.test(token) ? token : undefined;
    },
    clear: (context) => setCookie(context, '', 0),
    hash: (token) => hashKey(token, pepper),
    csrfToken,
    isCsrfToken(given, token) {
      const [expected, actual] = [Buffer.from(csrfToken(token)), Buffer.from(given)];
      return expected.length === actual.length && timingSafeEqual(expected, actual);
    },
  };
}
