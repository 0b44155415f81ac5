import { fileNameOf } from './file-name';

test.each([
  ['https://example.org/a/price%20list.pdf?sig=1#x', 'price list.pdf'],
  ['https://example.org/%E4%BB%B7%E6%A0%BC.pdf', '价格.pdf'],
  ['https://example.org/plain', 'plain'],
  ['https://example.org/', 'file'],
  ['https://example.org', 'file'],
  ['https://example.org/a/..%2f..%2fetc%2Fpasswd', '.._.._etc_passwd'],
  ['https://example.org/%2e%2e', 'file'],
  ['https://example.org/a%0d%0ab%22c.pdf', 'a__b"c.pdf'],
  ['https://example.org/a%ff.pdf', 'a%ff.pdf'],
  ['https://example.org/%E2%80%AEfdp.exe', '_fdp.exe'],
  ['no url', 'file'],
])('the path of %s names the file %s', (url, name) => {
  expect(fileNameOf(url)).toBe(name);
});

test('truncates a long name before its extension, by whole characters', () => {
  const name = fileNameOf(`https://example.org/${encodeURIComponent('😀'.repeat(300))}.docx`);
  expect([...name]).toHaveLength(200);
  expect(name.endsWith('😀.docx')).toBe(true);
});
