// Payment webhooks of senders that are not verified yet: how many reach onboarding, and when none does.
import { ApiError } from '@bmg/common/errors';
import { createLogger } from '@bmg/common/telemetry';
import { createPaymentEvents } from './payment-events';

const log = createLogger('test');
log.level = 'silent';
const WEBHOOK = { body: Buffer.from('{}'), signature: 't=1,v1=0', traceparent: undefined };

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
