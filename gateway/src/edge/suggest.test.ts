import { suggestPath } from './suggest';

const paths = [
  { verb: 'POST', path: '/v1/messages/send' },
  { verb: 'POST', path: '/v1/messages/read' },
  { verb: 'GET', path: '/v1/clients' },
  { verb: 'DELETE', path: '/v1/clients/:waba_id' },
] as const;

test.each([
  ['POST', '/v1/messages/snd', ': did you mean POST /v1/messages/send?'],
  ['GET', '/v1/messages/send', ': did you mean POST /v1/messages/send?'],
  ['POST', '/messages/send', ': did you mean POST /v1/messages/send?'],
  ['GET', '/v1/client', ': did you mean GET /v1/clients?'],
  ['DELETE', '/v1/client/900000000000001', ': did you mean DELETE /v1/clients/{waba_id}?'],
  ['GET', '/v1/nothing/like/it', ''],
  ['GET', `/v1/${'a'.repeat(10_000)}`, ''],
])('%s %s', (method, given, hint) => {
  expect(suggestPath(paths, method, given)).toBe(hint);
});
