import { createMediaHosts } from './hosts';

const hosts = createMediaHosts({
  UPSTREAM_URL: 'https://graph.example.org/base',
  UPSTREAM_MEDIA_HOSTS: 'files.example.org, Other.example.org:8443',
});

test.each([
  'https://graph.example.org/any?a=1',
  'https://files.example.org/a?mid=1&hash=2',
  'https://other.example.org:8443/a',
])('allows %s', (url) => {
  expect(hosts.check(url).href).toBe(url);
});

test.each([
  'http://graph.example.org/any',
  'https://graph.example.org:8443/any',
  'http://files.example.org/a',
  'https://files.example.org:444/a',
  'https://files.example.org.evil.example/a',
  'https://evil.example/files.example.org',
  'https://user@evil.example',
  'https://other.example.org/a',
  'file:///etc/passwd',
  'no url',
])('refuses %s', (url) => {
  expect(() => hosts.check(url)).toThrow(
    expect.objectContaining({ code: 'UPSTREAM_ERROR', retryable: false }),
  );
});
