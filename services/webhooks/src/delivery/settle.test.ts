import type { Outcome } from './attempt';
import { RETRY_DELAYS_MS } from './retry-schedule';
import { endingOf, ENDINGS, RETENTION_MS, type Ending } from './settle';
import type { AttemptRecord } from './store';

const NOW = 1_790_000_000_000;
const outcome = (given: Partial<Outcome>): Outcome => ({
  result: 'refused',
  error: 'HTTP 500',
  posted: true,
  http_status: 500,
  ...given,
});
/** The ending of a refused delivery. */
const refused = (given: Partial<Outcome> = {}, attempts = 0) =>
  endingOf(outcome(given), attempts, true, NOW) as Ending & { record?: AttemptRecord };
const [LEAVES, WAITS] = [{ lane: 'leave' }, { lane: 'wait' }];
const NOTHING = { row: 'keep', share: 'none', seen: 'never' };

test.each([
  ['delivered', { ...LEAVES, row: 'remove', offset: 'release', share: 'success', seen: 'first' }],
  ['dropped', { ...LEAVES, row: 'remove', offset: 'release', share: 'none', seen: 'never' }],
  ['retried', { ...WAITS, row: 'store', offset: 'release', share: 'failure', seen: 'never' }],
  ['failed', { ...LEAVES, row: 'store', offset: 'release', share: 'failure', seen: 'last' }],
  ['reassigned', { ...LEAVES, ...NOTHING, offset: 'forget' }],
  ['gone', { ...LEAVES, ...NOTHING, offset: 'release' }],
  ['paced', { ...WAITS, ...NOTHING, offset: 'hold' }],
  [
    'unsettled',
    { ...WAITS, ...NOTHING, offset: 'hold', log: 'failed to attempt or record delivery' },
  ],
] as const)('ends a delivery that is %s', (name, expected) => {
  expect(ENDINGS[name]).toStrictEqual(expected);
});

test.each(['delivered', 'dropped'] as const)('takes the result %s as it is', (result) => {
  expect(endingOf(outcome({ result }), 0, false, NOW)).toBe(ENDINGS[result]);
});

test('stores a refused delivery with the time of its next attempt', () => {
  const { record, ...ending } = refused();
  expect(ending).toStrictEqual(ENDINGS.retried);
  expect(record).toMatchObject({
    ...{ status: 'retrying', attempts: 1, last_attempt_at: new Date(NOW) },
    ...{ last_http_status: 500, last_error: 'HTTP 500' },
  });
  const delay_ms = (record?.next_attempt_at?.getTime() ?? 0) - NOW;
  expect(delay_ms).toBeGreaterThanOrEqual(RETRY_DELAYS_MS[0] as number);
  expect(record).not.toHaveProperty('expires_at');
});

test.each([
  ['after its last attempt', {}, RETRY_DELAYS_MS.length],
  ['at once after a 410', { http_status: 410 }, 0],
  ['at once when a repetition cannot succeed', { is_permanent: true }, 0],
])('gives a refused delivery up %s', (_name, given, attempts) => {
  const { record, ...ending } = refused(given, attempts);
  expect(ending).toStrictEqual(ENDINGS.failed);
  expect(record).toMatchObject({
    ...{ status: 'failed', attempts: attempts + 1, next_attempt_at: null },
    expires_at: new Date(NOW + RETENTION_MS),
  });
});

test('does not blame the receiver for an attempt without a POST', () => {
  const not_sent = { posted: false, http_status: undefined, error: 'endpoint is paused' };
  const { share, record } = refused(not_sent);
  expect(share).toBe('none');
  expect(record).toMatchObject({ last_http_status: null, last_error: 'endpoint is paused' });
});

test('leaves a refused delivery of a reassigned partition to the new owner', () => {
  expect(endingOf(outcome({}), 0, false, NOW)).toBe(ENDINGS.reassigned);
});
