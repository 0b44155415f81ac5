import { createFraming, HEAD_MAX_BYTES } from './answer-framing';

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';

/** What the parser reads of these chunks. */
const read = (...chunks: string[]): string => {
  const framing = createFraming();
  return chunks.map((chunk) => framing(Buffer.from(chunk)).toString()).join('');
};

test.each<[string, string[], string]>([
  ['leaves a usual answer as it is', [`${OK}ok`], `${OK}ok`],
  ['leaves a body as it is', [OK, 'ok', 'HTTP', '/1.1'], `${OK}okHTTP/1.1`],
  ['drops interim answers', [CONTINUE + CONTINUE + OK, 'ok'], `${OK}ok`],
  ['drops an interim answer in pieces', ['HTTP/1.1 100 ', 'Continue\r\n', '\r\n', OK], OK],
  ['drops early hints', [`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}`], OK],
  [
    'drops those of each answer of a connection',
    [CONTINUE + OK, 'ok', CONTINUE + OK, 'ok'],
    `${OK}ok${OK}ok`,
  ],
  [
    'keeps an unasked upgrade',
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  ],
  [
    'renames a length beside chunks',
    ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n'],
    'HTTP/1.1 200 OK\r\nx-ignored-size: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n',
  ],
])('%s', (_name, chunks, expected) => {
  expect(read(...chunks)).toBe(expected);
});

test('holds no head back that is longer than the limit', () => {
  const endless = `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(HEAD_MAX_BYTES)}`;
  expect(read(endless)).toBe(endless);
});
