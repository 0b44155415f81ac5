// Payment webhooks of unverified senders: how many reach onboarding, and when none does.
import { ApiError } from '@bmg/common/errors';
import { createLogger } from '@bmg/common/telemetry';
import {
  createPaymentEvents,
  FAILURES_AT_ONCE,
  FAILURES_OF_STRANGERS,
  mayBePaymentSignature,
} from './payment-events';

const log = createLogger('test');
const WEBHOOK = {
  body: Buffer.from('{}'),
  signature: 't=1,v1=0',
  traceparent: undefined,
  network: '203.0.113.7',
};

test('onboarding gets a bounded number of webhooks at a time; the others are to be posted again', async () => {
  const started: Array<() => void> = [];
  const handlePaymentEvent = () => new Promise<object>((end) => started.push(() => end({})));
  const events = createPaymentEvents({ handlePaymentEvent } as never, log);
  const posts = Array.from({ length: 100 }, () => events.forward(WEBHOOK));
  expect(started).toHaveLength(16);
  for (const end of started) end();
  const statuses = await Promise.all(posts);
  expect(statuses.filter((status) => status === 200)).toHaveLength(16);
  expect(statuses.filter((status) => status === 503)).toHaveLength(84);
});

test('once onboarding has no processor, the address does not exist for some seconds', async () => {
  jest.useFakeTimers();
  let calls = 0;
  const handlePaymentEvent = async () => {
    calls += 1;
    throw new ApiError('NOT_CONFIGURED', 'no payment processor');
  };
  const events = createPaymentEvents({ handlePaymentEvent } as never, log);
  expect(events.exist()).toBe(true);
  expect(await events.forward(WEBHOOK)).toBe(404);
  expect(events.exist()).toBe(false);
  jest.advanceTimersByTime(11_000);
  expect([events.exist(), calls]).toEqual([true, 1]);
  jest.useRealTimers();
});

describe('webhooks that fail the verification', () => {
  let calls: number;
  const failing = () =>
    createPaymentEvents(
      {
        handlePaymentEvent: async ({ signature }: { signature: string }) => {
          calls += 1;
          if (signature !== 'genuine') throw new ApiError('UNAUTHORIZED', 'wrong signature');
          return {};
        },
      } as never,
      log,
    );
  beforeEach(() => {
    calls = 0;
    jest.useFakeTimers();
  });
  afterEach(() => void jest.useRealTimers());

  test('end the calls of onboarding for their network, and for no other', async () => {
    const events = failing();
    const statuses: number[] = [];
    for (let at = 0; at < 100; at += 1) statuses.push(await events.forward(WEBHOOK));
    expect(calls).toBe(FAILURES_AT_ONCE.burst);
    expect(new Set(statuses.slice(calls))).toEqual(new Set([429]));
    expect(events.mayPost(WEBHOOK.network)).toBe(false);
    const other = { ...WEBHOOK, network: '203.0.113.8', signature: 'genuine' };
    expect([events.mayPost(other.network), await events.forward(other)]).toEqual([true, 200]);
    jest.advanceTimersByTime(5_000);
    expect([await events.forward(WEBHOOK), await events.forward(WEBHOOK)]).toEqual([401, 429]);
  });

  test('from thousands of networks do not reach onboarding by their number', async () => {
    const events = failing();
    const genuine = { ...WEBHOOK, signature: 'genuine' };
    expect(await events.forward(genuine)).toBe(200);
    calls = 0;
    for (let at = 0; at < 3_000; at += 1) {
      await events.forward({ ...WEBHOOK, network: `2001:db8:0:${at.toString(16)}` });
    }
    expect(calls).toBe(FAILURES_OF_STRANGERS.burst);
    expect(events.mayPost('2001:db8:1:0')).toBe(false);
    // The network of a webhook that was verified is not limited by them.
    expect([events.mayPost(genuine.network), await events.forward(genuine)]).toEqual([true, 200]);
    jest.advanceTimersByTime(1_000);
    expect(events.mayPost('2001:db8:1:0')).toBe(true);
  });

  test('do not limit genuine ones', async () => {
    const events = failing();
    const genuine = { ...WEBHOOK, signature: 'genuine' };
    for (let at = 0; at < 100; at += 1) expect(await events.forward(genuine)).toBe(200);
  });
});

const NOW_S = 1_790_000_000;
const V1 = 'a'.repeat(64);

test.each([
  [`t=${NOW_S},v1=${V1}`],
  [`t=${NOW_S - 299}, v1=${V1}`],
  [`t=${NOW_S},v1=${V1},v1=${'b'.repeat(64)},v0=${V1}`],
])('%s may be a signature', (header) => {
  expect(mayBePaymentSignature(header, NOW_S)).toBe(true);
});

test.each([
  ['no header', undefined],
  ['several headers', [`t=${NOW_S},v1=${V1}`]],
  ['an empty header', ''],
  ['no time', `v1=${V1}`],
  ['no signature', `t=${NOW_S}`],
  ['only a signature of another scheme', `t=${NOW_S},v0=${V1}`],
  ['a signature of another length', `t=${NOW_S},v1=${V1}0`],
  ['an old time', `t=${NOW_S - 301},v1=${V1}`],
  ['an overlong header', `t=${NOW_S},v1=${V1},${'x'.repeat(1_024)}`],
])('%s is none', (_name, header) => {
  expect(mayBePaymentSignature(header, NOW_S)).toBe(false);
});
