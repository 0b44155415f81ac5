import type { Bus } from '@bmg/common/bus';
import type { Usage } from '@bmg/proto/stream';
import { log } from '../../test/app';
import { createMeter, type Meter } from './meter';

let meter: Meter;
/** The reports that Kafka has stored. */
let stored: Usage[];
let kafka: 'answers' | 'loses the acknowledgement' | 'is unreachable';

beforeEach(async () => {
  jest.useFakeTimers();
  stored = [];
  kafka = 'answers';
  const publish = async (messages: Array<{ message: Usage }>): Promise<void> => {
    if (kafka === 'is unreachable') throw new Error('unreachable');
    stored.push(...messages.map(({ message }) => structuredClone(message)));
    if (kafka === 'loses the acknowledgement') throw new Error('no acknowledgement');
  };
  meter = createMeter({ publish } as unknown as Bus, log);
  await meter.start(new AbortController().signal);
});
afterEach(async () => {
  jest.useRealTimers();
  await meter.stop();
});

const second = () => jest.advanceTimersByTimeAsync(1_000);
const call = (times: number, partner_id = 'ptn_1'): void => {
  for (let i = 0; i < times; i += 1) meter.count(partner_id, 'POST', '/messages/send', i === 0);
};
/** What a reader counts that takes each process's numbers once, in their order. */
function counted(partner_id = 'ptn_1') {
  const last = new Map<string | undefined, number>();
  const total = { calls: 0, errors: 0 };
  for (const { process, sequence = 0, rows } of stored.filter(
    (one) => one.partner_id === partner_id,
  )) {
    if (sequence <= (last.get(process) ?? 0)) continue;
    last.set(process, sequence);
    for (const { calls, errors } of rows) {
      total.calls += calls;
      total.errors += errors;
    }
  }
  return total;
}

it('reports the calls of each partner once a second, with rising numbers', async () => {
  call(3);
  call(1, 'ptn_2');
  await second();
  await second();
  call(2);
  await second();
  expect(stored.map(({ partner_id, rows }) => [partner_id, rows])).toEqual([
    ['ptn_1', [{ method: 'POST', endpoint: '/messages/send', calls: 3, errors: 1 }]],
    ['ptn_2', [{ method: 'POST', endpoint: '/messages/send', calls: 1, errors: 1 }]],
    ['ptn_1', [{ method: 'POST', endpoint: '/messages/send', calls: 2, errors: 1 }]],
  ]);
  expect(counted()).toEqual({ calls: 5, errors: 2 });
  expect(new Set(stored.map(({ process }) => process)).size).toBe(1);
});

it('repeats a report unchanged until it is acknowledged, and counts later calls in the next', async () => {
  kafka = 'loses the acknowledgement';
  call(3);
  await second();
  call(2);
  await second();
  kafka = 'answers';
  await second();
  await second();
  const [first, ...rest] = stored;
  expect(rest.slice(0, -1).every((one) => expect(one).toEqual(first) === undefined)).toBe(true);
  expect(rest.length).toBeGreaterThan(1);
  expect(counted()).toEqual({ calls: 5, errors: 2 });
});

it('reports what was counted while Kafka was unreachable', async () => {
  kafka = 'is unreachable';
  for (let i = 0; i < 5; i += 1) {
    call(1);
    await second();
  }
  kafka = 'answers';
  await second();
  expect(counted()).toEqual({ calls: 5, errors: 5 });
});

it('reports everything at the end, also behind an unacknowledged report', async () => {
  kafka = 'loses the acknowledgement';
  call(3);
  await second();
  call(2);
  kafka = 'answers';
  await meter.stop();
  expect(counted()).toEqual({ calls: 5, errors: 2 });
});
