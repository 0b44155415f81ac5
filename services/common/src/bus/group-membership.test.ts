import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup';
import './kafkajs-fixes';

const INTERVAL_MS = 1_000;
const STEP_MS = 240_000;

let sent: number;
let group: ConsumerGroup;

beforeEach(() => {
  jest.useFakeTimers();
  sent = 0;
  group = new ConsumerGroup({
    logger: { namespace: () => undefined },
    instrumentationEmitter: { emit: () => undefined },
  });
  group.memberId = 'a member';
  group.coordinator = { heartbeat: async () => (sent += 1), leaveGroup: async () => undefined };
});
afterEach(() => jest.useRealTimers());

const beatAfter = async (ms: number): Promise<number> => {
  jest.setSystemTime(Date.now() + ms);
  await group.heartbeat({ interval: INTERVAL_MS });
  return sent;
};

test('a consumer keeps its place in the group when the clock steps back', async () => {
  expect(await beatAfter(INTERVAL_MS)).toBe(1);
  expect(await beatAfter(-STEP_MS)).toBe(2);
  expect(await beatAfter(INTERVAL_MS / 2)).toBe(2);
  expect(await beatAfter(INTERVAL_MS / 2)).toBe(3);
});

test('a consumer without a place in the group fails as if the coordinator had refused it', async () => {
  group.memberId = null;
  await expect(beatAfter(0)).rejects.toMatchObject({ type: 'UNKNOWN_MEMBER_ID' });
});
