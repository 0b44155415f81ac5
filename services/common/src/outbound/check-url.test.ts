import fc from 'fast-check';
import { checkUrl, UrlRefused, type UrlRefusal } from './check-url';

const long = (length: number) => `https://example.com/${'a'.repeat(length - 20)}`;

const ALLOWED: [text: string, href: string][] = [
  ['https://example.com', 'https://example.com/'],
  ['https://example.com/a/b?c=d#e', 'https://example.com/a/b?c=d'],
  ['HTTPS://EXAMPLE.COM/Path', 'https://example.com/Path'],
  ['https://example.com:443/', 'https://example.com/'],
  ['https://example.com:8443/', 'https://example.com:8443/'],
  ['https://example.com:80/', 'https://example.com:80/'],
  ['https://example.com./x', 'https://example.com/x'],
  ['https://sub_domain.example.com/', 'https://sub_domain.example.com/'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  [
    'https://例え.jp/ファイル.pdf',
    'https://xn--r8jz45g.jp/%E3%83%95%E3%82%A1%E3%82%A4%E3%83%AB.pdf',
  ],
  ['https://example.com/my file.pdf', 'https://example.com/my%20file.pdf'],
  ['https://example.com/@user', 'https://example.com/@user'],
  ['https://example.com?mail=a@b.c', 'https://example.com/?mail=a@b.c'],
  ['https://example.com/?next=http://127.0.0.1/', 'https://example.com/?next=http://127.0.0.1/'],
  ['https://8.8.8.8/', 'https://8.8.8.8/'],
  ['https://134744072/', 'https://8.8.8.8/'],
  ['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]/'],
  ['https://[::ffff:8.8.8.8]/', 'https://[::ffff:808:808]/'],
  ['https://127.0.0.1.example.com/', 'https://127.0.0.1.example.com/'],
  ['https://localhost.example.com/', 'https://localhost.example.com/'],
  ['https://a.internal.example/', 'https://a.internal.example/'],
  [long(2_048), long(2_048)],
];

const REFUSED: Partial<Record<UrlRefusal, string[]>> = {
  malformed: [
    ...['', 'example.com', '//example.com/', '/path', 'https:example.com', 'https:/example.com'],
    ...['https:///example.com', 'https://', 'https://?x', 'https://:443/', ' https://example.com'],
    ...['https://example.com\n', 'https://exa\tmple.com/', 'https://example.com/a\r\nHost: b'],
    ...['https://example.com/\u0000', 'https:\\\\example.com/', 'https://example.com\\@127.0.0.1/'],
    ...['https://exa mple.com/', 'https://example.com:65536/', 'https://example.com:port/'],
    ...['https://1.2.3.256/', 'https://1.2.3.4.5/', 'https://4294967296/'],
    ...['https://[fe80::1%25eth0]/', 'https://[fe80::1%eth0]/', 'https://[::1/'],
  ],
  too_long: [long(2_049)],
  not_https: [
    ...['http://example.com/', 'ftp://example.com/', 'file:///etc/passwd'],
    ...['gopher://example.com:70/', 'data:text/plain,hello', 'javascript:alert(1)'],
    'blob:https://example.com/1',
  ],
  has_credentials: [
    ...['https://user:pass@example.com/', 'https://user@example.com/', 'https://@example.com/'],
    ...['https://:@example.com/', 'https://example.com@127.0.0.1/'],
  ],
  bad_port: [
    ...['https://example.com:0/', 'https://example.com:22/', 'https://example.com:25/'],
    'https://example.com:6667/',
  ],
  bad_host: [
    ...['https://a..example.com/', 'https://example.com../', 'https://-a.example.com/'],
    ...['https://a-.example.com/', 'https://*.example.com/', 'https://a,b.example.com/'],
    ...[`https://${'a'.repeat(64)}.com/`, `https://${'a.'.repeat(130)}com/`],
  ],
  private_host: [
    ...['https://localhost/', 'https://LOCALHOST/', 'https://localhost./', 'https://localhost。/'],
    ...['https://a.localhost/', 'https://printer.local/', 'https://db.prod.svc.cluster.local/'],
    ...['https://metadata.google.internal/', 'https://metadata.google.internal./'],
    ...['https://wiki.corp/', 'https://router.home.arpa/', 'https://nas.lan/', 'https://redis/'],
  ],
  private_address: [
    ...['https://127.0.0.1/', 'https://127.0.0.1./', 'https://127.1/', 'https://2130706433/'],
    ...['https://0177.0.0.1/', 'https://017700000001/', 'https://0x7f000001/'],
    ...['https://0x7f.0.0.0x1/', 'https://①②⑦.⓪.⓪.①/', 'https://%31%32%37.0.0.1/'],
    ...['https://127。0。0。1/', 'https://0/', 'https://0.0.0.0/', 'https://10.1.2.3/'],
    ...['https://192.168.257/', 'https://169.254.169.254/latest/meta-data/', 'https://2852039166/'],
    ...['https://4294967295/', 'https://[0:0:0:0:0:0:0:1]:8443/', 'https://[::ffff:7f00:1]/'],
    ...['https://[0:0:0:0:0:ffff:a9fe:a9fe]/', 'https://[::127.0.0.1]/', 'https://[fe80::1]/'],
  ],
};
const REFUSALS = Object.entries(REFUSED).flatMap(([reason, texts]) =>
  texts.map((text) => [text, reason] as const),
);

function refusal(text: string, allowPrivate: boolean): UrlRefused {
  try {
    checkUrl(text, { field: 'url', allowPrivate });
  } catch (error) {
    if (error instanceof UrlRefused) return error;
    throw error;
  }
  throw new Error(`${text} was not refused`);
}

test.each(ALLOWED)('%s is allowed', (text, href) => {
  expect(checkUrl(text, { field: 'url', allowPrivate: false }).href).toBe(href);
});

test.each(REFUSALS)('%s is refused: %s', (text, reason) => {
  expect(refusal(text, false).reason).toBe(reason);
});

describe('with private addresses allowed', () => {
  test.each([
    'http://127.0.0.1:3000/hook',
    'http://localhost:3000/hook',
    'https://localhost/hook',
    'http://receiver:8080/',
    'http://host.docker.internal/',
    'http://[::1]:3000/',
    'http://10.0.0.7/',
    'https://example.com/',
  ])('%s is allowed', (text) => {
    expect(checkUrl(text, { field: 'url', allowPrivate: true }).href).toBe(text);
  });

  test.each<[string, UrlRefusal]>([
    ['http://169.254.169.254/latest/meta-data/', 'private_address'],
    ['http://[fe80::1]/', 'private_address'],
    ['http://0.0.0.0/', 'private_address'],
    ['http://user@localhost/', 'has_credentials'],
    ['http://localhost:25/', 'bad_port'],
    ['ftp://localhost/', 'not_https'],
    ['http:localhost', 'malformed'],
  ])('%s is still refused: %s', (text, reason) => {
    expect(refusal(text, true).reason).toBe(reason);
  });
});

test('names the field but never the URL in a refusal, in words for partners', () => {
  const refused = refusal('https://user:secret@10.0.0.1/', false);
  expect(refused.field).toBe('url');
  expect(refused.message).toBe('url must not contain a user name or password');
});

test('allows any text or refuses it with a reason, and allows its own output again', () => {
  const pieces = fc.constantFrom(
    'https://',
    'http://',
    '@',
    ':',
    '/',
    '.',
    '127.0.0.1',
    '[::1]',
    '\\',
  );
  const text = fc.array(fc.oneof(pieces, fc.string({ maxLength: 4 })), { maxLength: 8 });
  fc.assert(
    fc.property(text, (parts) => {
      let url: URL;
      try {
        url = checkUrl(parts.join(''), { field: 'url', allowPrivate: false });
      } catch (error) {
        expect(error).toBeInstanceOf(UrlRefused);
        return;
      }
      expect(url.protocol).toBe('https:');
      expect(checkUrl(url.href, { field: 'url', allowPrivate: false }).href).toBe(url.href);
    }),
    { numRuns: 1_000 },
  );
});
