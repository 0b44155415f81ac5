// The order of record, change and outcome, and the result when one of them fails.
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { EndChangeRequest } from '@bmg/proto/audit';
import { eventually } from '../../../test/testkit/eventually';
import type { Change } from './change';
import { createRecorder } from './recorder';

const CHANGE = { partner_id: 'p', action: 'POST /keys', actor: { type: 'partner_key' } } as Change;
const CALL = { deadline: Date.now() + 60_000, request_id: 'req_1' } as Call;
const FROM = { call: CALL, address: '203.0.113.7' };
const away = (extras = {}) => new ApiError('SERVICE_UNAVAILABLE', 'away', extras);

function setUp({ begin, ends = [] }: { begin?: Error; ends?: Array<Error | undefined> } = {}) {
  const steps: string[] = [];
  const ended: EndChangeRequest[] = [];
  const audit = {
    beginChange: async () => {
      if (begin) throw begin;
      steps.push('record');
      return { id: 'aud_1' };
    },
    endChange: async (request: EndChangeRequest) => {
      const failure = ends.shift();
      if (failure) throw failure;
      steps.push('outcome');
      ended.push(request);
      return {};
    },
  };
  const recorder = createRecorder({
    audit,
    log: { warn: () => undefined },
    pauses_ms: [1, 1, 1],
  } as never);
  const run = (make: () => Promise<unknown> = async () => steps.push('change')) =>
    recorder.run(CHANGE, FROM, make, () => ({ key_id: 'key_1' }));
  return { run, steps, ended };
}

test('stores the record before the change, and the outcome before the answer', async () => {
  const { run, steps, ended } = setUp();
  await run();
  expect(steps).toEqual(['record', 'change', 'outcome']);
  expect(ended).toEqual([{ id: 'aud_1', outcome: 'succeeded', target: { key_id: 'key_1' } }]);
});

test.each([away(), away({ retryable: false }), new ApiError('INTERNAL_ERROR', 'x')])(
  'makes no change without a record, and reports that a repeat is safe (%#)',
  async (begin) => {
    const { run, steps } = setUp({ begin });
    await expect(run()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
    expect(steps).toEqual([]);
  },
);

test('reports that the changes of the day are used up, and changes nothing', async () => {
  const begin = new ApiError('RATE_LIMIT_EXCEEDED', 'tomorrow', { retry_after_s: 60 });
  const { run, steps } = setUp({ begin });
  await expect(run()).rejects.toBe(begin);
  expect(steps).toEqual([]);
});

test.each([
  [new ApiError('NOT_FOUND', 'x'), 'failed'],
  [away({ retryable: true }), 'failed'],
  [away({ retryable: false }), 'unknown'],
  [new Error('a bug'), 'unknown'],
])('records a failure and passes it on (%#)', async (failure, outcome) => {
  const { run, ended } = setUp();
  await expect(run(() => Promise.reject(failure))).rejects.toBe(failure);
  const code = failure instanceof ApiError ? failure.code : 'INTERNAL_ERROR';
  expect(ended).toEqual([{ id: 'aud_1', outcome, code, target: {} }]);
});

test('answers although the outcome cannot be stored, and sends it again', async () => {
  const { run, steps, ended } = setUp({ ends: [away(), away()] });
  await run();
  expect(steps).toEqual(['record', 'change']);
  await eventually(() => ended.length === 1);
});
