// Idempotency-Key: a partner that does not know whether its request arrived can safely repeat it.
import { randomUUID } from 'node:crypto';
import { openRedis } from '@bmg/common/redis';
import { createLogger } from '@bmg/common/telemetry';
import { callRest, ONE, TWO_B, type Answer } from '../harness/shared-mesh';
import { aBroadcast, scopeOf } from './broadcast-support';
import { startFiles, type FileServer } from './endpoint-stage';
import { codeOf, HELLO, isReplay } from './idempotency-client';
import { startGateway, useMesh, usePartner } from './use-mesh';

const CALLED = '15550100711';

const mesh = useMesh();
const partner = usePartner(mesh, [ONE, TWO_B], { rate_limit_per_sec: 1_000 });
let replica: Awaited<ReturnType<typeof startGateway>>;
let files: FileServer;

beforeAll(async () => {
  replica = await startGateway(mesh.env);
  files = await startFiles();
  const { waba_id } = TWO_B;
  await mesh.emulator.customer({ waba_id, wa_id: CALLED, call_permission: true });
});
afterAll(() => Promise.all([replica?.stop(), files?.close()]));

interface Asked {
  path?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Sends a request with the key: by default a text message, and to the gateway of the mesh. */
const ask = (
  key: string,
  { path = '/messages/send', body = HELLO, headers }: Asked = {},
  { base_url } = mesh as { base_url: string },
): Promise<Answer> =>
  callRest(base_url, 'POST', path, body, {
    'x-partner-key': partner.partner_key,
    'x-waba-id': ONE.waba_id,
    'idempotency-key': key,
    ...headers,
  });
const countSent = async (): Promise<number> => (await mesh.emulator.summary()).total;

test('a send goes out once when many copies arrive at two replicas at the same time', async () => {
  const before = await countSent();
  const match = { method: 'POST', path: '/messages$' };
  await mesh.emulator.fault({ match, times: 1, delay_ms: 200 });
  const key = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, place) => ask(key, {}, place % 2 ? replica : mesh)),
  );
  expect(await countSent()).toBe(before + 1);
  const firsts = answers.filter((answer) => answer.status === 200 && !isReplay(answer));
  expect(firsts).toHaveLength(1);
  // Requests during the send got 409, later ones got the same answer.
  for (const answer of answers) {
    if (answer.status === 200) expect(answer.body).toEqual(firsts[0]?.body);
    else expect(codeOf(answer)).toEqual([409, 'IDEMPOTENCY_KEY_IN_USE']);
  }
  const later = await ask(key, { headers: { 'x-request-id': 'again' } }, replica);
  expect([isReplay(later), later.body]).toEqual([true, firsts[0]?.body]);
  expect(later.headers.get('x-request-id')).toBe('again');
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

const TWO = scopeOf(TWO_B);
const upload = () => ({
  path: '/media/upload',
  body: { url: `${files.url}/photo.jpg`, mime_type: 'image/jpeg' },
});
const rows: Array<[string, () => Asked, number]> = [
  ['a text', () => ({}), 200],
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
    const again = await ask(key, given, replica);
    await forget();
    for (const answer of [again, await ask(key, given)]) {
      expect([answer.status, answer.body, isReplay(answer)]).toEqual([status, first.body, true]);
    }
  },
);
