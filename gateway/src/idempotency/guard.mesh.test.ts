import { ApiError } from '@bmg/common/errors';
import { earlierUnknown, keyInUse, keyReused } from '@bmg/common/idempotency';
import type { RedisConnection } from '@bmg/common/redis';
import type { Call } from '@bmg/common/rpc';
import type { FindOutcomeRequest, FindOutcomeResponse } from '@bmg/proto/messaging';
import { useRedis } from '../../../services/common/test/redis';
import { inputOf, rowOf, TARGET as target } from '../../../test/contract/rows';
import type { Fields } from '../endpoints/endpoint';
import { errorBody } from '../error-guide/error-body';
import { ANSWER_LIMIT_BYTES, createGuards, LEASE_MARGIN_MS, type Guards, type Work } from './guard';
import { recordKey } from './records';

const ROWS = {
  send: rowOf('POST /messages/send'),
  broadcast: rowOf('POST /broadcasts'),
  template: rowOf('POST /templates'),
};

const { shared: redis, down, log } = useRedis();
/** The messaging service's look-up of an outcome. */
let findOutcome: (request: FindOutcomeRequest) => Promise<FindOutcomeResponse>;
const guardsOf = (connection: RedisConnection): Guards =>
  createGuards({ redis: connection, messaging: { findOutcome: (q) => findOutcome(q) }, log });
const guards = guardsOf(redis);
beforeEach(() => {
  findOutcome = async () => ({});
});

let serial = 0;
const CALL_MS = 60_000;
const aCall = (): Call => ({
  deadline: Date.now() + CALL_MS,
  span: { traceId: '0'.repeat(31) + '1', spanId: '0'.repeat(15) + '1', traceFlags: 0 },
  request_id: `request-${(serial += 1)}`,
});

/** A partner that repeats one request under one key. */
function aRequest(row: keyof typeof ROWS = 'send', by = guards) {
  const key = `key-${(serial += 1)}`;
  const calls: Call[] = [];
  const guard = by(ROWS[row]);
  const ask = (run: () => Promise<Fields>, overrides: Partial<Work> = {}) => {
    const call = aCall();
    return guard({
      headers: { 'idempotency-key': key, 'x-waba-id': target.waba_id },
      input: inputOf({ body: { text: 'Hello' } }),
      call,
      run: (underKey) => {
        calls.push(underKey);
        return run();
      },
      answer: (reply) => ({ status: 201, body: { success: true, ...reply } }),
      ...overrides,
    });
  };
  return { key, ask, calls };
}

const done = async (): Promise<Fields> => ({ message_id: 'wamid.1' });
const fails = (error: ApiError) => async (): Promise<Fields> => {
  throw error;
};
const never = fails(new ApiError('INTERNAL_ERROR', 'it was done a second time'));
const broken = fails(
  new ApiError('UPSTREAM_ERROR', 'the connection broke', { details: { outcome: 'unknown' } }),
);
const UNKNOWN = { code: 'UPSTREAM_ERROR', retryable: true, details: { outcome: 'unknown' } };

test('does the work once and replays the answer byte for byte', async () => {
  const { ask, calls } = aRequest();
  const first = await ask(done);
  expect(first).toEqual({ status: 201, body: { success: true, message_id: 'wamid.1' } });
  const again = { status: 201, body: JSON.stringify(first.body), replayed: true };
  expect(await ask(never)).toEqual(again);
  expect(await ask(never)).toEqual(again);
  expect(calls).toHaveLength(1);
});

test('identifies the work to the services by a request id, and passes the key on as text', async () => {
  const { key, ask, calls } = aRequest();
  await ask(done);
  expect(calls[0]?.idempotency?.key).toMatch(/^req_[0-9a-z]{26}$/);
  expect(calls[0]?.idempotency?.given).toBe(key);
  const other = aRequest();
  await other.ask(done);
  expect(other.calls[0]?.idempotency?.key).not.toBe(calls[0]?.idempotency?.key);
});

test('refuses a repeat while the first request runs', async () => {
  const { ask } = aRequest();
  let refused: unknown;
  await ask(async () => {
    refused = await ask(never).catch((error: unknown) => error);
    return {};
  });
  expect(refused).toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE', http: 409, retry_after_s: 1 });
  expect(await ask(never)).toMatchObject({ replayed: true });
});

test('marks the first answer as a replay if only the service remembered it', async () => {
  const { ask } = aRequest();
  const first = await ask(done, {
    run: async ({ idempotency }) => {
      if (idempotency) idempotency.replayed = true;
      return done();
    },
  });
  expect(first).toMatchObject({ body: { message_id: 'wamid.1' }, replayed: true });
});

test.each([
  [earlierUnknown(), UNKNOWN],
  [keyInUse(), { code: 'IDEMPOTENCY_KEY_IN_USE' }],
  [keyReused(), { code: 'IDEMPOTENCY_KEY_REUSED' }],
])(
  'runs again at the service after it has found an earlier request: %s',
  async (refusal, answered) => {
    const { ask, calls } = aRequest();
    await expect(ask(fails(refusal))).rejects.toMatchObject(answered);
    expect(await ask(done)).toMatchObject({ status: 201 });
    expect(calls).toHaveLength(2);
  },
);

test('refuses another body under the same key', async () => {
  const { ask } = aRequest();
  await ask(done);
  const refused = { code: 'IDEMPOTENCY_KEY_REUSED', http: 422, retryable: false };
  await expect(ask(never, { input: inputOf({ body: { text: 'Bye' } }) })).rejects.toMatchObject(
    refused,
  );
});

test('replays a final failure byte for byte', async () => {
  const { ask, calls } = aRequest();
  const failure = new ApiError('UPSTREAM_ERROR', 'Re-engagement', { upstream_code: 131047 });
  await expect(ask(fails(failure))).rejects.toBe(failure);
  const { status, body, replayed } = await ask(never);
  const { request_id } = calls[0] as Call;
  expect([status, replayed]).toEqual([502, true]);
  expect(body).toBe(JSON.stringify(errorBody(failure, request_id)));
});

test.each([
  new ApiError('INVALID_FIELD', 'wrong'),
  new ApiError('NO_ACTIVE_WABA', 'paused', { retryable: true }),
  new ApiError('SERVICE_UNAVAILABLE', 'away'),
  new ApiError('UPSTREAM_ERROR', 'slow down', { upstream_code: 130429, retryable: true }),
])('does not store a refusal: $code', async (refusal) => {
  const { ask, calls } = aRequest();
  await expect(ask(fails(refusal))).rejects.toBe(refusal);
  expect(await ask(done)).not.toHaveProperty('replayed');
  expect(calls).toHaveLength(2);
  expect(calls[0]?.idempotency?.key).not.toBe(calls[1]?.idempotency?.key);
});

describe('an unknown outcome of a send', () => {
  test('is looked up until it is known, and never sent again', async () => {
    const { ask, calls } = aRequest();
    await expect(ask(broken)).rejects.toMatchObject(UNKNOWN);
    await expect(ask(never)).rejects.toMatchObject({ ...UNKNOWN, retry_after_s: 2 });
    const asked: FindOutcomeRequest[] = [];
    findOutcome = async (request) => {
      asked.push(request);
      return { result: { message_id: 'wamid.9', contacts: [] } };
    };
    const known = await ask(never);
    expect(asked).toEqual([{ target, request_id: calls[0]?.idempotency?.key }]);
    expect(known).toMatchObject({ status: 201, replayed: true });
    expect(known.body).toMatchObject({ success: true, message_id: 'wamid.9' });
    // From now on it is replayed like any other answer.
    expect(await ask(never)).toEqual({ ...known, body: JSON.stringify(known.body) });
    expect([calls.length, asked.length]).toEqual([1, 1]);
  });

  test('stays unknown while the messaging service is down', async () => {
    const { ask } = aRequest();
    await expect(ask(broken)).rejects.toMatchObject(UNKNOWN);
    findOutcome = fails(new ApiError('SERVICE_UNAVAILABLE', 'away')) as never;
    await expect(ask(never)).rejects.toMatchObject(UNKNOWN);
  });

  test.each([
    new ApiError('SERVER_ERROR', 'too late'),
    new ApiError('INTERNAL_ERROR', 'a fault'),
    new ApiError('SERVICE_UNAVAILABLE', 'the connection broke', { retryable: false }),
  ])('is answered the same for faults of our own: $code', async (failure) => {
    const { ask } = aRequest();
    await expect(ask(fails(failure))).rejects.toMatchObject(UNKNOWN);
    await expect(ask(never)).rejects.toMatchObject(UNKNOWN);
  });

  test('includes a reply that could not be turned into an answer', async () => {
    const { ask } = aRequest();
    const answer = () => {
      throw new TypeError('a fault');
    };
    await expect(ask(done, { answer })).rejects.toMatchObject(UNKNOWN);
    await expect(ask(never)).rejects.toMatchObject(UNKNOWN);
  });
});

test('an unknown outcome that cannot be looked up stays unknown', async () => {
  const { ask, calls } = aRequest('template');
  await expect(ask(broken)).rejects.toMatchObject(UNKNOWN);
  for (let time = 0; time < 3; time += 1) await expect(ask(never)).rejects.toMatchObject(UNKNOWN);
  expect(calls).toHaveLength(1);
});

describe('a broadcast whose creation was interrupted', () => {
  test('is created under the same request id, which the service recognises', async () => {
    const { ask, calls } = aRequest('broadcast');
    await expect(ask(fails(new ApiError('SERVER_ERROR', 'too late')))).rejects.toMatchObject(
      UNKNOWN,
    );
    const inUse = new ApiError('IDEMPOTENCY_KEY_IN_USE', 'still at it', { retry_after_s: 1 });
    await expect(ask(fails(inUse))).rejects.toBe(inUse);
    expect(await ask(done)).toMatchObject({ status: 201 });
    expect(await ask(never)).toMatchObject({ status: 201, replayed: true });
    expect(new Set(calls.map(({ idempotency }) => idempotency?.key)).size).toBe(1);
    expect(new Set(calls.map(({ idempotency }) => idempotency?.fingerprint)).size).toBe(1);
    expect(calls).toHaveLength(3);
  });
});

test('the lease lasts until the deadline of the request plus a margin', async () => {
  const { key, ask } = aRequest();
  let lease_ms = 0;
  await ask(async () => {
    const until = await redis.redis.hget(recordKey({ partner_id: target.partner_id, key }), 'l');
    lease_ms = Number(until) - Date.now();
    return {};
  });
  expect(lease_ms).toBeGreaterThan(CALL_MS + LEASE_MARGIN_MS - 2_000);
  expect(lease_ms).toBeLessThan(CALL_MS + LEASE_MARGIN_MS + 2_000);
});

test('an answer too large to store is replayed without its fields', async () => {
  const { ask } = aRequest();
  const large = { text: 'x'.repeat(ANSWER_LIMIT_BYTES) };
  expect((await ask(async () => large)).body).toEqual({ success: true, ...large });
  expect(await ask(never)).toEqual({ status: 201, body: '{"success":true}', replayed: true });
});

test('refuses a malformed key before anything is stored', async () => {
  const { ask, calls } = aRequest();
  const headers = { 'idempotency-key': 'two words' };
  await expect(ask(done, { headers })).rejects.toMatchObject({ code: 'INVALID_FIELD' });
  expect(calls).toHaveLength(0);
});

test('refuses requests with a key while Redis is down', async () => {
  const { ask, calls } = aRequest('send', guardsOf(down));
  await expect(ask(done)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    http: 503,
    retryable: true,
    retry_after_s: 1,
  });
  expect(calls).toHaveLength(0);
});
