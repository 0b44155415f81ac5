// The endpoint table against the contract, and against the protos behind it: the codec drops a key that it
// does not know without a word, so every property that a schema names is followed into the message.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { OnboardingDefinition } from '@bmg/proto/onboarding';
import { TemplatesDefinition } from '@bmg/proto/templates';
import { WebhooksDefinition } from '@bmg/proto/webhooks';
import { chapters, endpoints } from '../../gateway/src/endpoints';
import { usageName, type Endpoint } from '../../gateway/src/endpoints/endpoint';
import { documentPath, operationName } from '../../gateway/src/openapi';
import { compile } from '../../gateway/src/endpoints/parts/schema';
import { messageOf, requestOf, samples } from './request-messages';

const golden = (name: string): string => readFileSync(join(__dirname, '../golden', name), 'utf8');
const route = (endpoint: Endpoint): string => `${endpoint.verb} ${documentPath(endpoint)}`;
const chapter = (name: string): string[] => {
  const found = chapters.find((one) => one.name === name);
  if (!found) throw new Error(`there is no chapter ${name}`);
  return found.rows.map(route);
};
const routesWhere = (holds: (endpoint: Endpoint) => boolean): string[] =>
  endpoints.filter(holds).map(route).sort();

/** GET /health has no row: it is answered without a call. */
const HEALTH = 'GET /health';

describe('the table', () => {
  test('has the 68 endpoints of the contract, GET /health included, each once', () => {
    const routes = [...endpoints.map(route), HEALTH].sort();
    expect(routes).toHaveLength(68);
    expect(`${routes.join('\n')}\n`).toBe(golden('routes.txt'));
  });

  test('has a summary of one sentence, documents and a name of its own for each row', () => {
    const names = endpoints.map(operationName);
    expect(new Set(names).size).toBe(names.length);
    for (const { summary, docs, stream } of endpoints) {
      expect(summary).toMatch(/^[A-Z][^\n]{8,99}[^.\s]$/);
      expect(docs?.answer === undefined).toBe(stream === true);
    }
  });
});

describe('scope', () => {
  test('session: the completion of a sign-up alone takes a connect token', () => {
    expect(routesWhere(({ scope }) => scope === 'session')).toEqual([
      'POST /clients/register-from-code',
    ]);
  });

  test('filter: reading and cancelling broadcasts', () => {
    expect(routesWhere(({ scope }) => scope === 'filter')).toEqual([
      'GET /broadcasts',
      'GET /broadcasts/{broadcast_id}',
      'POST /broadcasts/{broadcast_id}/cancel',
    ]);
  });

  test('partner: clients, connect, onboarding, embedded sign-up, usage, webhooks', () => {
    expect(routesWhere(({ scope }) => scope === 'partner')).toEqual([
      'DELETE /clients/{waba_id}',
      'GET /clients',
      'GET /embedded-signup/config',
      'GET /onboarding/events',
      'GET /usage',
      'GET /webhooks/failed',
      'POST /clients/register',
      'POST /clients/{waba_id}/refresh',
      'POST /clients/{waba_id}/resubscribe-webhook',
      'POST /connect/session',
      'POST /webhooks/retry-all',
      'POST /webhooks/retry/{event_id}',
    ]);
  });

  test('number: everything else; no row goes without authentication', () => {
    expect(routesWhere(({ scope }) => scope === 'number')).toHaveLength(67 - 1 - 3 - 12);
    expect(routesWhere(({ scope }) => scope === 'none')).toEqual([]);
  });
});

describe('the rate limit', () => {
  test('counts all but number setup, diagnostics, phone lifecycle and groups: 31 rows', () => {
    const uncounted = [
      ...chapter('Number setup'),
      ...chapter('Account and diagnostics'),
      ...chapter('Phone number lifecycle'),
      ...chapter('Calling and groups').filter((name) => name !== 'POST /calls'),
    ];
    expect(uncounted).toHaveLength(14 + 7 + 5 + 5);
    expect(routesWhere(({ counted }) => counted === false)).toEqual(uncounted.sort());
  });
});

describe('the usage record', () => {
  test('keeps both downloads under one name and every other endpoint under its path', () => {
    for (const endpoint of endpoints) {
      const expected = endpoint.stream ? '/media/download' : documentPath(endpoint);
      expect(usageName(endpoint)).toBe(expected);
    }
  });
});

test('an Idempotency-Key is taken by sends, uploads and creations', () => {
  expect(routesWhere(({ idempotent }) => idempotent === true)).toEqual([
    'POST /broadcasts',
    'POST /calls',
    'POST /groups',
    'POST /media/upload',
    'POST /messages/interactive',
    'POST /messages/location',
    'POST /messages/media',
    'POST /messages/reaction',
    'POST /messages/read',
    'POST /messages/send',
    'POST /messages/template',
    'POST /templates',
  ]);
});

test('what creates answers 201, what creates or brings up to date says which', () => {
  expect(routesWhere(({ status }) => status === 201)).toEqual([
    'POST /broadcasts',
    'POST /connect/session',
    'POST /groups',
    'POST /media/upload',
    'POST /qr-codes',
    'POST /templates',
  ]);
  expect(routesWhere(({ status }) => typeof status === 'function')).toEqual([
    'POST /clients/register',
    'POST /clients/register-from-code',
  ]);
});

describe('behind the rows', () => {
  // Spoken by the hosted page and the dashboard, by the gateway itself and by the broadcasts service.
  const internal = [
    'openConnectPage',
    'reportConnectStep',
    'sendBroadcastMessage',
    'findOutcome',
    'sendTestEvent',
  ];
  const services = [
    OnboardingDefinition,
    MessagingDefinition,
    TemplatesDefinition,
    BroadcastsDefinition,
    NumberAdminDefinition,
    WebhooksDefinition,
  ];

  test('stands every method that partners reach, once; both paths of a download share one', () => {
    const methods = services
      .flatMap(({ methods }) => Object.keys(methods))
      .filter((method) => !internal.includes(method));
    const called = endpoints.map(({ rpc }) => rpc.method);
    expect(called.filter((method) => method === 'downloadMedia')).toHaveLength(2);
    expect([...called].sort()).toEqual([...methods, 'downloadMedia'].sort());
  });

  test.each(endpoints.map((endpoint) => [route(endpoint), endpoint] as const))(
    '%s: the method belongs to the definition, and streams where the row does',
    (_route, { rpc, stream = false }) => {
      const method = (
        rpc.definition.methods as Record<
          string,
          { requestStream: boolean; responseStream: boolean }
        >
      )[rpc.method];
      expect(method).toMatchObject({ requestStream: false, responseStream: stream });
    },
  );

  test('a read declares itself as one: it alone is repeated', () => {
    for (const { verb, rpc } of endpoints) {
      const { options } = (rpc.definition.methods as Record<string, { options: object }>)[
        rpc.method
      ] as { options: { idempotencyLevel?: string } };
      expect([rpc.method, options.idempotencyLevel === 'NO_SIDE_EFFECTS']).toEqual([
        rpc.method,
        verb === 'GET',
      ]);
    }
  });
});

describe('schemas', () => {
  const rows = endpoints.filter(({ body, query }) => body ?? query);

  test.each(rows.map((endpoint) => [route(endpoint), endpoint] as const))(
    '%s: compile strictly, and take the example',
    (_route, { body, query, docs }) => {
      if (query) expect(() => compile(query, 'query')({})).not.toThrow();
      if (!body) return;
      const check = compile(body, 'body');
      expect(docs?.example).toBeDefined();
      expect(() => check(structuredClone(docs?.example))).not.toThrow();
    },
  );

  const properties = rows.flatMap((endpoint) =>
    [...samples(endpoint)].map(
      (sample) => [`${route(endpoint)}: ${sample.field}`, endpoint, sample] as const,
    ),
  );

  // Checked at the edge and ended there: the call itself is what was confirmed.
  const endAtTheEdge = ['confirm'];

  test.each(properties)('%s arrives in the message', (_name, endpoint, sample) => {
    const { field, value } = sample;
    const with_it = messageOf(endpoint, requestOf(endpoint, sample.with));
    const without_it = messageOf(endpoint, requestOf(endpoint, sample.without));
    if (endAtTheEdge.includes(field)) {
      expect(with_it).toEqual(without_it);
      return;
    }
    // Whatever becomes of it on the way, it makes a difference behind the wire.
    expect(with_it).not.toEqual(without_it);
    if (!endpoint.request) expect((with_it as Record<string, unknown>)[field]).toEqual(value);
  });
});
