import { checkBody } from './http-guard';

test.each<[problem: string, format: 'xml' | 'json', status: number, body: string]>([
  ['HTTP 400 with an XML declaration', 'xml', 400, '<!DOCTYPE a>'.repeat(1_000)],
  ['HTTP 400 with an XML declaration', 'xml', 400, '<Error><!ENTITY a "b"></Error>'],
  ['HTTP 400 with nested XML', 'xml', 400, '<a>'.repeat(17)],
  ['HTTP 400 with nested JSON', 'json', 400, '['.repeat(17)],
  ['HTTP 200 without valid JSON', 'json', 200, 'hello'],
])('refuses an answer because of %s', (problem, format, status, body) => {
  const check = () => checkBody(format, status, Buffer.from(body));
  expect(check).toThrow(`the server broke the protocol: ${problem}`);
});

test.each<[format: 'xml' | 'json', status: number, body: string]>([
  ['xml', 403, '<?xml version="1.0"?><Error><Code>AccessDenied</Code><A/><B/></Error>'],
  ['xml', 200, ''],
  ['json', 200, `{"Message":"${'['.repeat(30)} \\" ${'{'.repeat(30)}"}`],
  ['json', 503, '<html>busy</html>'],
])('passes an answer of %s with status %i', (format, status, body) => {
  expect(() => checkBody(format, status, Buffer.from(body))).not.toThrow();
});
