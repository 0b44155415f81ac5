// The rows of the number-admin service as the contract's tables have them.
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { callsGroups } from '../calls-groups/rows';
import { diagnostics } from '../diagnostics/rows';
import { endpoints } from '..';
import type { Endpoint, Fields } from '../endpoint';
import { numberSetup } from './rows';
import { phone } from '../phone/rows';
import { profile } from '../profile/rows';

const rows = [...profile, ...numberSetup, ...diagnostics, ...phone, ...callsGroups];
const COUNTED = new Set(['/profile', '/calls']);
const IDEMPOTENT = new Set(['POST /groups', 'POST /calls']);
const CREATED = new Set(['POST /qr-codes', 'POST /groups']);

const nameOf = ({ verb, path }: Endpoint): string => `${verb} ${path.replace(/:(\w+)/g, '{$1}')}`;

test('are in the endpoint table', () => {
  expect(endpoints).toEqual(expect.arrayContaining(rows));
});

test('call every method of the service once', () => {
  const methods = rows.map(({ rpc }) => rpc.method).sort();
  expect(methods).toEqual(Object.keys(NumberAdminDefinition.methods).sort());
});

describe.each(rows.map((row) => [nameOf(row), row] as const))('%s', (name, row) => {
  test('has the scope, counting, status and idempotency of the contract', () => {
    expect(row.scope).toBe('number');
    expect(row.counted ?? true).toBe(COUNTED.has(row.path));
    expect(row.status ?? 200).toBe(CREATED.has(name) ? 201 : 200);
    expect(row.idempotent ?? false).toBe(IDEMPOTENT.has(name));
    expect(row.usage).toBeUndefined();
    expect(row.summary).toMatch(/^[A-Z].*[^.]$/);
  });

  test('passes every field of its schemas and its path into the message', () => {
    const names = Object.keys({ ...row.query?.properties, ...row.body?.properties });
    const params = [...row.path.matchAll(/:(\w+)/g)].map(([, param]) => param as string);
    const text = JSON.stringify(messageOf(row, names, params));
    // Only the edge reads the confirmation.
    for (const field of [...names, ...params].filter((field) => field !== 'confirm')) {
      expect(text).toContain(`"${field}"`);
      expect(text).toContain(`mark-${field}`);
    }
    expect(text).toContain('"waba_id":"900"');
  });
});

const LISTS = new Set(['users', 'participants', 'prompts', 'commands', 'websites']);
const marked = (names: string[]): Fields =>
  Object.fromEntries(
    names.map((name) => [name, LISTS.has(name) ? [`mark-${name}`] : `mark-${name}`]),
  );

function messageOf(row: Endpoint, names: string[], params: string[]): unknown {
  const target = { partner_id: 'p', waba_id: '900', phone_number_id: '800', directory_version: '' };
  const input = {
    partner_id: 'p',
    base_url: 'https://gateway.test/v1',
    params: marked(params) as Record<string, string>,
    query: row.query ? marked(names) : {},
    body: row.body ? marked(names) : {},
    target,
    waba_id: undefined,
  };
  const request = row.request
    ? row.request(input)
    : { ...input.query, ...input.body, ...input.params, target };
  const method = NumberAdminDefinition.methods[row.rpc.method as 'getWaba'];
  return withNames(method.requestType.fromPartial(request as object));
}

/** The codec drops the marks of objects inside lists, whose fields it knows: they are set here. */
const withNames = (message: unknown): unknown =>
  JSON.parse(JSON.stringify(message).replaceAll('"command_name":""', '"command":"mark-commands"'));
