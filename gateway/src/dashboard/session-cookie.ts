// The browser's half of a dashboard session: a random token in a cookie that no script can read and no
// other site can send, and a second token, made of the first, that a script must send with every change.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import { hashKey } from '@bmg/common/keys';

const NAME = 'bmg_session';
/** As long as a session can live; onboarding decides whether it still does. */
const LIFE_S = 8 * 3_600;
const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export interface SessionCookies {
  newToken(): string;
  /** Puts the token into the cookie of the answer. */
  give(context: Context, token: string): void;
  /** The token of a request; undefined where none of the right shape was sent. */
  read(context: Context): string | undefined;
  clear(context: Context): void;
  /** What is stored and looked up in place of the token. */
  hash(token: string): string;
  /** Made of the token, so that nothing has to be stored and it ends with the session. */
  csrfToken(token: string): string;
  isCsrfToken(given: string, token: string): boolean;
}

export function createSessionCookies(public_url: string, pepper: string): SessionCookies {
  const { protocol, pathname } = new URL(public_url);
  const attributes = [
    `Path=${pathname.replace(/\/+$/, '')}/dashboard`,
    'HttpOnly',
    'SameSite=Strict',
    // A browser keeps a Secure cookie of a plain address to itself: there, it is for local work.
    ...(protocol === 'http:' ? [] : ['Secure']),
  ];
  const set = (context: Context, value: string, age_s: number): void =>
    context.set('Set-Cookie', [`${NAME}=${value}`, `Max-Age=${age_s}`, ...attributes].join('; '));
  const csrfToken = (token: string): string =>
    createHmac('sha256', pepper).update(`csrf:${token}`).digest('base64url');
  return {
    newToken: () => randomBytes(TOKEN_BYTES).toString('base64url'),
    give: (context, token) => set(context, token, LIFE_S),
    read(context) {
      const token = context.cookies.get(NAME, { signed: false });
      return token !== undefined && TOKEN.test(token) ? token : undefined;
    },
    clear: (context) => set(context, '', 0),
    hash: (token) => hashKey(token, pepper),
    csrfToken,
    isCsrfToken(given, token) {
      const [wanted, got] = [Buffer.from(csrfToken(token)), Buffer.from(given)];
      return wanted.length === got.length && timingSafeEqual(wanted, got);
    },
  };
}
