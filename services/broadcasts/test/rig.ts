// Stores, Redis and workers of a test file. Workers are stopped after each test.
import { countsByBroadcast, zeroCounts, type Counts } from '../src/contact-states/progress';
import { chunkIds } from '../src/ground/request-id';
import type { Broadcast } from '../src/ground/types';
import { eventually } from '../../../test/testkit/eventually';
import { openStores, openTestRedis } from './stores';
import { startWorker, type WorkerOptions } from './worker';

export function useRig() {
  const stores = openStores();
  const { redis, close } = openTestRedis();
  const workers: Array<{ stop(): Promise<void> }> = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  });
  afterAll(close);
  const load = async (id: number): Promise<Broadcast> => {
    const [broadcast] = await stores.broadcasts.load([id]);
    if (!broadcast) throw new Error(`there is no broadcast ${id}`);
    return broadcast;
  };
  return {
    stores,
    redis,
    async worker(options: Omit<WorkerOptions, 'stores' | 'redis'> & Partial<WorkerOptions>) {
      const worker = await startWorker({ stores, redis, ...options });
      workers.push(worker);
      return worker;
    },
    load,
    async counts(id: number): Promise<Counts> {
      const counts = await stores.chunks.counts(chunkIds(await load(id)));
      return countsByBroadcast(counts).get(id) ?? zeroCounts();
    },
    until: (id: number, status: Broadcast['status'], limit_ms = 30_000): Promise<Broadcast> =>
      eventually(async () => {
        const broadcast = await load(id);
        return broadcast.status === status && broadcast;
      }, limit_ms),
  };
}
