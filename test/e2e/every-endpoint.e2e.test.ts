// Every row of the endpoint table: a successful request checked against the OpenAPI document, bad
// input, and callers without access.
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { actionOf, isAudited } from '../../gateway/src/audit/audited';
import { endpoints } from '../../gateway/src/endpoints';
import type { Endpoint, Fields } from '../../gateway/src/endpoints/endpoint';
import { operationName } from '../../gateway/src/openapi';
import type { Schema } from '../../gateway/src/endpoints/parts/schema';
import { TWO_A, TWO_B, type TestPartner } from '../harness/shared-mesh';
import { readAnswerSchemas, type AnswerSchemas } from './answer-schemas';
import {
  answeredWrongly,
  BEYOND_SCHEMA,
  badBodies,
  badQueries,
  isRefusal,
  type ExpectedRefusal,
} from './bad-requests';
import { CASES, TYPES } from './endpoint-cases';
import { createCaseTally } from './endpoint-golden';
import { ROWS } from './endpoint-rows';
import {
  createStage,
  lastSeq,
  requestOf,
  send,
  startFiles,
  type FileServer,
  type Stage,
} from './endpoint-stage';
import { consoleOf, joinMeshWithName } from './people-support';
import { openStored, type Stored } from './stored';
import { eventually } from '../testkit/eventually';
import { useMesh } from './use-mesh';

/** Work that still runs changes a store at least this often. */
const QUIET_MS = 1_500;

const tally = createCaseTally();
// Under a host name, because some rows are for people, who sign in with passkeys.
const mesh = useMesh(() => joinMeshWithName());
let files: FileServer;
let stage: Stage;
let schemas: AnswerSchemas;

beforeAll(async () => {
  await mesh.emulator.limits({ rate_per_sec: 'off' });
  files = await startFiles();
  const web = consoleOf(mesh);
  stage = await createStage(mesh, files);
  stage.owner = await web.member(stage.partner, 'owner');
  await web.member(stage.partner, 'developer');
  schemas = await readAnswerSchemas(mesh.base_url.replace(/\/v1$/, ''));
});
afterAll(() => files.close());

test('has no case without a row', () => {
  expect(endpoints.map(operationName)).toEqual(expect.arrayContaining(Object.keys(CASES)));
});

/** Values of requests that must not be in the audit log. */
const hidden: string[] = [];
const HIDDEN =
  /token|pin|^code$|text|message|users|contacts|participants|components|subject|description|about|email/;
const hiddenIn = (body: Fields = {}): string[] =>
  Object.entries(body).flatMap(([name, value]) => (HIDDEN.test(name) ? textsIn(value) : []));
const textsIn = (value: unknown): string[] => {
  // A word such as `text` is also a name of the log.
  if (typeof value === 'string')
    return /^.{6,}$/s.test(value) && /[\d ]/.test(value) ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};
const secrets = (): RegExp => {
  expect(hidden.length).toBeGreaterThan(5);
  const any = hidden.map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  // Matches whole values: six digits of a PIN may also be a part of an ID.
  return new RegExp(`(?<![0-9A-Za-z])(?:${any})(?![0-9A-Za-z])`);
};

describe('a good request succeeds and matches the document', () => {
  test.each(ROWS)('%s', async (_route, endpoint) => {
    const name = operationName(endpoint);
    const given = (await CASES[name]?.(stage)) ?? {};
    const asked = requestOf(endpoint, stage, given);
    if (isAudited(endpoint)) hidden.push(...hiddenIn(asked.body));
    const answer = await send(stage, asked);
    if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
    expect(answer.type).toBe(TYPES[name] ?? 'application/json');
    expect(schemas.check(name, answer)).toEqual([]);
    if (endpoint.counted === false) expect(answer.headers.has('ratelimit-limit')).toBe(false);
    expect(answer.text).not.toContain(stage.one.access_token);
    tally.add(endpoint, 'success');
  });

  test('the audit log has each change, and no secret or text of the requests', async () => {
    const records: Array<{ action: string; outcome: string }> = [];
    let cursor = '';
    do {
      const { body } = await stage.partner.call('GET', `/audit?limit=100${cursor}`);
      records.push(...(body.records as typeof records));
      cursor = body.paging.cursors.after ? `&cursor=${body.paging.cursors.after}` : '';
    } while (cursor !== '');
    const done = records.filter(
      ({ outcome, action }) => outcome === 'succeeded' && !action.startsWith('console '),
    );
    expect([...new Set(done.map(({ action }) => action))].sort()).toEqual(
      endpoints.filter(isAudited).map(actionOf).sort(),
    );
    const text = JSON.stringify(records);
    expect(text).not.toContain(stage.one.access_token);
    expect(text).not.toMatch(secrets());
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

  test('covers every operation of the document', () => {
    expect(schemas.operations).toHaveLength(endpoints.length + 1);
  });
});

describe('bad input gets a 4xx that names the field and reaches neither the upstream nor a store', () => {
  let stored: Stored;
  const look = async () => ({ seq: await lastSeq(mesh), stored: await stored.count() });
  beforeAll(async () => {
    stored = await openStored(mesh, stage.partner.partner_id);
    // What the good requests began goes on without any request: refused events, resumed broadcasts.
    await stage.partner.call('POST', '/webhooks/retry-all');
    let last = await look();
    await eventually(async () => {
      await sleep(QUIET_MS);
      const before = JSON.stringify(last);
      last = await look();
      return JSON.stringify(last) === before;
    });
  });
  afterAll(() => stored.close());

  /** Prepared state may still be being written, so a difference counts only if it repeats. */
  const LOOKS_MAX = 3;
  async function expectRefused(endpoint: Endpoint, requests: ExpectedRefusal[]): Promise<void> {
    for (let looks = 1; ; looks += 1) {
      const before = await look();
      expect(await answeredWrongly(stage, endpoint, requests)).toEqual([]);
      const after = await look();
      if (looks < LOOKS_MAX && JSON.stringify(after) !== JSON.stringify(before)) continue;
      expect(after).toEqual(before);
      tally.add(endpoint, 'bad_input', requests.length);
      return;
    }
  }

  /** The body of a good request. */
  async function goodBody(endpoint: Endpoint): Promise<Fields> {
    const given = (await CASES[operationName(endpoint)]?.(stage)) ?? {};
    return requestOf(endpoint, stage, given).body ?? {};
  }

  const withBody = ROWS.filter(([, { body }]) => body);
  test.each(withBody)('%s', async (_route, endpoint) => {
    const requests = [...badBodies(endpoint.body as Schema, await goodBody(endpoint))];
    expect(requests.length).toBeGreaterThan(2);
    await expectRefused(endpoint, requests);
  });

  const withQuery = ROWS.filter(([, { query }]) => query);
  test.each(withQuery)('%s', async (_route, endpoint) => {
    const requests = [...badQueries(endpoint.query as Schema)];
    expect(requests.length).toBeGreaterThan(1);
    await expectRefused(endpoint, requests);
  });

  const beyond = ROWS.filter(([, endpoint]) => BEYOND_SCHEMA[operationName(endpoint)]);
  test.each(beyond)('%s, for rules beyond its schema', async (_route, endpoint) => {
    const base = await goodBody(endpoint);
    const requests = (BEYOND_SCHEMA[operationName(endpoint)] ?? []).map(
      ({ change, ...expected }) => ({
        ...expected,
        name: JSON.stringify(change).slice(0, 100),
        fields: { ...base, ...change },
      }),
    );
    await expectRefused(endpoint, requests);
  });
});

describe('a malformed value in a path is refused and reaches no other path of the upstream', () => {
  const odd = ['a%2Fb', '..%2F..%2F900000000000001', '%00', '%20', '%E2%80%AE', 'x'.repeat(2_000)];
  const withParameter = ROWS.filter(([, { path }]) => path.includes(':'));

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

describe('the published documents', () => {
  // Not fetch: it adds `cache-control: no-cache` to a conditional request.
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
    ['/asyncapi.json', 'application/json; charset=utf-8'],
    ['/collection.json', 'application/json; charset=utf-8'],
    ['/docs', 'text/html; charset=utf-8'],
    ['/changelog', 'text/html; charset=utf-8'],
    ['/docs/style.css', 'text/css; charset=utf-8'],
    ['/docs/quick-start', 'text/html; charset=utf-8'],
    ['/docs/quick-start.md', 'text/markdown; charset=utf-8'],
    ['/docs/search.json', 'application/json; charset=utf-8'],
    ['/llms.txt', 'text/plain; charset=utf-8'],
  ])(
    '%s needs no key, is cacheable, and is revalidated with a conditional request',
    async (path, type) => {
      const first = await get(path);
      expect([first.status, first.headers['content-type']]).toEqual([200, type]);
      expect(first.text.length).toBeGreaterThan(500);
      expect(first.headers['cache-control']).toMatch(/^public, max-age=\d+/);
      expect(first.headers['content-security-policy']).toContain("default-src 'none'");
      const again = await get(path, { 'if-none-match': String(first.headers['etag']) });
      expect([again.status, again.text.length]).toEqual([304, 0]);
      const { headers } = await get(path, { 'accept-encoding': 'gzip' });
      expect([headers['content-encoding'], headers['vary']]).toEqual(['gzip', 'Accept-Encoding']);
    },
  );

  test('the changelog is served at the address in the header of every response', async () => {
    const { headers } = await get('/openapi.json');
    expect((await fetch(String(headers['x-service-changelog']))).status).toBe(200);
  });
});

/** A caller without access is refused at the edge, whatever else the request holds. */
describe('a caller without access is refused', () => {
  let stranger: TestPartner;
  let two: TestPartner;
  beforeAll(async () => {
    stranger = await mesh.createPartner();
    two = await mesh.createPartner();
    await two.register(TWO_A);
    await two.register(TWO_B);
  });

  /** A request like the good one, but the objects it names do not exist. */
  const requestFor = (endpoint: Endpoint) => requestOf(endpoint, stage, {});

  /**
   * The requests that the upstream received for a request of ours, found by its trace: other work,
   * such as a broadcast of an earlier test, reaches the upstream meanwhile.
   */
  async function askedFor({ headers }: { headers: Headers }, since: number): Promise<string[]> {
    const [, trace_id = 'none'] = headers.get('traceparent')?.split('-') ?? [];
    return (await mesh.emulator.requests({ since }))
      .filter((one) => one.headers['traceparent']?.includes(trace_id))
      .map(({ method, path }) => `${method} ${path}`);
  }

  test('the upstream’s requests for a request are found by its trace', async () => {
    const before = await lastSeq(mesh);
    const answer = await stage.partner.call('GET', '/profile', undefined, {
      'x-waba-id': stage.one.waba_id,
    });
    expect(await askedFor(answer, before)).toHaveLength(1);
  });

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
    expect(await askedFor(answer, before)).toEqual([]);
    expect(answer.headers.get('x-service-api-version')).toBe('2.9.2');
    expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
    tally.add(endpoint, 'not_allowed');
    return [answer.status, answer.body.error.code as string];
  }

  test.each(ROWS)(
    '%s: with no key, a wrong key, or a connect token as key',
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

  const tokenless = ROWS.filter(([, { scope }]) => scope !== 'session');
  test.each(tokenless)('%s: with a connect token', async (_route, endpoint) => {
    const { body } = await stage.partner.call('POST', '/connect/session', {});
    expect(
      await refusedFor(endpoint, { partner_key: '' }, { 'x-connect-token': body.token as string }),
    ).toEqual([401, 'UNAUTHORIZED']);
  });

  const onNumber = ROWS.filter(([, { scope }]) => scope === 'number');
  test.each(onNumber)(
    '%s: with no account, an unknown one, another partner’s, or one with two numbers and none named',
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

test('the counts of tried requests match gateway/ENDPOINTS.md', () => {
  tally.expectGolden(['success', 'bad_input', 'not_allowed']);
});
