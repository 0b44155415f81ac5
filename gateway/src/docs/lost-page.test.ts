import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import { answerLost, readDocumentation } from '.';
import { chapters } from '../endpoints';

const PERSON = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const lost = answerLost(
  readDocumentation(chapters, { PUBLIC_URL: 'https://example.com/gateway/' }),
);

function contextOf(method: string, url: string, accept?: string) {
  const request = new IncomingMessage(new Socket());
  Object.assign(request, { method, url, headers: accept === undefined ? {} : { accept } });
  return new Koa().createContext(request, new ServerResponse(request));
}

test.each(['/docs/nowhere', '/console', '/docs/reference/nowhere/at/all'])(
  'a person at %s sees a page whose links begin at the root of the gateway',
  (path) => {
    const context = contextOf('GET', path, PERSON);
    expect(lost(context)).toBe(true);
    expect(context.status).toBe(404);
    expect(context.type).toBe('text/html');
    expect(context.body).toContain('There is no such page');
    expect(context.body).toContain('href="/gateway/docs"');
    expect(context.response.get('Content-Security-Policy')).toContain("default-src 'none'");
  },
);

test.each([
  ['a client that takes everything', 'GET', '/docs/nowhere', '*/*'],
  ['a client that names no type', 'GET', '/docs/nowhere', undefined],
  ['a client that prefers JSON', 'GET', '/docs/nowhere', 'application/json, text/html'],
  ['an endpoint’s path in a browser', 'GET', '/v1/nowhere', PERSON],
  ['a request that changes something', 'POST', '/docs/nowhere', PERSON],
])('the contract’s error is left for %s', (_who, method, path, accept) => {
  expect(lost(contextOf(method, path, accept))).toBe(false);
});
