import { randomUUID } from 'node:crypto';
import { MongoClient, type Db } from 'mongodb';
import { UploadMediaRequest, UploadMediaResponse } from '@bmg/proto/messaging';
import { ApiError } from '../errors';
import type { Call } from '../rpc';
import { createLogger } from '../telemetry';
import { testDatabase } from '../../../../test/testkit/database';
import {
  REQUEST_CLAIMS,
  requestClaimIndexes,
  RETENTION_MS,
  createOnce,
  REPLY_LIMIT_BYTES,
  type Memory,
} from './once';

const log = createLogger('test');
const EARLIER_UNKNOWN = { details: { outcome: 'earlier_unknown' } };

const db = testDatabase({ [REQUEST_CLAIMS]: requestClaimIndexes }, { retryWrites: false });
/** The wall clock of the service. */
let clock: Date;
beforeEach(() => (clock = new Date()));

type Reply = UploadMediaResponse;
const STORED: Memory<UploadMediaRequest, Reply> = { codec: UploadMediaResponse };
const uploads = (media_id: string) => async (): Promise<Reply> => ({ media_id });
const fails = (error: Error) => (): Promise<Reply> => Promise.reject(error);
const refused = new ApiError('UPSTREAM_ERROR', 'refused', { upstream_code: 100 });
const broken = new ApiError('UPSTREAM_ERROR', 'broke', { details: { outcome: 'unknown' } });

/** A partner that repeats a request under one key; each request is another run. */
function aPartner({
  memory = STORED,
  database = db,
}: { memory?: typeof STORED; database?: Db } = {}) {
  const given = randomUUID();
  const once = createOnce({ db: database, now: () => clock, log });
  return async (
    work: () => Promise<Reply>,
    { partner_id = 'par_1', fingerprint = 'body-1', key = given as string | null } = {},
  ) => {
    const idempotency = {
      key: randomUUID(),
      fingerprint,
      given: key ?? undefined,
      replayed: false,
    };
    const call = { deadline: clock.getTime() + 1_000, request_id: '', idempotency } as unknown;
    const request = UploadMediaRequest.fromPartial({ target: { partner_id } });
    const reply = await once(work, memory)(request, call as Call);
    return { ...reply, replayed: idempotency.replayed };
  };
}

test('does the work once and returns the first reply to a repeat', async () => {
  const ask = aPartner();
  expect(await ask(uploads('first'))).toEqual({ media_id: 'first', replayed: false });
  expect(await ask(uploads('second'))).toEqual({ media_id: 'first', replayed: true });
});

test('does the work of one of many equal requests that arrive at the same time', async () => {
  const ask = aPartner();
  let runs = 0;
  const asked = Array.from({ length: 50 }, () =>
    ask(async () => ({ media_id: String((runs += 1)) })),
  );
  const settled = await Promise.allSettled(asked);
  expect(runs).toBe(1);
  for (const one of settled) {
    if (one.status === 'fulfilled') expect(one.value.media_id).toBe('1');
    else expect(one.reason).toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
  }
});

test('keeps the keys of partners apart', async () => {
  const ask = aPartner();
  await ask(uploads('first'));
  expect(await ask(uploads('theirs'), { partner_id: 'par_2' })).toMatchObject({
    media_id: 'theirs',
  });
});

test('refuses another body under the same key', async () => {
  const ask = aPartner();
  await ask(uploads('first'));
  const other = ask(uploads('second'), { fingerprint: 'body-2' });
  await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
});

test('passes a request without a key unchanged', async () => {
  const claims = db.collection(REQUEST_CLAIMS);
  const before = await claims.countDocuments();
  const ask = aPartner();
  for (const media_id of ['first', 'second']) {
    expect(await ask(uploads(media_id), { key: null })).toMatchObject({ media_id });
  }
  expect(await claims.countDocuments()).toBe(before);
});

test('frees the key when nothing was done', async () => {
  const ask = aPartner();
  await expect(ask(fails(refused))).rejects.toBe(refused);
  expect(await ask(uploads('second'))).toEqual({ media_id: 'second', replayed: false });
});

test('never repeats work whose outcome is unknown', async () => {
  const ask = aPartner();
  await expect(ask(fails(broken))).rejects.toBe(broken);
  const again = () => ask(uploads('second')).catch((error: unknown) => error);
  expect(await again()).toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
  clock = new Date(clock.getTime() + 60_000);
  expect(await again()).toMatchObject(EARLIER_UNKNOWN);
});

test('finds the outcome in a record of the service under the run of the first request', async () => {
  const records = new Map<string, Reply>();
  const find = async (_request: unknown, request_id: string) => records.get(request_id);
  const ask = aPartner({ memory: { find } });
  await expect(ask(fails(broken))).rejects.toBe(broken);
  const [claim] = await db.collection(REQUEST_CLAIMS).find().sort({ at: -1 }).limit(1).toArray();
  records.set(claim?.['request_id'] as string, { media_id: 'learnt' });
  expect(await ask(uploads('second'))).toEqual({ media_id: 'learnt', replayed: true });
});

test('forgets a reply above the limit, and does not repeat its work', async () => {
  const ask = aPartner();
  const media_id = 'x'.repeat(REPLY_LIMIT_BYTES);
  await ask(uploads(media_id));
  clock = new Date(clock.getTime() + 60_000);
  await expect(ask(uploads('second'))).rejects.toMatchObject(EARLIER_UNKNOWN);
});

test('frees the key after 24 hours even if the database has not deleted the claim', async () => {
  const ask = aPartner();
  await ask(uploads('first'));
  clock = new Date(clock.getTime() + RETENTION_MS);
  expect(await ask(uploads('second'))).toEqual({ media_id: 'second', replayed: false });
});

test('does nothing without a claim when the database is unreachable', async () => {
  const away = new MongoClient('mongodb://127.0.0.1:1', { serverSelectionTimeoutMS: 50 });
  const ask = aPartner({ database: away.db('once') });
  let runs = 0;
  const asked = ask(async () => ({ media_id: String((runs += 1)) }));
  await expect(asked).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
  expect(runs).toBe(0);
  await away.close();
});
