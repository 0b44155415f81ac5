// Idempotency-Key: a partner that does not know whether its request arrived can safely repeat it.
import { randomUUID } from 'node:crypto';
import { openRedis } from '@bmg/common/redis';
import { createLogger } from '@bmg/common/telemetry';
import { eventually } from '../testkit/eventually';
import { ONE, TWO_B } from '../harness/shared-mesh';
import { aBroadcast, scopeOf } from './broadcast-support';
import { startFiles, type FileServer } from './endpoint-stage';
import { codeOf, HELLO, isReplay, UNKNOWN, useReplica, type Asked } from './idempotency-client';

const { mesh, partner, replica, ask, countSent, fault } = useReplica([ONE, TWO_B]);

describe('a repeated send', () => {
  test('gets the first answer again, with a new request ID', async () => {
    const before = await countSent();
    const key = randomUUID();
    const first = await ask(key, { headers: { 'x-request-id': 'first' } });
    const again = await ask(key, { headers: { 'x-request-id': 'again' } });
    expect(first.status).toBe(200);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(again.headers.get('x-request-id')).toBe('again');
    expect(again.headers.get('x-service-api-version')).toBe('2.9.2');
    expect(await countSent()).toBe(before + 1);
  });

  test('sends once when many copies arrive at two replicas at the same time', async () => {
    const before = await countSent();
    await fault({ delay_ms: 200 });
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, place) =>
        ask(key, place % 2 ? { base_url: replica.base_url } : {}),
      ),
    );
    expect(await countSent()).toBe(before + 1);
    const firsts = answers.filter((answer) => answer.status === 200 && !isReplay(answer));
    expect(firsts).toHaveLength(1);
    // Requests during the send got 409, later ones got the same answer.
    for (const answer of answers) {
      if (answer.status === 200) expect(answer.body).toEqual(firsts[0]?.body);
      else expect(codeOf(answer)).toEqual([409, 'IDEMPOTENCY_KEY_IN_USE']);
    }
    const later = await ask(key, { base_url: replica.base_url });
    expect([isReplay(later), later.body]).toEqual([true, firsts[0]?.body]);
  });
});

/** To the partner this is a Redis that has lost its memory. */
async function forget(): Promise<void> {
  const { REDIS_URL, REDIS_KEY_PREFIX = '' } = mesh.env as Record<string, string>;
  const connection = openRedis({ REDIS_URL, REDIS_KEY_PREFIX } as never, createLogger('test'));
  await connection.start(new AbortController().signal);
  const pattern = `${REDIS_KEY_PREFIX}bmg:{${partner.partner_id}}:idempotency*`;
  const keys = await connection.redis.keys(pattern);
  expect(keys.length).toBeGreaterThan(0);
  await connection.redis.del(...keys.map((key) => key.slice(REDIS_KEY_PREFIX.length)));
  await connection.stop();
}

describe('a send that Redis has forgotten', () => {
  test('is not repeated, gets the first answer again, and refuses another body', async () => {
    const before = await countSent();
    const key = randomUUID();
    const first = await ask(key);
    await forget();
    const other = await ask(key, { body: { ...HELLO, text: 'Bye' } });
    expect(codeOf(other)).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    const again = await ask(key);
    expect([again.status, again.body, isReplay(again)]).toEqual([200, first.body, true]);
    expect(await countSent()).toBe(before + 1);
  });

  test('stays unknown if it was, and is never sent again', async () => {
    await mesh.emulator.behaviour({ hold: true });
    await fault({ drop: 'after' });
    const before = await countSent();
    const key = randomUUID();
    expect((await ask(key, { base_url: replica.base_url })).body.error).toMatchObject(UNKNOWN);
    await forget();
    const late = await eventually(async () => {
      const answer = await ask(key);
      return answer.status !== 409 && answer;
    });
    expect([late.status, late.body.error]).toEqual([502, expect.objectContaining(UNKNOWN)]);
    expect(await countSent()).toBe(before + 1);
  });

  test('is sent by a repeat if the upstream had refused it', async () => {
    await fault({ error: { status: 400, code: 131047, message: '(#131047) Re-engagement' } });
    const key = randomUUID();
    expect((await ask(key)).status).toBe(502);
    await forget();
    const again = await ask(key);
    expect([again.status, isReplay(again)]).toEqual([200, false]);
  });
});

describe('other requests', () => {
  let files: FileServer;
  beforeAll(async () => {
    files = await startFiles();
    const { waba_id } = TWO_B;
    await mesh.emulator.customer({ waba_id, wa_id: CALLED, call_permission: true });
  });
  afterAll(() => files.close());

  const CALLED = '15550100711';
  const TWO = scopeOf(TWO_B);
  const upload = () => ({
    path: '/media/upload',
    body: { url: `${files.url}/photo.jpg`, mime_type: 'image/jpeg' },
  });
  const rows: Array<[string, () => Asked, number]> = [
    ['a file', upload, 201],
    [
      'a template',
      () => ({
        path: '/templates',
        body: {
          name: `hello_${randomUUID().replaceAll('-', '')}`,
          language: 'en_US',
          category: 'UTILITY',
          components: [{ type: 'BODY', text: 'Hello' }],
        },
      }),
      201,
    ],
    [
      'a broadcast',
      () => ({
        path: '/broadcasts',
        body: aBroadcast(['15550100901'], { scheduled_at: '2099-01-01T00:00:00Z' }),
      }),
      201,
    ],
    ['a group', () => ({ path: '/groups', body: { subject: 'A group' }, headers: TWO }), 201],
    [
      'a call',
      () => ({
        path: '/calls',
        body: { action: 'connect', to: CALLED, session: { sdp_type: 'offer', sdp: 'v=0' } },
        headers: TWO,
      }),
      200,
    ],
  ];

  test.each(rows)(
    '%s is made once and answered again, also after Redis has forgotten it',
    async (_name, make, status) => {
      const key = randomUUID();
      const given = make();
      const first = await ask(key, given);
      expect([first.status, first.body.error]).toEqual([status, undefined]);
      const again = await ask(key, { ...given, base_url: replica.base_url });
      await forget();
      for (const answer of [again, await ask(key, given)]) {
        expect([answer.status, answer.body, isReplay(answer)]).toEqual([status, first.body, true]);
      }
    },
  );
});
