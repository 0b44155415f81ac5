// What reaches the audit log of many refusals, and that none of them waits for it.
import { status } from '@grpc/grpc-js';
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { RecordRefusalRequest } from '@bmg/proto/audit';
import { createRefusalLog, type Refusal } from './refusal-log';

const WINDOW_MS = 1_000;
const REFUSAL: Refusal = {
  partner_id: 'ptn_1',
  actor: { type: 'api_key', id: 'key_1' },
  action: 'POST /keys',
  code: 'SCOPE_MISSING',
  address: '203.0.113.7',
};

function setUp(recordRefusal?: () => Promise<never>) {
  const sent: RecordRefusalRequest[] = [];
  const warn = jest.fn();
  const audit = {
    recordRefusal:
      recordRefusal ??
      (async (request: RecordRefusalRequest) => {
        sent.push(request);
        return {};
      }),
  };
  const refusals = createRefusalLog({ audit, log: { warn }, window_ms: WINDOW_MS } as never);
  const note = (given: Partial<Refusal> = {}, request_id = 'req_1'): void =>
    refusals.note({ ...REFUSAL, ...given }, { deadline: 0, request_id } as Call);
  return { refusals, sent, note, warn };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('the first refusal of a kind is recorded at once, and further ones together', async () => {
  const { sent, note } = setUp();
  for (let at = 1; at <= 5; at += 1) note({}, `req_${at}`);
  note({ code: 'ADDRESS_NOT_ALLOWED' });
  expect(sent).toMatchObject([
    { ...REFUSAL, count: 1, request_id: 'req_1' },
    { code: 'ADDRESS_NOT_ALLOWED', count: 1 },
  ]);
  await jest.advanceTimersByTimeAsync(WINDOW_MS);
  expect(sent.slice(2)).toMatchObject([{ ...REFUSAL, count: 4, request_id: 'req_5' }]);
  note();
  expect(sent).toHaveLength(4);
});

test('refusals that wait are recorded when the process stops', async () => {
  const { refusals, sent, note } = setUp();
  note();
  note();
  await refusals.stop();
  expect(sent.map(({ count }) => count)).toEqual([1, 1]);
  await jest.advanceTimersByTimeAsync(WINDOW_MS);
  expect(sent).toHaveLength(2);
});

test('one key takes a bounded number of records, and nothing from another', () => {
  const { sent, note } = setUp();
  for (let at = 0; at < 500; at += 1) note({ action: `GET /made-up-${at}` });
  expect(sent).toHaveLength(20);
  note({ actor: { type: 'person', id: 'per_1' } });
  expect(sent).toHaveLength(21);
});

test('failed log-ins of strangers are bounded by network', () => {
  const { sent, note } = setUp();
  const stranger = { partner_id: undefined, actor: { type: 'console' } };
  for (let at = 0; at < 500; at += 1) {
    note({ ...stranger, action: `log-in ${at}`, address: `2001:db8::${at.toString(16)}` });
  }
  expect(sent).toHaveLength(20);
  note({ ...stranger, address: '203.0.113.8' });
  expect(sent).toHaveLength(21);
});

test('a refusal that cannot be recorded is logged, but not while onboarding lacks the call', async () => {
  const lost = (extras = {}) => new ApiError('SERVICE_UNAVAILABLE', 'away', extras);
  const away = setUp(() => Promise.reject(lost()));
  away.note();
  const older = setUp(() => Promise.reject(lost({ cause: { code: status.UNIMPLEMENTED } })));
  older.note();
  await jest.advanceTimersByTimeAsync(0);
  expect([away.warn.mock.calls.length, older.warn.mock.calls.length]).toEqual([1, 0]);
});
