// The audit log on a real database: records and outcomes, pages and filters, what partners do not see.
import type { Handlers } from '@bmg/common/rpc';
import type {
  AuditDefinition,
  BeginChangeRequest,
  ListAuditRecordsRequest,
} from '@bmg/proto/audit';
import { createPool } from '@bmg/common/overload';
import { openWorld, testCall, type World } from '../../../testing/world';
import type { Partner } from '../../ground/partners';
import { AUDIT_LOG } from './store';
import { createAuditHandlers } from './handlers';

let world: World;
let audit: Handlers<AuditDefinition>;
let partner: Partner;

beforeEach(async () => {
  world = await openWorld();
  const pool = { server: 'audit', reason: 'exports', holder: 'partner', max: 2 } as const;
  audit = createAuditHandlers({ ...world.deps, auditExports: createPool(pool, world.deps.log) });
  partner = await world.partner();
});
afterEach(() => world.close());

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
  return (await audit.beginChange(request, testCall())).id;
};
const end = (id: string, outcome: string, given: object = {}) =>
  audit.endChange({ id, outcome, target: {}, ...given }, testCall());
const list = async (given: Partial<ListAuditRecordsRequest> = {}) =>
  audit.listAuditRecords({ partner_id: partner._id, limit: 0, ...given }, testCall());
const actions = async (given: Partial<ListAuditRecordsRequest> = {}) =>
  (await list(given)).records.map(({ action }) => action);

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
  await expect(begin({ action: '' })).rejects.toMatchObject({ code: 'MISSING_FIELDS' });
  await expect(begin({ actor: undefined })).rejects.toMatchObject({ code: 'MISSING_FIELDS' });
  const id = await begin();
  await expect(end(id, 'perhaps')).rejects.toMatchObject({ code: 'INVALID_FIELD' });
});

test('names the actor as it is called now, and keeps values before the change', async () => {
  const { key_hint } = partner;
  const key = {
    _id: 'key_1',
    partner_id: partner._id,
    name: 'Order system',
    key_hash: 'h',
    key_hint: 'bmgk_…1234',
    previous: null,
    scopes: ['send' as const],
    waba_ids: null,
    addresses: null,
    expires_at: null,
    last_used_at: null,
    created_at: new Date(),
    updated_at: new Date(),
  };
  await world.deps.partnerKeys.insert(key);
  await begin();
  await begin({
    actor: { type: 'api_key', id: 'key_1' },
    target: { key_id: 'key_1' },
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
  expect(changed?.actor).toEqual({ type: 'api_key', id: 'key_1', name: 'Order system' });
  expect(changed?.before).toEqual({ name: 'Order system', scopes: ['send'] });
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
  await begin({
    partner_id: undefined,
    actor: { type: 'operator', id: 'bob' },
    action: 'bmg rates',
  });
  const [record, ...others] = (await list()).records;
  expect([record?.actor, record?.partner_id, others]).toEqual([
    { type: 'operator' },
    undefined,
    [],
  ]);
  const all = await audit.listAllAuditRecords({ limit: 0 }, testCall());
  expect(all.records.map(({ actor, partner_id }) => [actor?.id, partner_id])).toEqual([
    ['bob', undefined],
    ['alice', partner._id],
  ]);
  let csv = '';
  for await (const { data } of audit.exportAuditRecords({ partner_id: partner._id }, testCall())) {
    csv += Buffer.from(data).toString('utf8');
  }
  expect(csv.trim().split('\r\n')).toHaveLength(2);
  expect(csv).not.toContain('alice');
});

test('an export has every record, once', async () => {
  for (let at = 0; at < 205; at += 1) await begin({ action: `A${at}` });
  const ids: string[] = [];
  for await (const { data } of audit.exportAuditRecords({ partner_id: partner._id }, testCall())) {
    ids.push(
      ...(Buffer.from(data)
        .toString('utf8')
        .match(/^aud_\w+/gm) ?? []),
    );
  }
  expect([ids.length, new Set(ids).size]).toEqual([205, 205]);
});

test('one partner cannot take all exports', async () => {
  const first = audit.exportAuditRecords({ partner_id: partner._id }, testCall());
  const reading = first[Symbol.asyncIterator]();
  await reading.next();
  const second = audit.exportAuditRecords({ partner_id: partner._id }, testCall());
  await expect(second[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
  });
  await reading.return?.();
  const third = audit.exportAuditRecords({ partner_id: partner._id }, testCall());
  expect((await third[Symbol.asyncIterator]().next()).done).toBe(false);
});

test('refuses the changes of a partner above its quota of a day, and records no more', async () => {
  const limit = world.deps.settings.AUDITED_CHANGES_MAX;
  // The test starts at the beginning of a day, so that no day ends during it.
  world.passTime(86_400 - ((Date.now() / 1_000) % 86_400));
  for (let at = 0; at < limit; at += 1) await begin();
  await expect(begin()).rejects.toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
    retryable: true,
    details: { limit },
  });
  expect(await world.mongo.db.collection(AUDIT_LOG).countDocuments({})).toBe(limit);
  await begin({ partner_id: 'ptn_other' });
  await begin({ actor: { type: 'operator', id: 'alice' } });
  world.passTime(86_400);
  await begin();
});

test('records end with the retention of the page', async () => {
  const indexes = await world.mongo.db.collection(AUDIT_LOG).indexes();
  expect(indexes.find(({ expireAfterSeconds }) => expireAfterSeconds !== undefined)).toMatchObject({
    key: { at: 1 },
    expireAfterSeconds: 400 * 86_400,
  });
});
