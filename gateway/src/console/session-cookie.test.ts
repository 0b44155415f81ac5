import type { Context } from 'koa';
import { createPeppers } from '@bmg/common/keys';
import { createSessionCookies } from './session-cookie';

const answer = () => {
  const headers: Record<string, string> = {};
  const context = {
    set: (name: string, value: string) => void (headers[name] = value),
  } as unknown as Context;
  return { headers, context };
};

describe('the session cookie', () => {
  const given = (public_url: string): string => {
    const cookies = createSessionCookies(public_url, createPeppers('pepper'));
    const { headers, context } = answer();
    cookies.set(context, cookies.newToken());
    return headers['Set-Cookie'] as string;
  };

  test('is hidden from scripts, other sites and plain connections', () => {
    expect(given('https://gateway.example.com')).toMatch(
      /^__Host-bmg_session=[\w-]{43}; Max-Age=28800; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
  });

  test('is not Secure under a plain HTTP address, for local work, and limited to its path', () => {
    expect(given('http://127.0.0.1:8080/messaging/')).toMatch(
      /^bmg_session=[\w-]{43}; Max-Age=28800; Path=\/messaging\/dashboard; HttpOnly; SameSite=Strict$/,
    );
  });
});

describe('the CSRF token', () => {
  const cookies = createSessionCookies('https://gateway.example.com', createPeppers('pepper'));

  test('belongs to one session and does not reveal its token', () => {
    const [one, other] = [cookies.newToken(), cookies.newToken()];
    const csrf = cookies.csrfToken(one);
    expect(cookies.isCsrfToken(csrf, one)).toBe(true);
    expect(cookies.isCsrfToken(csrf, other)).toBe(false);
    expect(cookies.isCsrfToken('', one)).toBe(false);
    expect(cookies.isCsrfToken(`${csrf}x`, one)).toBe(false);
    expect(csrf).not.toBe(cookies.hashes(one)[0]);
  });
});
