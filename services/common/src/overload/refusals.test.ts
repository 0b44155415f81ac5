import { createRefusals, createTokens, REFUSAL_DELAY_MS } from './refusals';

const LIMITS = { burst: 100, per_s: 20 };
const { burst } = LIMITS;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Starts refusals of a holder; counts those that may be answered. */
function refuse(refusals: ReturnType<typeof createRefusals>, holder: string, count: number) {
  const seen = { answered: 0 };
  for (let at = 0; at < count; at += 1) {
    void refusals.turn(holder).then(() => (seen.answered += 1));
  }
  return seen;
}
const settle = () => jest.advanceTimersByTimeAsync(0);

test('answers the first refusals at once, and the others later', async () => {
  const seen = refuse(createRefusals(LIMITS), 'partner-1', burst + 50);
  await settle();
  expect(seen.answered).toBe(burst);
  await jest.advanceTimersByTimeAsync(REFUSAL_DELAY_MS - 1);
  expect(seen.answered).toBe(burst);
  await jest.advanceTimersByTimeAsync(1);
  expect(seen.answered).toBe(burst + 50);
});

test('delays no refusal of another holder', async () => {
  const refusals = createRefusals(LIMITS);
  refuse(refusals, 'partner-1', 3 * burst);
  const other = refuse(refusals, 'partner-2', 1);
  await settle();
  expect(other.answered).toBe(1);
});

test('answers 20 a second at once after the first ones', async () => {
  const refusals = createRefusals(LIMITS);
  refuse(refusals, 'partner-1', burst);
  await jest.advanceTimersByTimeAsync(2_000);
  const later = refuse(refusals, 'partner-1', 60);
  await settle();
  expect(later.answered).toBe(40);
});

test('holds at most 500 answers of one holder back', async () => {
  const seen = refuse(createRefusals(LIMITS), 'partner-1', burst + 700);
  await settle();
  expect(seen.answered).toBe(burst + 200);
});

test('attempts in flight together cost later ones, up to twice the burst', () => {
  const tokens = createTokens({ burst: 10, per_s: 1 });
  for (let at = 0; at < 1_000; at += 1) tokens.take('a');
  jest.advanceTimersByTime(10_000);
  expect(tokens.has('a')).toBe(false);
  jest.advanceTimersByTime(1_000);
  expect(tokens.has('a')).toBe(true);
});
