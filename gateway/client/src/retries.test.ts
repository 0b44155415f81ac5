import { createRetryingFetch } from './retries';

const BASE = 'https://gateway.test/v1';
const RETRYABLE = { error: { retryable: true } };

/** A gateway that gives these answers in turn: a status with a body, or a broken connection. */
function gateway(...answers: Array<[status: number, body: object] | 'broken'>) {
  const keys: Array<string | null> = [];
  const bodies: string[] = [];
  const fetch = createRetryingFetch({
    base_url: BASE,
    attempts_max: 3,
    async fetch(request) {
      keys.push(request.headers.get('Idempotency-Key'));
      bodies.push(await request.text());
      const answer = answers[Math.min(keys.length, answers.length) - 1];
      if (answer === 'broken' || answer === undefined) throw new TypeError('fetch failed');
      const [status, body] = answer;
      return Response.json(body, { status, headers: { 'Retry-After': '0' } });
    },
  });
  return { fetch, keys, bodies };
}

const send = (path = '/messages/send', headers: Record<string, string> = {}): Request =>
  new Request(BASE + path, { method: 'POST', body: '{"text":"x"}', headers });

test('repeats what the gateway calls retryable, with the same key and body', async () => {
  const { fetch, keys, bodies } = gateway([503, RETRYABLE], 'broken', [200, { success: true }]);
  expect((await fetch(send())).status).toBe(200);
  expect(keys).toHaveLength(3);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(new Set(keys).size).toBe(1);
  expect(new Set(bodies)).toEqual(new Set(['{"text":"x"}']));
});

test('returns an error that is not retryable at once, and the last answer in the end', async () => {
  const refused = gateway([502, { error: { retryable: false } }]);
  expect((await refused.fetch(send())).status).toBe(502);
  expect(refused.keys).toHaveLength(1);
  const away = gateway([429, RETRYABLE]);
  expect((await away.fetch(send())).status).toBe(429);
  expect(away.keys).toHaveLength(3);
});

test('keeps the caller’s own key', async () => {
  const { fetch, keys } = gateway([200, {}]);
  await fetch(send('/broadcasts', { 'Idempotency-Key': 'mine' }));
  expect(keys).toEqual(['mine']);
});

test('repeats no change without a key after a broken connection', async () => {
  const change = gateway('broken');
  await expect(change.fetch(send('/webhooks/retry-all'))).rejects.toThrow('fetch failed');
  expect(change.keys).toEqual([null]);
  const read = gateway('broken', [200, {}]);
  expect((await read.fetch(new Request(`${BASE}/clients`))).status).toBe(200);
});
