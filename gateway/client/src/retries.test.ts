import { createRetryingFetch } from './retries';

const BASE = 'https://gateway.test/v1';
const RETRYABLE = { error: { retryable: true } };

/** A gateway that returns these answers in turn: a status with a body, or a broken connection. */
function gateway(...answers: Array<[status: number, body: object] | Response | 'broken'>) {
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
      if (answer instanceof Response) return answer.clone();
      const [status, body] = answer;
      return Response.json(body, { status, headers: { 'Retry-After': '0' } });
    },
  });
  return { fetch, keys, bodies };
}

const send = (path = '/messages/send', headers: Record<string, string> = {}): Request =>
  new Request(BASE + path, { method: 'POST', body: '{"text":"x"}', headers });

test('repeats errors that the gateway marks as retryable, with the same key and body', async () => {
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

describe('an answer that is not the gateway’s', () => {
  const page = (status: number): Response =>
    new Response('<html><h1>Bad Gateway</h1></html>', {
      status,
      headers: { 'Content-Type': 'text/html', 'Retry-After': '0' },
    });
  const errorOf = async (response: Response) =>
    ((await response.json()) as { error: Record<string, unknown> }).error;

  test('of a proxy is an error in the gateway’s form, repeated like a broken connection', async () => {
    const { fetch, keys } = gateway(page(502));
    const response = await fetch(send());
    expect(response.status).toBe(502);
    expect(await errorOf(response)).toMatchObject({
      code: 'UNEXPECTED_ANSWER',
      message: 'HTTP 502 with text/html: not an answer of the gateway',
      retryable: true,
    });
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(3);
  });

  test('leaves the outcome of a change without a key unknown', async () => {
    const { fetch, keys } = gateway(page(504));
    expect(await errorOf(await fetch(send('/webhooks/retry-all')))).toMatchObject({
      retryable: false,
      details: { outcome: 'unknown' },
    });
    expect(keys).toHaveLength(1);
  });

  test('that refuses is not repeated', async () => {
    const { fetch, keys } = gateway(page(403));
    const response = await fetch(send());
    expect([response.status, (await errorOf(response))['retryable']]).toEqual([403, false]);
    expect(keys).toHaveLength(1);
  });

  test.each([
    ['a page with status 200', page(200), 502],
    ['JSON of another server', Response.json({ message: 'no route' }, { status: 404 }), 404],
    [
      'broken JSON',
      new Response('{', { status: 500, headers: { 'Content-Type': 'application/json' } }),
      500,
    ],
    ['no body', new Response(null, { status: 503 }), 503],
  ])('may be %s', async (_name, answer, status) => {
    const response = await gateway(answer).fetch(new Request(`${BASE}/clients`));
    expect(response.status).toBe(status);
    expect(await errorOf(response)).toMatchObject({ code: 'UNEXPECTED_ANSWER' });
  });

  test('passes downloads on', async () => {
    const image = new Response('bytes', { headers: { 'Content-Type': 'image/png' } });
    const response = await gateway(image).fetch(new Request(`${BASE}/media/1`));
    expect(await response.text()).toBe('bytes');
  });
});
