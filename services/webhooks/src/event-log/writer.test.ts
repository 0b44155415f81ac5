import { createLogger } from '@bmg/common/telemetry';
import { packer, unsettled } from '../../test/builders';
import type { AttemptLog } from './attempt-log';
import { EventLogWriter } from './writer';
import type { Bucket, EventLogStore } from './store/buckets';
import { eventually } from '../../../../test/testkit/eventually';

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
      packer,
      log: createLogger('test'),
      onGrown: () => {},
    });
    const settle = (event_id: string, done: () => void): void => {
      const received = unsettled({ event_id, partner_id: 'ptn_0' }, { done });
      for (const taken of writer.accept([received])) taken.done();
    };
    settle('evt_1', () => void turns(count).then(() => settle('evt_2', () => {})));
    await eventually(() => logged.length === 2, 2_000);
    expect(logged).toEqual(['evt_1', 'evt_2']);
    await writer.stop();
  },
);
