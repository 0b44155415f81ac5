// When new endpoints are tested, on a fake clock.
import { createLogger } from '@bmg/common/telemetry';
import { createFirstTests, type NewEndpoint } from './first-tests';

const log = createLogger('test');
log.level = 'silent';

const START = Date.UTC(2026, 10, 28);
let tested: Array<[endpoint_id: string, seconds: number]>;
let passes: (endpoint_id: string, tests: number) => boolean;

beforeEach(() => {
  jest.useFakeTimers({ now: START });
  tested = [];
  passes = () => false;
});
afterEach(() => jest.useRealTimers());

const begin = () =>
  createFirstTests(async ({ endpoint_id }) => {
    tested.push([endpoint_id, (Date.now() - START) / 1_000]);
    return passes(endpoint_id, tested.length);
  }, log);
const endpoint = (endpoint_id: string, partner_id = 'ptn_1'): NewEndpoint => ({
  partner_id,
  endpoint_id,
  changelog: '',
});
const pass = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1_000);

test('four times in eleven minutes, whether a test fails or throws', async () => {
  passes = (_endpoint_id, tests) => {
    if (tests === 2) throw new Error('unreachable');
    return false;
  };
  begin().begin(endpoint('a'));
  await pass(3_600);
  expect(tested.map(([, seconds]) => seconds)).toEqual([1, 11, 71, 671]);
});

test('until one passes', async () => {
  passes = (_endpoint_id, tests) => tests === 2;
  begin().begin(endpoint('a'));
  await pass(3_600);
  expect(tested).toHaveLength(2);
});

test('ten of a partner at a time', async () => {
  const tests = begin();
  for (let index = 0; index < 12; index += 1) tests.begin(endpoint(`a${index}`));
  tests.begin(endpoint('b', 'ptn_2'));
  await pass(1);
  expect(tested.map(([endpoint_id]) => endpoint_id)).toEqual([
    ...Array.from({ length: 10 }, (_none, index) => `a${index}`),
    'b',
  ]);
});

test('not after a stop', async () => {
  const tests = begin();
  tests.begin(endpoint('a'));
  await tests.stop();
  await pass(3_600);
  expect(tested).toEqual([]);
});
