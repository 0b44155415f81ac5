// Stores, Redis and workers of a test file. Workers are stopped after each test.
import type { Broadcast } from '../src/store/types';
import { countsByBroadcast, zeroCounts, type Counts } from '../src/contact-states/progress';
import { chunkIds } from '../src/ground/request-id';
import { openStores, openTestRedis, type Stores } from './stores';
import { eventually } from '../../../test/testkit/eventually';
import { startWorker, type WorkerOptions } from './worker';

export interface Rig {
  stores: Stores;
  redis: ReturnType<typeof openTestRedis>['redis'];
  worker(
    options: Omit<WorkerOptions, 'stores' | 'redis'> & { stores?: Stores },
  ): ReturnType<typeof startWorker>;
  load(id: number): Promise<Broadcast>;
  counts(id: number): Promise<Counts>;
  until(id: number, status: Broadcast['status'], limit_ms?: number): Promise<Broadcast>;
}

export function useRig(): Rig {
  let stores: Stores | undefined;
  let redis: ReturnType<typeof openTestRedis> | undefined;
  let workers: Array<{ stop(): Promise<void> }> = [];
  const open = <T>(one: T | undefined): T => {
    if (one === undefined) throw new Error('use the rig inside a test only');
    return one;
  };
  beforeAll(async () => {
    stores = await openStores();
    redis = openTestRedis();
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    workers = [];
  });
  afterAll(async () => {
    redis?.close();
    await stores?.close();
  });
  const load = async (id: number): Promise<Broadcast> => {
    const [broadcast] = await open(stores).broadcasts.load([id]);
    if (!broadcast) throw new Error(`there is no broadcast ${id}`);
    return broadcast;
  };
  return {
    get stores() {
      return open(stores);
    },
    get redis() {
      return open(redis).redis;
    },
    async worker(options) {
      const worker = await startWorker({
        stores: open(stores),
        redis: open(redis).redis,
        ...options,
      });
      workers.push(worker);
      return worker;
    },
    load,
    async counts(id) {
      const broadcast = await load(id);
      const counts = await open(stores).chunks.counts(chunkIds(broadcast));
      return countsByBroadcast(counts).get(id) ?? zeroCounts();
    },
    until: (id, status, limit_ms = 30_000) =>
      eventually(async () => {
        const broadcast = await load(id);
        return broadcast.status === status && broadcast;
      }, limit_ms),
  };
}
