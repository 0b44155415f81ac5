// After refusals in a row for too many requests, the number or account waits; and lists are bounded per partner.
import type { ApiError } from '../errors';
import {
  createAccountLimits,
  LISTS_OF_PARTNER,
  REFUSALS_MIN,
  type Concerned,
} from './account-limits';
import { upstreamError } from './upstream-codes';

const WAIT_MS = 2_000;
const LONGEST_MS = 60_000;
const log = { warn: () => undefined } as never;

const about = (waba_id: string, number: string | false): Concerned => ({
  target: { partner_id: 'p', waba_id, phone_number_id: number || 'n', directory_version: '' },
  number,
});

function setUp() {
  const clock = { ms: 0 };
  const limits = createAccountLimits(log, () => clock.ms);
  const refuseOnce = (code: number, concerned: Concerned) =>
    expect(
      limits.run(concerned, () => Promise.reject(upstreamError({ code, message: 'slow' }, []))),
    ).rejects.toMatchObject({ upstream_code: code, retry_after_s: 60 });
  const refuse = async (code: number, concerned: Concerned) => {
    for (let time = 0; time < REFUSALS_MIN; time += 1) await refuseOnce(code, concerned);
  };
  /** The outcome of the next request: an answer of the upstream, or an error without a request. */
  const next = async (concerned: Concerned) =>
    limits.run(concerned, async () => 'asked').catch((error: ApiError) => error);
  return { clock, limits, refuse, refuseOnce, next };
}

test.each([
  [80007, 'account', about('a', false), [about('a', false), about('a', 'n')], about('b', 'n')],
  [80007, 'account', about('a', 'n'), [about('a', false), about('a', 'm')], about('b', 'n')],
  [4, 'number', about('a', 'n'), [about('a', 'n')], about('a', 'm')],
  [4, 'account', about('a', false), [about('a', false), about('a', 'n')], about('b', false)],
])('code %d stops requests for the %s, and no other', async (code, what, first, same, other) => {
  const { clock, refuse, next } = setUp();
  await refuse(code, first);
  clock.ms = 500;
  for (const concerned of same) {
    expect(await next(concerned)).toMatchObject({
      code: 'UPSTREAM_ERROR',
      upstream_code: code,
      retryable: true,
      retry_after_s: 2,
      message: expect.stringContaining(`for this ${what} `),
    });
  }
  expect(await next(other)).toBe('asked');
  clock.ms = WAIT_MS;
  for (const concerned of same) expect(await next(concerned)).toBe('asked');
});

test('fewer refusals, or an answer between them, stop nothing', async () => {
  const { refuseOnce, next } = setUp();
  for (let time = 1; time < 2 * REFUSALS_MIN; time += 1) {
    await refuseOnce(80007, about('a', false));
    if (time % (REFUSALS_MIN - 1) === 0) expect(await next(about('a', 'n'))).toBe('asked');
  }
});

test('every further refusal doubles the wait, up to the wait that the upstream requests', async () => {
  const { clock, refuse, refuseOnce, next } = setUp();
  await refuse(4, about('a', 'n'));
  for (const wait of [2, 4, 8, 16, 32, 60, 60]) {
    expect(await next(about('a', 'n'))).toMatchObject({ retry_after_s: wait });
    clock.ms += wait * 1_000;
    await refuseOnce(4, about('a', 'n'));
  }
  clock.ms += LONGEST_MS;
  expect(await next(about('a', 'n'))).toBe('asked');
});

test('an account that no longer waits does not hide a number that does', async () => {
  const { clock, refuse, next } = setUp();
  await refuse(80007, about('a', false));
  clock.ms = WAIT_MS;
  await refuse(4, about('a', 'n'));
  expect(await next(about('a', 'n'))).toMatchObject({ upstream_code: 4 });
});

test('other errors stop nothing', async () => {
  const { limits, next } = setUp();
  const error = upstreamError({ code: 130429 }, []);
  await expect(limits.run(about('a', 'n'), () => Promise.reject(error))).rejects.toBe(error);
  expect(await next(about('a', 'n'))).toBe('asked');
});

test('a partner follows a bounded number of lists, beside which another one has its own', async () => {
  const { limits } = setUp();
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const followed = Array.from({ length: LISTS_OF_PARTNER }, () => limits.list('p', () => finished));
  await expect(limits.list('p', async () => 'read')).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retry_after_s: 1,
  });
  expect(await limits.list('q', async () => 'read')).toBe('read');
  finish();
  await Promise.all(followed);
  expect(await limits.list('p', async () => 'read')).toBe('read');
});
