// The OpenAPI document follows OpenAPI 3.1 and JSON Schema 2020-12 and agrees with the endpoint
// table.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupBy } from '@bmg/common/collections';
import { CATALOG } from '@bmg/common/errors';
import {
  ALERT_EVENT,
  ENDPOINT_DISABLED_EVENT,
  ONBOARDING_EVENTS,
  TEST_EVENT,
} from '@bmg/common/messages';
import { NOTICES } from '@bmg/common/notices';
import { changelogPage } from '../../gateway/src/docs/changelog-page';
import { noticeHeaders } from '../../gateway/src/edge/notice-headers';
import { readGuides } from '../../gateway/src/docs/guides';
import { homePage } from '../../gateway/src/docs/home-page';
import { HISTORY, NOTICE_TEXTS } from '../../gateway/src/docs/history';
import { chapters, endpoints } from '../../gateway/src/endpoints';
import { checkMessage } from '../../gateway/src/endpoints/messages/schemas';
import {
  buildOpenApi,
  documentPath,
  operationName,
  type AnswerObject,
} from '../../gateway/src/openapi';
import { goldenEvents, goldenNames } from '../testkit/golden-events';
import { createValidator } from './ajv';
import { operationsOf, schemasOf, strings } from './openapi-structure';

const document = buildOpenApi(chapters, { public_url: 'https://gateway.example.com' });
const operations = operationsOf(document);

// The linters check the structure: openapi-lint.documents.test.ts.
test('every chapter is described, and each operation is in one', () => {
  for (const { name, description } of document.tags) expect(description).not.toBe(name);
  for (const { operation } of operations) expect(operation.tags).toHaveLength(1);
});

describe('the schemas', () => {
  const ajv = createValidator();
  ajv.addSchema({ ...document, $id: 'https://gateway.example.com/openapi.json' });

  test('are JSON Schema 2020-12', () => {
    for (const [where, schema] of schemasOf(document)) {
      expect([where, ajv.validateSchema(schema), ajv.errors ?? []]).toEqual([where, true, []]);
    }
  });

  test('name the type of every property, and every operation has a description', () => {
    const untyped: string[] = [];
    const walk = (value: unknown, where: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { properties = {} } = value as { properties?: Record<string, object> };
      for (const [name, schema] of Object.entries(properties)) {
        const typed = ['type', '$ref', 'const', 'enum', 'anyOf'].some((key) => key in schema);
        if (!typed) untyped.push(`${where}.${name}`);
      }
      for (const [key, inner] of Object.entries(value)) walk(inner, `${where}/${key}`);
    };
    walk(document.components['schemas'], '');
    // Values of several types: generators of clients take them for any value.
    expect(untyped).toEqual([
      '/Error/properties/error.details',
      // Each fault of a body that is checked is a reason of the answer.
      ...Object.keys(checkMessage.properties)
        .filter((name) => name !== 'kind')
        .map((name) => `/CheckMessageRequest.${name}`),
      '/BroadcastContact.params',
      '/GroupParticipant.user',
      '/GroupParticipant.wa_id',
      '/GroupParticipant.user_id',
      '/RemoveGroupParticipantsAnswer/properties/group/properties/partial_failure.details',
    ]);
    for (const { operation } of operations) expect(operation.description).toMatch(/\.$/);
  });

  test('contain no internal keywords', () => {
    const keys = schemasOf(document).flatMap(([, schema]) => JSON.stringify(schema));
    for (const own of [
      'requiredOneOf',
      'lowerTo',
      'mayBeBlank',
      'errorCode',
      'errorMessage',
      'published',
    ]) {
      expect(keys.filter((text) => text.includes(`"${own}`))).toEqual([]);
    }
  });

  test('accept the examples of the document', () => {
    let examples = 0;
    const webhooks = Object.values(document.webhooks).map(({ post }) => post);
    for (const operation of [...operations.map((one) => one.operation), ...webhooks]) {
      const answers = Object.values(operation.responses).flatMap((one) =>
        Object.values((one as Partial<AnswerObject>).content ?? {}),
      );
      const bodies = Object.values(operation.requestBody?.content ?? {});
      for (const { schema, example } of [...answers, ...bodies]) {
        if (example === undefined) continue;
        const validate = ajv.compile(absolute(schema));
        expect([operation.operationId, validate(example), validate.errors ?? []]).toEqual([
          operation.operationId,
          true,
          [],
        ]);
        examples += 1;
      }
    }
    expect(examples).toBeGreaterThan(90 + webhooks.length);
  });

  const to = '15550100777';
  test.each([
    [
      'SendText',
      { text: 'a' },
      [{ to }, { to: '', recipient: 'US.1' }],
      [{}, { to: 'a' }, { recipient: '' }, { user_id: to }],
    ],
    [
      'SendMedia',
      { to, type: 'image' },
      [{ media: { id: 'a' } }, { media: { link: 'a', caption: 'b' } }],
      [{ media: {} }, { media: { id: 'a', link: 'b' } }, { media: { id: ' ' } }],
    ],
    [
      'PlaceCall',
      {},
      [{ action: 'connect', to }, { action: 'reject' }],
      [{ action: 'connect' }, { action: 'terminate', to }],
    ],
    [
      'ReplayEvents',
      {},
      [{ event_ids: ['a'] }],
      [{}, { event_ids: ['a'], to: '2026-09-01T12:00:00Z' }],
    ],
    [
      'RemoveGroupParticipants',
      {},
      [{ participants: [to, { wa_id: to }] }],
      [{ participants: [''] }, { participants: [{}] }],
    ],
    ['UpdateProfile', {}, [{ about: '' }], [{}]],
    ['UpdateCommerceSettings', {}, [{ is_cart_enabled: true }], [{}]],
    [
      'UpdateConversationalAutomation',
      {},
      [{ prompts: [] }],
      [{}, { commands: [{ command_name: 'a' }] }],
    ],
    ['UpdateSettings', {}, [{ calling: {} }], [{}]],
    ['CheckMessage', {}, [{ kind: 'text' }, { contacts: [to] }], [{}, { contacts: [] }]],
  ])('state the rules between the fields of %s', (name, base, accepted, refused) => {
    const validate = ajv.compile(absolute({ $ref: `#/components/schemas/${name}Request` }));
    for (const body of accepted)
      expect([body, validate({ ...base, ...body })]).toEqual([body, true]);
    for (const body of refused)
      expect([body, validate({ ...base, ...body })]).toEqual([body, false]);
  });

  test('accept every event of the normaliser and describe exactly those events', () => {
    const made = new Set<string>();
    for (const [event, events] of groupBy(allGolden(), (golden) => golden.event)) {
      const content = document.webhooks[event]?.post.requestBody.content['application/json'];
      if (!content) throw new Error(`${event} is not in the document`);
      const validate = ajv.compile(absolute(content.schema));
      const { meta } = content.example as { meta: unknown };
      for (const golden of events) {
        const valid = validate({ ...golden, meta });
        expect([event, valid, validate.errors ?? []]).toEqual([event, true, []]);
      }
      made.add(event);
    }
    const own = [...ONBOARDING_EVENTS, ALERT_EVENT, ENDPOINT_DISABLED_EVENT, TEST_EVENT];
    expect([...made, ...own].sort()).toEqual(Object.keys(document.webhooks).sort());
  });

  test.each(['sent', 'delivered', 'read', 'failed'])(
    'show an example of message.%s with that status, and with errors only if it failed',
    (status) => {
      const { data } = exampleOf(`message.${status}`);
      expect(data).toMatchObject({ status });
      expect('errors' in data).toBe(status === 'failed');
      for (const rare of ['participant', 'superseded', 'source'])
        expect(data).not.toHaveProperty(rare);
    },
  );

  test('show examples of what happened before the event was sent, and of changes that change', () => {
    for (const event of Object.keys(document.webhooks)) {
      const { timestamp, data } = exampleOf(event);
      expect([event, Number(data['timestamp'] ?? timestamp) <= timestamp]).toEqual([event, true]);
      for (const [key, value] of Object.entries(data)) {
        const before = data[`previous_${key.replace(/^new_/, '')}`];
        if (before !== undefined) expect([event, value]).not.toEqual([event, before]);
      }
    }
  });

  const exampleOf = (event: string) =>
    document.webhooks[event]?.post.requestBody.content['application/json']?.example as {
      timestamp: number;
      data: Record<string, unknown>;
    };

  interface Golden {
    event: string;
    waba_id: string;
    phone_number_id: string | null;
    timestamp: number;
    data: object;
  }

  /** The events of all golden files. */
  const allGolden = (): Golden[] =>
    goldenNames
      .flatMap((name) => goldenEvents<Golden>(name))
      .map(({ event, waba_id, phone_number_id, timestamp, data }) => ({
        event,
        waba_id,
        phone_number_id,
        timestamp,
        data,
      }));

  const absolute = (schema: unknown): object =>
    JSON.parse(
      JSON.stringify(schema).replaceAll('"#/', '"https://gateway.example.com/openapi.json#/'),
    ) as object;
});

describe('the table', () => {
  const find = (path: string, verb: string) =>
    operations.find((one) => one.path === path && one.verb === verb.toLowerCase());

  test('is in the document, row by row, with GET /health', () => {
    expect(operations).toHaveLength(endpoints.length + 1);
    for (const row of endpoints) {
      const found = find(documentPath(row), row.verb);
      if (!found) throw new Error(`${row.verb} ${row.path} is missing`);
      const { operation, parameters } = found;
      expect(operation.operationId).toBe(operationName(row));
      expect(operation.summary).toBe(row.summary);
      expect(operation['x-counted']).toBe(row.counted !== false);
      expect(operation['x-addition']).toBe(row.addition || undefined);
      expect(operation['x-person-only']).toBe(row.person_only);
      expect(operation.requestBody === undefined).toBe(row.body === undefined);
      const named = (place: string): string[] =>
        parameters.filter((one) => one.in === place).map(({ name }) => name);
      expect(named('query')).toEqual(Object.keys(row.query?.properties ?? {}));
      expect(named('header')).toEqual([
        ...(row.scope === 'number' ? ['x-waba-id', 'x-phone-number-id'] : []),
        ...(row.scope === 'filter' ? ['x-waba-id'] : []),
        ...(row.idempotent ? ['Idempotency-Key'] : []),
      ]);
    }
  });

  test('states the limits of each row, those of a page as its parameter has them', () => {
    for (const row of endpoints) {
      const { operation, parameters } = find(documentPath(row), row.verb) ?? {};
      const limits = operation?.['x-rate-limit'];
      const limit = parameters?.find(({ name }) => name === 'limit')?.schema;
      const { counted = true, reads, body, variant } = row;
      expect([row.path, limits]).toEqual([
        row.path,
        {
          counted,
          body: body && {
            bytes_max: row.body_limit_bytes ?? 1024 * 1024,
            values_max: row.body_nodes_max ?? 10_000,
            broadcast: variant && {
              bytes_max: variant.body_limit_bytes,
              values_max: variant.body_nodes_max,
            },
          },
          page: limit && { default: limit['default'], max: expect.any(Number) },
          in_flight_max:
            counted && !reads
              ? undefined
              : {
                  ...(!counted && { uncounted: 20 }),
                  ...(reads && { [`reads_of_${reads}s`]: { log: 32, list: 256 }[reads] }),
                },
          timeout_ms: row.timeout_ms,
        },
      ]);
    }
    expect(find('/health', 'get')?.operation['x-rate-limit']).toEqual({ counted: false });
    const pages = operations.flatMap(({ operation }) => operation['x-rate-limit'].page ?? []);
    expect(pages.length).toBeGreaterThan(8);
    for (const { default: usual = 1, max } of pages) expect(max).toBeGreaterThanOrEqual(usual);
  });

  test('requires no key for health, and accepts a connect token only to complete a sign-up', () => {
    expect(find('/health', 'get')?.operation.security).toEqual([]);
    const others = operations.filter(({ operation }) => operation.security !== undefined);
    expect(others.map(({ path }) => path).sort()).toEqual([
      '/clients/register-from-code',
      '/health',
    ]);
  });

  test('has a response for the status of each error code', () => {
    for (const { operation } of operations) {
      const statuses = Object.keys(operation.responses).map(Number);
      for (const code of operation['x-codes']) {
        expect(statuses).toContain(CATALOG[code as keyof typeof CATALOG].http);
      }
    }
  });
});

describe('the pages', () => {
  const { nav } = readGuides(document, { public_url: 'https://gateway.example.com' });
  const home = homePage(document, nav);
  const changelog = changelogPage(nav, document);

  test('the changelog has the versions, newest first, and the notices with their texts', () => {
    const places = HISTORY.map(({ version }) => changelog.indexOf(`id="v${version}"`));
    expect(places.every((place) => place > 0)).toBe(true);
    expect([...places].sort((one, other) => one - other)).toEqual(places);
    expect(HISTORY.map(({ version }) => version)).toEqual(
      '2.9.2 2.9.1 2.9.0 2.8.0 2.7.0 2.6.1 2.6.0 2.5.0 2.4.0 2.3.0 2.2.0 2.1.0 2.0.0 1.4.6 1.4.5'.split(
        ' ',
      ),
    );
    for (const { id, severity, effective } of NOTICES) {
      for (const text of [id, severity, effective]) expect(changelog).toContain(text);
      expect(NOTICE_TEXTS[id]?.length).toBeGreaterThan(50);
    }
  });

  test('the changelog names the release of the software and each endpoint that it adds', () => {
    const { version } = JSON.parse(
      readFileSync(join(__dirname, '../../gateway/package.json'), 'utf8'),
    ) as { version: string };
    expect(changelog).toContain(`<h2 id="release">Release ${version}</h2>`);
    const added = operations.filter(({ operation }) => operation['x-addition']);
    expect(added.length).toBeGreaterThan(30);
    for (const { path, verb, operation } of added) {
      expect(changelog).toContain(`<code>${verb.toUpperCase()} ${path}</code>`);
      expect(changelog).toContain(operation.summary);
    }
    expect(changelog).toContain('Clients for TypeScript, Python, Java and Go');
    expect(noticeHeaders('https://gateway.example.com')).toMatchObject({
      ...{ 'X-Service-Api-Version': '2.9.2', 'X-Service-Release': version },
    });
  });

  test('neither the pages nor the document contain a secret or a local address', () => {
    for (const text of [home, changelog, ...strings(document)]) {
      expect(text).not.toMatch(/127\.0\.0\.1|localhost|whsec_|bmg_(live|test)_|EAA[A-Z]/);
    }
  });
});
