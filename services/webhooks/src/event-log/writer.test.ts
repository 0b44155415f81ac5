import type { Unsettled } from '@bmg/common/bus';
import { createLogger } from '@bmg/common/telemetry';
import { Delivery } from '@bmg/proto/stream';
import type { AttemptLog } from './attempt-log';
import { createPacker } from './packer';
import { EventLogWriter } from './writer';
import type { Bucket, EventLogStore } from './store/buckets';
import { eventually } from '../../../../test/testkit/eventually';

function received(event_id: string, done: () => void): Unsettled<Delivery> {
  return {
    message: Delivery.fromPartial({ event_id, partner_id: 'ptn_0', body: Buffer.from('{}') }),
    key: '',
    span: undefined,
    partition: 0,
    offset: '0',
    done,
    forget: () => {},
  };
}

/** Resolves after this many turns of the microtask queue. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
  'writes an event that arrives %i microtasks after the one before is settled',
  async (count) => {
    const logged: string[] = [];
    const store = {
      head: async () => ({ last: 0, at: new Date(0) }),
      insert: async (buckets: Bucket[]) => {
        for (const { events } of buckets) logged.push(...events.map(({ event_id }) => event_id));
        return new Map();
      },
    } as unknown as EventLogStore;
    const writer = new EventLogWriter({
      store,
      attempts: { drain: async () => {} } as AttemptLog,
      packer: createPacker(undefined, false),
      log: createLogger('test'),
      onGrown: () => {},
    });
    const settle = (event_id: string, done: () => void): void => {
      for (const taken of writer.accept([received(event_id, done)])) taken.done();
    };
    settle('evt_1', () => void turns(count).then(() => settle('evt_2', () => {})));
    await eventually(() => logged.length === 2, 2_000);
    expect(logged).toEqual(['evt_1', 'evt_2']);
    await writer.stop();
  },
);
