// The audit log on a real database: records and outcomes, pages and filters, what partners do not
// see.
import type { Handlers } from '@bmg/common/rpc';
import type {
  AuditDefinition,
  BeginChangeRequest,
  ListAuditRecordsRequest,
  RecordRefusalRequest,
} from '@bmg/proto/audit';
import { createPool } from '@bmg/common/overload';
import { metrics } from '@bmg/common/telemetry';
import { calling, type Calling, failureOf, refuses, useWorld } from '../../../test/world';
import type { Partner } from '../../ground/partners';
import type { Person } from '../../ground/people';
import { AUDIT_LOG } from './store';
import { createKeyHandlers } from '../keys/handlers';
import { createAuditHandlers } from './handlers';

const world = useWorld();
let audit: Calling<Handlers<AuditDefinition>>;
let partner: Partner;

beforeEach(async () => {
  open(world.deps.settings);
  partner = await world.partner();
});

function open(given: { AUDITED_CHANGES_MAX: number }): void {
  const pool = { server: 'audit', reason: 'exports', holder: 'partner', max: 2 } as const;
  const auditExports = createPool(pool, world.deps.log);
  audit = calling(
    createAuditHandlers({
      ...world.deps,
      settings: { ...world.deps.settings, ...given },
      auditExports,
    }),
  );
}

/** Creates a key of the partner, and returns its ID. */
async function newKey(): Promise<string> {
  const given = { name: 'Order system', scopes: ['send', 'read'], waba_ids: [], addresses: [] };
  const keys = calling(createKeyHandlers(world.deps));
  const { key } = await keys.createKey({ partner_id: partner._id, ...given });
  return key?.key_id as string;
}

const begin = async (change: Partial<BeginChangeRequest> = {}): Promise<string> => {
  const request: BeginChangeRequest = {
    partner_id: partner._id,
    actor: { type: 'partner_key' },
    action: 'POST /keys',
    target: {},
    fields: [],
    before_of: '',
    before: [],
    request_id: 'req_1',
    ...change,
  };
  return (await audit.beginChange(request)).id;
};
const end = (id: string, outcome: string, given: object = {}) =>
  audit.endChange({ id, outcome, target: {}, ...given });
const list = async (given: Partial<ListAuditRecordsRequest> = {}) =>
  audit.listAuditRecords({ partner_id: partner._id, limit: 0, ...given });
const actions = async (given: Partial<ListAuditRecordsRequest> = {}) =>
  (await list(given)).records.map(({ action }) => action);

const exporting = () => audit.exportAuditRecords({ partner_id: partner._id });

async function exported(): Promise<string> {
  let csv = '';
  for await (const { data } of exporting()) csv += Buffer.from(data).toString('utf8');
  return csv;
}

test('erases only a person who may not sign in any more', async () => {
  const erase = (person_id: string) =>
    audit.eraseAuditPerson({ partner_id: partner._id, person_id });
  const person = { person_id: 'per_1', email: 'ada@example.com' } as Person;
  await world.deps.people.change(partner._id, () => ({ people: [person], result: 0 }));
  await begin({ actor: { type: 'person', id: 'per_1' } });
  await refuses(erase('per_1'), 'INVALID_FIELD', 'person_id');
  expect((await list()).records[0]?.actor?.name).toBe('ada@example.com');
  await world.deps.people.change(partner._id, () => ({ people: [], result: 0 }));
  expect(await erase('per_1')).toEqual({ records: 1 });
  expect((await list()).records[0]?.actor).toEqual({ type: 'person', id: 'per_1' });
});

test('a change without an outcome is unknown; the first outcome stays', async () => {
  const id = await begin();
  const [open] = (await list()).records;
  expect(open).toMatchObject({ id, outcome: 'unknown' });
  expect(open?.ended_at).toBeUndefined();
  await end(id, 'succeeded', { target: { key_id: 'key_1' }, waba_id: '9' });
  await end(id, 'failed', { code: 'NOT_FOUND' });
  const [record] = (await list({ waba_id: '9', target: 'key_1' })).records;
  expect(record).toMatchObject({ outcome: 'succeeded', target: { key_id: 'key_1' } });
  expect([record?.code, record?.ended_at instanceof Date]).toEqual([undefined, true]);
});

test('refuses a change without action or actor, and an unknown outcome', async () => {
  await refuses(begin({ action: '' }), 'MISSING_FIELDS');
  await refuses(begin({ actor: undefined }), 'MISSING_FIELDS');
  await refuses(end(await begin(), 'perhaps'), 'INVALID_FIELD', 'outcome');
});

test('names the actor as it is called now, and keeps values before the change', async () => {
  const { key_hint } = partner;
  const id = await newKey();
  await begin();
  await begin({
    actor: { type: 'api_key', id },
    target: { key_id: id },
    after: { name: 'Shop', scopes: ['read'] },
    before_of: 'key',
    before: ['name', 'scopes', 'key_hash'],
  });
  await begin({
    after: { webhook_url: 'https://new.example.com/secret' },
    before_of: 'partner',
    before: ['webhook_url', 'webhook_secrets', 'key_hash'],
  });
  const [settings, changed, created] = (await list()).records;
  expect(created?.actor).toEqual({ type: 'partner_key', name: key_hint });
  expect(changed?.actor).toEqual({ type: 'api_key', id, name: 'Order system' });
  expect(changed?.before).toEqual({ name: 'Order system', scopes: ['send', 'read'] });
  expect(settings?.after).toEqual({ webhook_url: 'https://new.example.com/…' });
  expect(Object.keys(settings?.before ?? {})).toEqual(['webhook_url']);
});

test('pages newest first without gaps, and filters', async () => {
  for (let at = 1; at <= 5; at += 1) {
    await begin({ action: `A${at}`, actor: { type: 'console', id: `ses_${at % 2}` } });
    world.passTime(60);
  }
  const first = await list({ limit: 2 });
  const second = await list({ limit: 2, cursor: first.after });
  const last = await list({ limit: 2, cursor: second.after });
  const seen = [first, second, last].flatMap(({ records }) => records.map((one) => one.action));
  expect([seen, last.after]).toEqual([['A5', 'A4', 'A3', 'A2', 'A1'], undefined]);
  expect(await actions({ actor: 'ses_0' })).toEqual(['A4', 'A2']);
  expect(await actions({ actor: 'console', action: 'A3' })).toEqual(['A3']);
  expect(await actions({ actor: 'nobody' })).toEqual([]);
  const at = first.records[1]?.at as Date;
  expect(await actions({ from: at })).toEqual(['A5', 'A4']);
  expect(await actions({ to: at })).toEqual(['A4', 'A3', 'A2', 'A1']);
  expect(await actions({ partner_id: 'ptn_other' })).toEqual([]);
  await expect(list({ cursor: 'x' })).rejects.toMatchObject({ details: { field: 'cursor' } });
});

test('a partner sees that the operator made a change, and the operator sees which one', async () => {
  await begin({ actor: { type: 'operator', id: 'alice' }, action: 'bmg partner update' });
  const of_platform = { partner_id: undefined, action: 'bmg rates' };
  await begin({ ...of_platform, actor: { type: 'operator', id: 'bob' } });
  const { records } = await list();
  expect(records.map((one) => [one.actor, one.partner_id])).toEqual([
    [{ type: 'operator' }, undefined],
  ]);
  const all = await audit.listAllAuditRecords({ limit: 0 });
  expect(all.records.map(({ actor, partner_id }) => [actor?.id, partner_id])).toEqual([
    ['bob', undefined],
    ['alice', partner._id],
  ]);
  const csv = await exported();
  expect(csv.trim().split('\r\n')).toHaveLength(2);
  expect(csv).not.toContain('alice');
});

test('an export has every record, once', async () => {
  for (let at = 0; at < 205; at += 1) await begin({ action: `A${at}` });
  const ids = (await exported()).match(/^aud_\w+/gm) ?? [];
  expect([ids.length, new Set(ids).size]).toEqual([205, 205]);
});

test('one partner cannot take all exports', async () => {
  const open = () => exporting()[Symbol.asyncIterator]();
  const reading = open();
  await reading.next();
  await refuses(open().next(), 'RATE_LIMIT_EXCEEDED');
  await reading.return?.();
  expect((await open().next()).done).toBe(false);
});

describe('quotas of a day', () => {
  // The tests start at the beginning of a day, so that no day ends during them.
  beforeEach(() => {
    world.passTime(86_400 - ((Date.now() / 1_000) % 86_400));
    open({ AUDITED_CHANGES_MAX: LIMIT });
  });

  const LIMIT = 50;
  const OF_ONE = 10;
  const LEAKED = { type: 'api_key', id: 'key_leaked' };
  const PERSON = { type: 'person', id: 'per_1' };
  /** Expects a refusal above a quota. */
  const isUsedUp = async (work: Promise<unknown>, limit: number): Promise<void> =>
    expect(await failureOf(work)).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      retryable: true,
      details: { limit },
    });
  const stored = () => world.mongo.db.collection(AUDIT_LOG).countDocuments({});
  const times = async (count: number, make: () => Promise<unknown>): Promise<void> => {
    for (let at = 0; at < count; at += 1) await make();
  };

  test('refuses the changes of a partner above its quota, and records no more', async () => {
    const half = async () => (await metrics.audit_quotas_half_used.get()).values[0]?.value ?? 0;
    const before = await half();
    await times(LIMIT / 2 - 1, begin);
    expect(await half()).toBe(before);
    await times(LIMIT / 2 + 1, begin);
    expect(await half()).toBe(before + 1);
    await isUsedUp(begin(), LIMIT);
    expect(await stored()).toBe(LIMIT);
    await begin({ partner_id: 'ptn_other' });
    await begin({ actor: { type: 'operator', id: 'alice' } });
    world.passTime(86_400);
    await begin();
  });

  test('one key, link or person uses a part of it, and all keys and links together half', async () => {
    await times(OF_ONE, () => begin({ actor: LEAKED }));
    await times(2 * LIMIT, () => isUsedUp(begin({ actor: LEAKED }), OF_ONE));
    await times(OF_ONE, () => begin({ actor: PERSON }));
    await isUsedUp(begin({ actor: PERSON }), OF_ONE);
    for (const id of ['key_2', 'key_3']) {
      await times(OF_ONE, () => begin({ actor: { type: 'api_key', id } }).catch(() => undefined));
    }
    await isUsedUp(begin({ actor: { type: 'sign_up_link', id: 'cs_1' } }), LIMIT / 2);
    await times(LIMIT - LIMIT / 2 - OF_ONE, begin);
    await isUsedUp(begin(), LIMIT);
  });

  test('what reduces risk is made at the limit too, with a record', async () => {
    const key_id = await newKey();
    await times(LIMIT, begin);
    const revoked = await begin({ action: 'DELETE /keys/{key_id}', kind: 'reduces_risk' });
    await end(revoked, 'succeeded');
    const narrow = (after: object) =>
      begin({
        action: 'PATCH /keys/{key_id}',
        target: { key_id },
        after,
        before_of: 'key',
        before: Object.keys(after),
        kind: 'narrows',
      });
    await narrow({ scopes: ['read'] });
    await isUsedUp(narrow({ scopes: ['send', 'read', 'billing'] }), LIMIT);
    expect((await list({ action: 'DELETE /keys/{key_id}' })).records).toMatchObject([
      { id: revoked, outcome: 'succeeded' },
    ]);
  });

  test('further log-ins above their reserve become one record with a count', async () => {
    const logIn = async (): Promise<void> => {
      const log_in = { actor: PERSON, action: 'console POST /session', kind: 'log_in' };
      await end(await begin(log_in), 'succeeded');
    };
    await times(OF_ONE / 10 + 5, logIn);
    const { records } = await list();
    expect(records).toHaveLength(OF_ONE / 10 + 1);
    expect(records.filter(({ count }) => count !== undefined)).toMatchObject([
      { count: 5, outcome: 'succeeded', actor: PERSON },
    ]);
    await times(LIMIT, begin);
    await logIn();
    expect((await list()).records.length).toBeGreaterThan(0);
  });

  test('look-ups that end in 404 do not count, and many of them become one record', async () => {
    const look = async (): Promise<void> =>
      void (await end(await begin({ actor: LEAKED }), 'failed', { code: 'NOT_FOUND' }));
    await times(OF_ONE + 20, look);
    await begin({ actor: LEAKED });
    expect(await stored()).toBeLessThan(20);
    const { records } = await list({ actor: LEAKED.id });
    const counts = records.map(({ count = 1 }) => count);
    expect(counts.reduce((sum, count) => sum + count)).toBe(OF_ONE + 21);
    expect(records.find(({ count }) => count !== undefined)).toMatchObject({
      outcome: 'failed',
      code: 'NOT_FOUND',
    });
  });

  test('one actor that repeats what is never refused takes nothing from the records of others', async () => {
    const lock = { action: 'DELETE /sessions', kind: 'reduces_risk' };
    await times(40, () => begin({ actor: LEAKED, ...lock }));
    const own = await begin({ actor: PERSON, ...lock });
    expect((await list({ actor: 'per_1' })).records).toMatchObject([{ id: own }]);
    expect(await stored()).toBeLessThan(20);
  });
});

test('refusals above the reserve of a key share a record for each action and code', async () => {
  open({ AUDITED_CHANGES_MAX: 100 });
  const OF_ONE = 2;
  const refuse = (given: Partial<RecordRefusalRequest> = {}) =>
    audit.recordRefusal({
      partner_id: partner._id,
      actor: { type: 'api_key', id: 'key_1' },
      action: 'POST /keys',
      code: 'SCOPE_MISSING',
      request_id: 'req_1',
      address: '203.0.113.7',
      count: 1,
      ...given,
    });
  await refuse({ count: 7 });
  expect((await list()).records).toMatchObject([
    { outcome: 'failed', code: 'SCOPE_MISSING', count: 7, address: '203.0.113.7' },
  ]);
  for (let at = 0; at < 10; at += 1) await refuse({ count: 3 });
  await refuse({ code: 'KEY_RESTRICTED' });
  const { records } = await list({ actor: 'key_1' });
  expect(records).toHaveLength(OF_ONE + 2);
  const counts = records.map(({ code, count = 1 }) => [code, count]).sort();
  const of_scope = [27, 3, 7].map((count) => ['SCOPE_MISSING', count]);
  expect(counts).toEqual([['KEY_RESTRICTED', 1], ...of_scope]);
  // They take nothing from the changes of the key.
  await begin({ actor: { type: 'api_key', id: 'key_1' } });
});

test('a failed log-in with a known passkey is its person’s, and others are the operator’s', async () => {
  const owner = { partner_id: partner._id, person_id: 'per_1' };
  await world.deps.passkeys.store({
    ...owner,
    _id: 'pk_1',
    name: 'Laptop',
    public_key: 'k',
    counter: 0,
    transports: [],
    synced: false,
    created_at: new Date(),
    last_used_at: null,
  });
  const refuse = (passkey_id?: string) =>
    audit.recordRefusal({
      actor: { type: 'console' },
      action: 'console POST /session/passkey',
      code: 'UNAUTHORIZED',
      request_id: 'req_1',
      count: 1,
      passkey_id,
    });
  await refuse('pk_1');
  await refuse('pk_other');
  expect((await list()).records).toMatchObject([{ actor: { type: 'person', id: 'per_1' } }]);
  const all = await audit.listAllAuditRecords({ limit: 0 });
  expect(all.records.map(({ actor, partner_id }) => [actor?.type, partner_id])).toEqual([
    ['console', undefined],
    ['person', partner._id],
  ]);
});
