// The bounds of a replica: requests beyond them are refused at once, and health is still answered.
import { createRefusals, REFUSAL_DELAY_MS } from '@bmg/common/overload';
import { eventually } from '../../../test/testkit/eventually';
import { useApp } from '../../test/app';
import { MEMORY_OF_BYTE } from '../edge/body';
import { diagnostics } from '../endpoints/diagnostics/rows';
import { messages } from '../endpoints/messages/rows';
import { createLoad, UNCOUNTED, type Load } from './load';

const IN_FLIGHT_MAX = 4;
const BODY_BYTES_MAX = 64 * 1024;
const OK = { message_id: 'wamid.1', contacts: [], fields: {} };

const { start, log } = useApp();
let base: string;
/** Completes the calls in flight. */
const release: Array<() => void> = [];

beforeAll(async () => {
  base = await listening(
    createLoad(IN_FLIGHT_MAX, log, { body_memory_max: 2 * BODY_BYTES_MAX * MEMORY_OF_BYTE }),
  );
});

/** The address of an app with these bounds. */
async function listening(load: Load, more: Parameters<typeof start>[0] = {}): Promise<string> {
  const answer = () => new Promise((resolve) => release.push(() => resolve(OK)));
  const client = () => ({ sendText: answer, getWaba: answer });
  const port = await start({ endpoints: [...messages, ...diagnostics], load, client, ...more });
  return `http://127.0.0.1:${port}/v1`;
}
afterEach(async () => {
  for (const end of release.splice(0)) end();
});

const send = (partner: string, padding = '') =>
  fetch(`${base}/messages/send`, {
    method: 'POST',
    headers: { 'x-partner-key': partner, 'content-type': 'application/json' },
    body: JSON.stringify({ to: '15550100777', text: 'x', padding }),
  });

async function refused(answer: Response): Promise<void> {
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  const { error } = (await answer.json()) as { error: object };
  expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
}

test('refuses a partner that has half of the bound in flight, and no other partner', async () => {
  const in_flight = [send('flood'), send('flood')];
  await eventually(() => release.length === 2);
  await refused(await send('flood'));
  const other = send('quiet');
  await eventually(() => release.length === 3);
  for (const end of release.splice(0)) end();
  const answers = await Promise.all([...in_flight, other]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const again = send('flood');
  await eventually(() => release.length === 1);
  for (const end of release.splice(0)) end();
  expect((await again).status).toBe(200);
});

test('a full replica refuses all partners, but answers health', async () => {
  const in_flight = ['a', 'b', 'c', 'd'].map((partner) => send(partner));
  await eventually(() => release.length === IN_FLIGHT_MAX);
  await refused(await send('e'));
  expect((await fetch(`${base}/health`)).status).toBe(200);
  for (const end of release.splice(0)) end();
  for (const answer of await Promise.all(in_flight)) expect(answer.status).toBe(200);
});

test('bounds the memory of all bodies, and of those of one partner, until their requests complete', async () => {
  const large = 'x'.repeat(BODY_BYTES_MAX - 2_000);
  const first = send('a', large);
  await eventually(() => release.length === 1);
  await refused(await send('a', large));
  const [small, other] = [send('a'), send('b', large)];
  await eventually(() => release.length === 3);
  await refused(await send('c', large));
  for (const end of release.splice(0)) end();
  const answers = await Promise.all([first, small, other]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const second = send('a', large);
  await eventually(() => release.length === 1);
  for (const end of release.splice(0)) end();
  expect((await second).status).toBe(200);
});

describe('the endpoints that the rate limit does not count', () => {
  const IN_FLIGHT = UNCOUNTED.of_holder_max;
  let address: string;
  let admitted = 0;
  let done = 0;
  beforeAll(async () => {
    // A partner has half: those that wait take none of it.
    address = await listening(createLoad(2 * IN_FLIGHT, log), {
      meter: { count: () => (done += 1) },
      bucket: {
        take: async () => {
          admitted += 1;
          return { allowed: true, remaining: 1, reset_s: 0, retry_after_s: 1 };
        },
      },
    });
  });
  const ask = (partner: string, signal?: AbortSignal, at = address): Promise<Response> =>
    fetch(`${at}/waba`, {
      headers: { 'x-partner-key': partner, 'x-waba-id': '1' },
      ...(signal && { signal }),
    });
  const fill = async (at = address): Promise<Array<Promise<Response>>> => {
    const in_flight = Array.from({ length: IN_FLIGHT }, () => ask('a', undefined, at));
    await eventually(() => release.length === IN_FLIGHT);
    return in_flight;
  };

  test('let further requests of a partner wait, and none of another partner', async () => {
    const answers = await fill();
    answers.push(...Array.from({ length: 5 }, () => ask('a')));
    const other = ask('b');
    await eventually(() => release.length === IN_FLIGHT + 1);
    release.pop()?.();
    expect((await other).status).toBe(200);
    expect(release).toHaveLength(IN_FLIGHT);
    for (const end of release.splice(0)) end();
    await eventually(() => release.length === 5);
    for (const end of release.splice(0)) end();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(
      Array.from({ length: IN_FLIGHT + 5 }, () => 200),
    );
  });

  test('refuse a request that waited in vain with 503', async () => {
    const wait_ms = 200;
    const at = await listening(createLoad(2 * IN_FLIGHT, log, { wait_ms }));
    const in_flight = await fill(at);
    const started = performance.now();
    await refused(await ask('a', undefined, at));
    // Timers are up to a millisecond early.
    expect(performance.now() - started).toBeGreaterThanOrEqual(wait_ms - 1);
    for (const end of release.splice(0)) end();
    await Promise.all(in_flight);
  });

  test('give no place to a caller that has disconnected while it waited', async () => {
    admitted = 0;
    const in_flight = await fill();
    const caller = new AbortController();
    const gone = ask('a', caller.signal).catch(() => 'gone');
    const before = done;
    await eventually(() => admitted === IN_FLIGHT + 1);
    caller.abort();
    expect(await gone).toBe('gone');
    await eventually(() => done === before + 1);
    release.pop()?.();
    await eventually(() => done === before + 2);
    expect(release).toHaveLength(IN_FLIGHT - 1);
    for (const end of release.splice(0)) end();
    await Promise.all(in_flight);
  });
});

test('delays answers to a partner that continues after many refusals, and to no other partner', async () => {
  const address = await listening(createLoad(IN_FLIGHT_MAX, log), {
    refusals: createRefusals({ burst: 20, per_s: 1 }),
  });
  const ask = (partner: string) =>
    fetch(`${address}/waba`, { headers: { 'x-partner-key': partner, 'x-waba-id': '1' } });
  const refuse = async (partner: string): Promise<number> => {
    const started = performance.now();
    await refused(await ask(partner));
    return performance.now() - started;
  };
  const in_flight = ['flood', 'flood', 'b', 'c'].map(ask);
  await eventually(() => release.length === IN_FLIGHT_MAX);
  const flood = Array.from({ length: 40 }, () => refuse('flood'));
  const of_other = await refuse('d');
  const waits = await Promise.all(flood);
  // Timers are up to a millisecond early.
  expect(Math.max(...waits)).toBeGreaterThanOrEqual(REFUSAL_DELAY_MS - 1);
  expect(waits.filter((ms) => ms < REFUSAL_DELAY_MS - 1).length).toBeGreaterThanOrEqual(20);
  expect(of_other).toBeLessThan(REFUSAL_DELAY_MS - 1);
  for (const end of release.splice(0)) end();
  expect((await Promise.all(in_flight)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});
