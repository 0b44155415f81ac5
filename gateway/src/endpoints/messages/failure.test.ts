import { failureOf } from './log-rows';

const BASE = 'https://gateway.example/v1';

test('a code of the guide is explained, with its place in the documentation', () => {
  expect(failureOf('131026', BASE)).toEqual({
    upstream_code: 131_026,
    message: expect.stringContaining('cannot be delivered'),
    action: 'Do not retry.',
    retryable: false,
    doc_url: 'https://gateway.example/docs#upstream-131026',
  });
});

test('any other code refers to the upstream', () => {
  expect(failureOf('999', BASE)).toMatchObject({
    upstream_code: 999,
    action: 'See the documentation of the upstream for this code.',
    doc_url: 'https://gateway.example/docs#UPSTREAM_ERROR',
  });
});

test.each([undefined, 'text'])('%s is no failure', (code) => {
  expect(failureOf(code, BASE)).toBeNull();
});
