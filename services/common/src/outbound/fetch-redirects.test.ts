// Each redirect is checked like the first URL, by the URL rules here and by the agent at
// connection.
import { text } from 'node:stream/consumers';
import { MockAgent } from 'undici';
import { useLocalServers } from '../../test/local-servers';
import { guardedFetch, type GuardedFetchOptions } from './fetch';
import { guardedAgent, type GuardedAgent } from './guarded';

let agent: GuardedAgent;
beforeEach(() => (agent = guardedAgent({ allowPrivate: true })));
afterEach(() => agent.destroy());
const { http } = useLocalServers();

const get = (url: string, options: Partial<GuardedFetchOptions> = {}) =>
  guardedFetch(url, { agent, field: 'url', ...options });

const read = async (url: string): Promise<string> => text((await get(url)).body);

describe('redirects', () => {
  const redirecting = (location: string, status = 302) =>
    http((request, response) => {
      if (request.url === '/') response.writeHead(status, { location }).end('moved');
      else response.end(`at ${request.url}`);
    });

  test.each([301, 302, 303, 307, 308])(
    'follows a %i, also to a relative address',
    async (status) => {
      const url = await redirecting('sub/../file?x=y', status);
      await expect(read(url)).resolves.toBe('at /file?x=y');
    },
  );

  test.each([
    ['metadata', 'http://169.254.169.254/latest/', 'private_address'],
    ['its decimal spelling', 'http://2852039166/', 'private_address'],
    ['mapped into IPv6', 'http://[::ffff:169.254.169.254]/', 'private_address'],
    ['credentials', 'http://user:pass@127.0.0.1/', 'has_credentials'],
    ['another scheme', 'file:///etc/passwd', 'not_https'],
    ['a blocked port', 'http://127.0.0.1:25/', 'bad_port'],
    ['a malformed URL', 'http://[', 'malformed'],
    ['a URL too long', `/${'a'.repeat(2_100)}`, 'too_long'],
  ])('refuses a redirect to %s', async (_case, location, reason) => {
    const url = await redirecting(location);
    await expect(get(url)).rejects.toMatchObject({ name: 'UrlRefused', field: 'url', reason });
  });

  test.each([
    ['a private address', 'https://10.0.0.1/', 'private_address', false],
    ['a private name', 'https://localhost/', 'private_host', false],
    ['plain http', 'http://cdn.example/', 'not_https', false],
    ['plain http, which is allowed', 'http://media.example/', 'not_https', true],
    ['plain http on another port', '//cdn.example:25/', 'bad_port', false],
  ])('refuses a redirect over HTTPS to %s', async (_case, location, reason, allowPrivate) => {
    const mock = new MockAgent();
    mock.disableNetConnect();
    mock
      .get('https://media.example')
      .intercept({ path: '/' })
      .reply(302, '', { headers: { location } });
    const mocked: GuardedAgent = { ...agent, dispatcher: mock, allowPrivate };
    await expect(get('https://media.example/', { agent: mocked })).rejects.toMatchObject({
      name: 'UrlRefused',
      reason,
    });
    await mock.close();
  });

  test('refuses a redirect to a name of a forbidden address when connecting', async () => {
    const url = await redirecting('http://innocent.example/');
    const resolving = guardedAgent({
      allowPrivate: true,
      resolve: () => Promise.resolve([{ address: '169.254.169.254', family: 4 }]),
    });
    await expect(get(url, { agent: resolving })).rejects.toMatchObject({
      name: 'UrlRefused',
      field: 'url',
      reason: 'private_address',
    });
    await resolving.destroy();
  });

  test('follows five redirects but not six', async () => {
    const url = await http((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end('there');
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    await expect(read(`${url}/5`)).resolves.toBe('there');
    const tooMany = { name: 'FetchFailed', reason: 'too_many_redirects', retryable: false };
    await expect(get(`${url}/6`)).rejects.toMatchObject(tooMany);
  });

  test('fails on a redirect without a Location', async () => {
    const url = await http((_request, response) => response.writeHead(302).end());
    await expect(get(url)).rejects.toMatchObject({ reason: 'http_status', http_status: 302 });
  });
});
