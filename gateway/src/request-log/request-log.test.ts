// Which calls are kept, and what happens to them while onboarding does not answer.
import { status } from '@grpc/grpc-js';
import { ApiError } from '@bmg/common/errors';
import type { LoggedRequest, RecordRequestsRequest } from '@bmg/proto/onboarding';
import { BURST, createRequestLog } from './request-log';

let sent: RecordRequestsRequest[];
let failure: unknown;
let now: number;
const warn = jest.fn();

const create = () =>
  createRequestLog({
    onboarding: {
      async recordRequests(request: unknown) {
        if (failure) throw failure;
        sent.push(request as RecordRequestsRequest);
        return {};
      },
    },
    now: () => now,
    log: { warn },
  } as never);

const aCall = (request_id = 'req_1') => ({ request_id }) as LoggedRequest;

/** How many of so many calls are kept. */
const kept = (
  log: ReturnType<typeof create>,
  calls: number,
  failed = false,
  partner_id = 'ptn_1',
): number => Array.from({ length: calls }).filter(() => log.takes(partner_id, failed)).length;

beforeEach(() => {
  jest.useFakeTimers();
  sent = [];
  failure = undefined;
  now = Date.parse('2026-09-01T12:00:00Z');
  warn.mockClear();
});
afterEach(() => jest.useRealTimers());

test('keeps all calls of a quiet partner, and a share of a busy one’s', () => {
  const log = create();
  expect(kept(log, 100)).toBe(BURST);
  expect(kept(log, 100, false, 'ptn_2')).toBe(BURST);
  now += 60_000;
  expect(kept(log, 100)).toBe(1);
  now += 3_600_000;
  expect(kept(log, 100)).toBe(BURST);
});

test('failed calls have a share of their own', () => {
  const log = create();
  expect(kept(log, 100)).toBe(BURST);
  expect(kept(log, 100, true)).toBe(BURST);
  now += 60_000;
  expect(kept(log, 100, true)).toBe(5);
});

test('sends the calls of all partners together, in batches, and at the end', async () => {
  const log = create();
  log.record('ptn_1', aCall('a'));
  log.record('ptn_2', aCall('b'));
  log.record('ptn_1', aCall('c'));
  expect(sent).toEqual([]);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(sent).toEqual([
    {
      partners: [
        { partner_id: 'ptn_1', requests: [aCall('a'), aCall('c')] },
        { partner_id: 'ptn_2', requests: [aCall('b')] },
      ],
    },
  ]);
  for (let at = 0; at < 201; at += 1) log.record('ptn_1', aCall());
  await log.stop();
  expect(sent.slice(1).map(({ partners }) => partners[0]?.requests.length)).toEqual([200, 1]);
});

test('drops calls that cannot be stored, and keeps no more than two seconds of them', async () => {
  const log = create();
  failure = new Error('unreachable');
  log.record('ptn_1', aCall());
  await jest.advanceTimersByTimeAsync(1_000);
  expect(warn).toHaveBeenCalledTimes(1);
  for (let at = 0; at < 2_000; at += 1) log.record(`ptn_${at}`, aCall());
  expect(kept(log, 1, false, 'ptn_x')).toBe(0);
  failure = undefined;
  await log.stop();
  expect(kept(log, 1, false, 'ptn_x')).toBe(1);
});

test('does not report an onboarding service of the previous release', async () => {
  const log = create();
  failure = new ApiError('SERVER_ERROR', 'x', { cause: { code: status.UNIMPLEMENTED } });
  log.record('ptn_1', aCall());
  await log.stop();
  expect(warn).not.toHaveBeenCalled();
});
