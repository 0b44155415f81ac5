// The session behind a request, and which requests extend it.
import type { Context } from 'koa';
import { createPeppers } from '@bmg/common/keys';
import { findVisitor } from './index';
import { createSessionCookies } from './session-cookie';

const cookies = createSessionCookies('https://gateway.example.com', createPeppers('pepper'));

function setUp(headers: Record<string, string> = {}) {
  const useSession = jest.fn(async () => ({ partner_id: 'p' }));
  const deps = {
    settings: { useSession },
    cookies,
    look_ups: { run: async (_name: string, _ip: string, look: () => unknown) => look() },
  };
  const given: Record<string, string> = {
    cookie: `bmg_session=${cookies.newToken()}`,
    ...headers,
  };
  const context = {
    state: { call: {} },
    ip: '192.0.2.1',
    get: (name: string) => given[name.toLowerCase()] ?? '',
    headers: given,
    cookies: { get: () => given['cookie']?.split('=')[1] },
  } as unknown as Context;
  const find = (is_automatic?: boolean) => findVisitor(context, deps as never, false, is_automatic);
  return { find, uses: () => useSession.mock.calls.map(([use]: unknown[]) => use) };
}

test.each([
  ['that the user caused extends', {}, false],
  ['of a page without input does not extend', { 'x-idle': '1' }, true],
])('a request %s the session', async (_name, headers, passive) => {
  const { find, uses } = setUp(headers);
  await find();
  expect(uses()).toEqual([expect.objectContaining({ passive })]);
});

test('a stream does not, neither when it opens nor while it runs', async () => {
  const { find, uses } = setUp();
  const { check } = await find(true);
  await check({} as never);
  const passive = expect.objectContaining({ passive: true }) as object;
  expect(uses()).toEqual([passive, passive]);
});
