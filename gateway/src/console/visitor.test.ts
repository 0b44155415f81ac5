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

test('a request that the user caused extends the session', async () => {
  const { find, uses } = setUp();
  await find();
  expect(uses()).toEqual([expect.objectContaining({ passive: false })]);
});

test('a request of a page without input does not', async () => {
  const { find, uses } = setUp({ 'x-idle': '1' });
  await find();
  expect(uses()).toEqual([expect.objectContaining({ passive: true })]);
});

test('a stream does not, neither when it opens nor while it runs', async () => {
  const { find, uses } = setUp();
  const { check } = await find(true);
  await check({} as never);
  expect(uses()).toEqual([
    expect.objectContaining({ passive: true }),
    expect.objectContaining({ passive: true }),
  ]);
});
