// API keys beside the partner key, on the wire: every route with every scope, accounts, addresses,
// expiry, rotation, and revocation on two gateways.
import { KEY_SCOPES, type KeyScope } from '@bmg/common/keys';
import { keyScopeOf, type Endpoint } from '../../gateway/src/endpoints/endpoint';
import { documentPath } from '../../gateway/src/openapi';
import { callRest, ONE, TWO_A, type Answer, type SeededNumber } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { harmless, ROWS } from './endpoint-rows';
import { ADA } from './endpoint-stage';
import { startGateway, useMesh, usePartner } from './use-mesh';

const RATE = 100_000;
const UNKNOWN_WABA = '1234567890';
/** A customer who writes in one test only. */
const GRACE = '15550198001';

const mesh = useMesh();
const partner = usePartner(mesh, [ONE, TWO_A], { rate_limit_per_sec: RATE });
let second: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  second = await startGateway(mesh.env);
});
afterAll(() => second?.stop());

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT';
interface Given {
  body?: unknown;
  headers?: Record<string, string>;
  base_url?: string;
}

const call = (key: string, method: Method, path: string, given: Given = {}): Promise<Answer> =>
  callRest(given.base_url ?? mesh.base_url, method, path, given.body, {
    'x-partner-key': key,
    ...given.headers,
  });

async function createKey(
  limits: object = {},
  by = partner.partner_key,
): Promise<{ key_id: string; secret: string }> {
  const body = { name: 'A key', scopes: [...KEY_SCOPES], ...limits };
  const answer = await call(by, 'POST', '/keys', { body });
  expect([answer.status, answer.body.error]).toEqual([201, undefined]);
  return { key_id: answer.body.key.key_id as string, secret: answer.body.secret as string };
}

const failure = ({ status, body }: Answer): [number, string] => [status, body.error?.code];
const send = (key: string, number: SeededNumber, given: Given = {}): Promise<Answer> =>
  call(key, 'POST', '/messages/send', {
    body: { to: ADA, text: 'Hello' },
    ...given,
    headers: {
      'x-waba-id': number.waba_id,
      'x-phone-number-id': number.phone_number_id,
      ...given.headers,
    },
  });

/** A request that changes nothing, even where it is allowed. */
const tried = (endpoint: Endpoint, key: string): Promise<Answer> => {
  const { path, ...given } = harmless(endpoint);
  return call(key, endpoint.verb, path, given);
};

describe('a key with one scope is allowed what its scope covers, and nothing else', () => {
  const secrets = {} as Record<KeyScope, string>;
  beforeAll(async () => {
    for (const scope of KEY_SCOPES) secrets[scope] = (await createKey({ scopes: [scope] })).secret;
  });

  test.each(ROWS)('%s', async (_route, endpoint) => {
    const needed = keyScopeOf(endpoint);
    const answers = await Promise.all(
      KEY_SCOPES.map(async (scope) => {
        const { status, body } = await tried(endpoint, secrets[scope]);
        return { scope, status, error: body.error };
      }),
    );
    for (const { scope, status, error } of answers) {
      if (scope === needed) expect([scope, error?.code]).not.toEqual([scope, 'SCOPE_MISSING']);
      else {
        expect([scope, status, error?.code, error?.details]).toEqual([
          scope,
          403,
          'SCOPE_MISSING',
          { scope: needed },
        ]);
      }
    }
  });

  test('what the OpenAPI document says is what a row needs', async () => {
    const address = mesh.base_url.replace(/\/v1$/, '/openapi.json');
    const { paths } = (await (await fetch(address)).json()) as any;
    for (const [, endpoint] of ROWS) {
      const operation = paths[documentPath(endpoint)][endpoint.verb.toLowerCase()];
      expect(operation['x-key-scope']).toBe(keyScopeOf(endpoint));
    }
  });
});

describe('a key that is limited to an account sees and changes no other', () => {
  let limited: string;
  beforeAll(async () => {
    limited = (await createKey({ waba_ids: [ONE.waba_id] })).secret;
  });
  const own = { headers: { 'x-waba-id': ONE.waba_id } };
  const other = { headers: { 'x-waba-id': TWO_A.waba_id } };

  /** How a request that names another account is answered, and one that names none. */
  const expected = ({ scope, path, person_only }: Endpoint): Array<[number, string]> => {
    // No key may call it, whatever its accounts.
    if (person_only) return Array(2).fill([403, 'PERSON_REQUIRED']);
    const unknown: [number, string] = [404, 'WABA_NOT_REGISTERED'];
    if (scope === 'number' || scope === 'filter') return [unknown, [400, 'MISSING_WABA']];
    return path.includes(':waba_id') ? [unknown, unknown] : Array(2).fill([403, 'KEY_RESTRICTED']);
  };

  test.each(ROWS)('%s, for another account and for none', async (_route, endpoint) => {
    const path = endpoint.path.replace(':waba_id', TWO_A.waba_id).replace(/:\w+/g, 'none');
    const body = endpoint.body ? {} : undefined;
    const answers = [other, {}].map((given) =>
      call(limited, endpoint.verb, path, { body, ...given }),
    );
    expect((await Promise.all(answers)).map(failure)).toEqual(expected(endpoint));
  });

  test('an account that it does not have is answered like an unknown one', async () => {
    const unknown = { headers: { 'x-waba-id': UNKNOWN_WABA } };
    for (const path of ['/templates', '/events', '/messages', '/usage/ledger']) {
      const answers = [other, unknown].map((given) => call(limited, 'GET', path, given));
      const [one, two] = (await Promise.all(answers)).map(({ body }) => body.error);
      expect({ ...one, request_id: '' }).toEqual({ ...two, request_id: '' });
    }
  });

  test('its reads hold what is of its account only', async () => {
    const [mine, theirs] = await Promise.all([
      send(limited, ONE),
      send(partner.partner_key, TWO_A),
    ]);
    expect([mine.status, theirs.status]).toEqual([200, 200]);
    await eventually(async () => {
      const { events } = (await partner.call('GET', '/events?limit=1000')).body;
      return new Set(events.map((one: any) => one.envelope.waba_id as string)).size > 1;
    });
    const { events } = (await call(limited, 'GET', '/events?limit=1000', own)).body;
    const of = (list: any[]): string[] => [...new Set(list.map((one) => one.waba_id as string))];
    expect(of(events.map((one: any) => one.envelope))).toEqual([ONE.waba_id]);
    const messages = await call(limited, 'GET', '/messages?limit=100', own);
    expect(of(messages.body.messages)).toEqual([ONE.waba_id]);
    const timeline = (id: string) =>
      call(limited, 'GET', `/messages/${encodeURIComponent(id)}/timeline`, own);
    expect((await timeline(mine.body.message_id)).status).toBe(200);
    expect(failure(await timeline(theirs.body.message_id))).toEqual([404, 'NOT_FOUND']);
    const csv = await fetch(`${mesh.base_url}/usage/ledger`, {
      headers: { 'x-partner-key': limited, accept: 'text/csv', ...own.headers },
    });
    expect([csv.status, (await csv.text()).includes(TWO_A.waba_id)]).toEqual([200, false]);
  });
});

describe('changes are in effect on every gateway when they are answered', () => {
  const onBoth = (key: string): Promise<number[]> =>
    Promise.all(
      [mesh.base_url, second.base_url].map(
        async (base_url) => (await call(key, 'GET', '/messages', { base_url })).status,
      ),
    );

  test('a revocation while a request waits for events, which it does not get', async () => {
    const { key_id, secret } = await createKey({ waba_ids: [ONE.waba_id] });
    const headers = { 'x-waba-id': ONE.waba_id };
    const { newest } = (await call(secret, 'GET', '/events?limit=1', { headers })).body;
    // Only of this customer: events of the tests before may still arrive.
    const wanted = `after=${newest}&wait=20&contact=${GRACE}`;
    const waiting = call(secret, 'GET', `/events?${wanted}`, { headers });
    let is_over = false;
    void waiting.finally(() => (is_over = true));
    expect(await onBoth(secret)).toEqual([400, 400]);
    await partner.call('DELETE', `/keys/${key_id}`);
    expect(await onBoth(secret)).toEqual([401, 401]);
    // It was admitted before, or its refusal would be here.
    expect(is_over).toBe(false);
    await mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, from: GRACE, text: 'Hi' });
    expect(failure(await waiting)).toEqual([401, 'INVALID_PARTNER_KEY']);
  });

  test('the suspension of the partner', async () => {
    const other = await mesh.createPartner();
    const { secret } = await createKey({}, other.partner_key);
    expect(await onBoth(secret)).toEqual([200, 200]);
    const { partner_id } = other;
    await mesh.operator.updatePartner({ partner_id, status: 'suspended' }, mesh.call());
    expect(await onBoth(secret)).toEqual([403, 403]);
  });
});

test('only the partner key opens the console, and a link with the key in its address', async () => {
  const { secret } = await createKey();
  const { origin } = new URL(mesh.base_url);
  const body = { partner_key: secret };
  const answer = await callRest(origin, 'POST', '/dashboard/api/session', body, { origin });
  expect(failure(answer)).toEqual([403, 'KEY_RESTRICTED']);
  expect(answer.headers.get('set-cookie')).toBeNull();
  const link = async (key: string) =>
    (await fetch(`${origin}/connect?partner_key=${key}`, { redirect: 'manual' })).status;
  expect([await link(partner.partner_key), await link(secret)]).toEqual([303, 401]);
});

test('a repeat under an Idempotency-Key gets the first answer with another key of the partner', async () => {
  const [one, other] = await Promise.all([createKey(), createKey({ scopes: ['send'] })]);
  const given = { headers: { 'idempotency-key': `keys-${Date.now()}` } };
  const first = await send(one.secret, ONE, given);
  const again = await send(other.secret, ONE, given);
  expect(again.body.message_id).toBe(first.body.message_id);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
});
