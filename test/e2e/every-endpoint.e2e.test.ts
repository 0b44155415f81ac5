// Every row of the endpoint table: one request that succeeds, held against the OpenAPI document, and who
// may not ask it at all.
import { request } from 'undici';
import { endpoints } from '../../gateway/src/endpoints';
import type { Endpoint, Fields } from '../../gateway/src/endpoints/endpoint';
import { documentPath, operationName } from '../../gateway/src/openapi';
import type { Schema } from '../../gateway/src/endpoints/parts/schema';
import { joinMesh, TWO_A, TWO_B, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { readAnswerSchemas, type AnswerSchemas } from './answer-schemas';
import { answeredWrongly, isRefusal, type ExpectedRefusal } from './bad-answers';
import { BEYOND, badBodies, badQueries } from './bad-requests';
import { CASES } from './endpoint-cases';
import { createCaseTally } from './endpoint-golden';
import {
  createStage,
  lastSeq,
  requestOf,
  send,
  startFiles,
  type FileServer,
  type Stage,
} from './endpoint-stage';
import { openStored, type Stored } from './stored';

// The first event of a mesh waits until its consumers have joined.
jest.setTimeout(30_000);

const tally = createCaseTally();
let mesh: Mesh;
let files: FileServer;
let stage: Stage;
let schemas: AnswerSchemas;

beforeAll(async () => {
  mesh = await joinMesh();
  await mesh.emulator.limits({ rate_per_sec: 'off' });
  files = await startFiles();
  stage = await createStage(mesh, files);
  schemas = await readAnswerSchemas(mesh.base_url.replace(/\/v1$/, ''));
}, 90_000);
afterAll(async () => {
  await mesh.stop();
  await files.close();
}, 60_000);

const rows = endpoints.map(
  (endpoint) => [`${endpoint.verb} ${documentPath(endpoint)}`, endpoint] as const,
);

test('every case belongs to a row', () => {
  expect(endpoints.map(operationName)).toEqual(expect.arrayContaining(Object.keys(CASES)));
});

describe('a request that should succeed does', () => {
  test.each(rows)('%s', async (_route, endpoint) => {
    const { prepare, type = 'application/json' } = CASES[operationName(endpoint)] ?? {};
    const given = (await prepare?.(stage)) ?? {};
    const answer = await send(stage, requestOf(endpoint, stage, given));
    if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
    expect(answer.type).toBe(type);
    expect(schemas.check(operationName(endpoint), answer)).toEqual([]);
    if (endpoint.counted === false) expect(answer.headers.has('ratelimit-limit')).toBe(false);
    expect(answer.text).not.toContain(stage.one.access_token);
    tally.add(endpoint, 'success');
  });

  test('GET /health, without a key', async () => {
    const answer = await fetch(`${mesh.base_url}/health`);
    const text = await answer.text();
    expect(
      schemas.check('getHealth', {
        status: answer.status,
        headers: answer.headers,
        type: 'application/json',
        text,
        body: JSON.parse(text),
      }),
    ).toEqual([]);
    tally.add('getHealth', 'success');
  });

  test('and every operation of the document has been tried', () => {
    expect(schemas.operations).toHaveLength(endpoints.length + 1);
  });
});

describe('bad input is a 4xx that names the field, and reaches neither the upstream nor a store', () => {
  let stored: Stored;
  beforeAll(async () => {
    stored = await openStored(mesh);
  });
  afterAll(() => stored.close());

  /** What was prepared may still be on its way to a store: a difference must come again to count. */
  const LOOKS_MAX = 3;
  async function expectRefused(endpoint: Endpoint, requests: ExpectedRefusal[]): Promise<void> {
    for (let look = 1; ; look += 1) {
      const before = { seq: await lastSeq(mesh), stored: await stored.count() };
      expect(await answeredWrongly(stage, endpoint, requests)).toEqual([]);
      const after = { seq: await lastSeq(mesh), stored: await stored.count() };
      if (look < LOOKS_MAX && JSON.stringify(after) !== JSON.stringify(before)) continue;
      expect(after).toEqual(before);
      tally.add(endpoint, 'bad_input', requests.length);
      return;
    }
  }

  /** The body of a request that would succeed. */
  async function goodBody(endpoint: Endpoint): Promise<Fields> {
    const given = (await CASES[operationName(endpoint)]?.prepare?.(stage)) ?? {};
    return requestOf(endpoint, stage, given).body ?? {};
  }

  const withBody = rows.filter(([, { body }]) => body);
  test.each(withBody)('%s', async (_route, endpoint) => {
    const requests = [...badBodies(endpoint.body as Schema, await goodBody(endpoint))];
    expect(requests.length).toBeGreaterThan(2);
    await expectRefused(endpoint, requests);
  });

  const withQuery = rows.filter(([, { query }]) => query);
  test.each(withQuery)('%s', async (_route, endpoint) => {
    const requests = [...badQueries(endpoint.query as Schema)];
    expect(requests.length).toBeGreaterThan(1);
    await expectRefused(endpoint, requests);
  });

  const beyond = rows.filter(([, endpoint]) => BEYOND[operationName(endpoint)]);
  test.each(beyond)('%s, beyond what its schema says', async (_route, endpoint) => {
    const base = await goodBody(endpoint);
    const requests = (BEYOND[operationName(endpoint)] ?? []).map(({ change, ...expected }) => ({
      ...expected,
      name: JSON.stringify(change).slice(0, 100),
      fields: { ...base, ...change },
    }));
    await expectRefused(endpoint, requests);
  });
});

describe('an odd value in a path is refused, and reaches no other path of the upstream', () => {
  const odd = ['a%2Fb', '..%2F..%2F900000000000001', '%00', '%20', '%E2%80%AE', 'x'.repeat(2_000)];
  const withParameter = rows.filter(([, { path }]) => path.includes(':'));

  test.each(withParameter)('%s', async (_route, endpoint) => {
    for (const value of odd) {
      const since = await lastSeq(mesh);
      const path = endpoint.path.replace(/:\w+/g, value);
      const answer = await send(stage, { ...requestOf(endpoint, stage, {}), path });
      expect([value, isRefusal(answer)]).toEqual([value, true]);
      for (const { path: asked } of await mesh.emulator.requests({ since })) {
        expect(asked.split('/').length).toBeLessThanOrEqual(endpoint.path.split('/').length + 2);
        expect(asked).not.toMatch(/\/\.\.?(\/|$)/);
      }
      tally.add(endpoint, 'bad_input');
    }
  });
});

describe('the documents', () => {
  // Not fetch: a conditional request of its own makes it forbid caching altogether.
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const {
      statusCode,
      headers: answered,
      body,
    } = await request(mesh.base_url.replace(/\/v1$/, path), { headers });
    return { status: statusCode, headers: answered, text: await body.text() };
  };

  test.each([
    ['/openapi.json', 'application/json; charset=utf-8'],
    ['/docs', 'text/html; charset=utf-8'],
    ['/changelog', 'text/html; charset=utf-8'],
    ['/docs/style.css', 'text/css; charset=utf-8'],
  ])(
    '%s is served without a key, kept by caches, and asked for again cheaply',
    async (path, type) => {
      const first = await get(path);
      expect([first.status, first.headers['content-type']]).toEqual([200, type]);
      expect(first.text.length).toBeGreaterThan(500);
      expect(first.headers['cache-control']).toMatch(/^public, max-age=\d+/);
      expect(first.headers['content-security-policy']).toContain("default-src 'none'");
      const again = await get(path, { 'if-none-match': String(first.headers['etag']) });
      expect([again.status, again.text.length]).toEqual([304, 0]);
    },
  );

  test('the changelog is where the header of every answer says', async () => {
    const { headers } = await get('/openapi.json');
    expect((await fetch(String(headers['x-service-changelog']))).status).toBe(200);
  });
});

/** Who may not: whatever else is in the request, it reaches nobody. */
describe('without the right to ask it', () => {
  let stranger: TestPartner;
  let two: TestPartner;
  beforeAll(async () => {
    stranger = await mesh.createPartner();
    two = await mesh.createPartner();
    await two.register(TWO_A);
    await two.register(TWO_B);
  });

  /** A request like the successful one; nothing is there that it names. */
  const requestFor = (endpoint: Endpoint) => requestOf(endpoint, stage, {});

  async function refusedFor(
    endpoint: Endpoint,
    partner: Pick<TestPartner, 'partner_key'>,
    headers: Record<string, string>,
  ): Promise<[number, string]> {
    const before = await lastSeq(mesh);
    const request = requestFor(endpoint);
    const answer = await send(
      { mesh, partner: partner as TestPartner },
      { ...request, headers: { ...request.headers, ...headers } },
    );
    expect(await lastSeq(mesh)).toBe(before);
    expect(answer.headers.get('x-service-api-version')).toBe('2.9.2');
    expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
    tally.add(endpoint, 'not_allowed');
    return [answer.status, answer.body.error.code as string];
  }

  test.each(rows)(
    '%s: no key, a wrong key, a key that is a connect token',
    async (_r, endpoint) => {
      expect(await refusedFor(endpoint, { partner_key: '' }, {})).toEqual([401, 'UNAUTHORIZED']);
      const wrong = `${stage.partner.partner_key.slice(0, -1)}_`;
      expect(await refusedFor(endpoint, { partner_key: wrong }, {})).toEqual([
        401,
        'INVALID_PARTNER_KEY',
      ]);
      const { body } = await stage.partner.call('POST', '/connect/session', {});
      expect(await refusedFor(endpoint, { partner_key: body.token as string }, {})).toEqual([
        401,
        'INVALID_PARTNER_KEY',
      ]);
    },
  );

  const tokenless = rows.filter(([, { scope }]) => scope !== 'session');
  test.each(tokenless)('%s: a connect token opens it not', async (_route, endpoint) => {
    const { body } = await stage.partner.call('POST', '/connect/session', {});
    expect(
      await refusedFor(endpoint, { partner_key: '' }, { 'x-connect-token': body.token as string }),
    ).toEqual([401, 'UNAUTHORIZED']);
  });

  const onNumber = rows.filter(([, { scope }]) => scope === 'number');
  test.each(onNumber)(
    '%s: no account, an unknown one, one of somebody else, one with two numbers',
    async (_route, endpoint) => {
      expect(await refusedFor(endpoint, stage.partner, { 'x-waba-id': ' ' })).toEqual([
        400,
        'MISSING_WABA',
      ]);
      for (const waba_id of ['1234567890', '../900000000000001']) {
        expect(await refusedFor(endpoint, stage.partner, { 'x-waba-id': waba_id })).toEqual([
          404,
          'WABA_NOT_REGISTERED',
        ]);
      }
      expect(await refusedFor(endpoint, stranger, {})).toEqual([404, 'WABA_NOT_REGISTERED']);
      const { waba_id } = TWO_A;
      expect(await refusedFor(endpoint, two, { 'x-waba-id': waba_id })).toEqual([
        502,
        'UPSTREAM_ERROR',
      ]);
      expect(
        await refusedFor(endpoint, two, {
          'x-waba-id': waba_id,
          'x-phone-number-id': stage.one.phone_number_id,
        }),
      ).toEqual([400, 'INVALID_FIELD']);
    },
  );
});

test('what was tried on each row is what gateway/ENDPOINTS.md says', () => {
  tally.expectGolden(['success', 'bad_input', 'not_allowed']);
});
