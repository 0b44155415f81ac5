// Stores, Redis and workers of a test file. Workers are stopped after each test.
import { countsByBroadcast, zeroCounts, type Counts } from '../src/contact-states/progress';
import { chunkIds } from '../src/ground/request-id';
import type { Broadcast, Contact } from '../src/ground/types';
import { eventually } from '../../../test/testkit/eventually';
import { someContacts, storeBroadcast } from './builders';
import { openStores, openTestRedis, unique } from './stores';
import {
  aCredential,
  createMessagingDouble,
  startWorker,
  type MessagingDouble,
  type WorkerOptions,
} from './worker';

/** How many contacts got a message; none may have got two. */
export function sentOnce(messaging: MessagingDouble): number {
  const recipients = messaging.recipients();
  expect(new Set(recipients).size).toBe(recipients.length);
  return recipients.length;
}

export function useRig() {
  const stores = openStores();
  const { redis, close } = openTestRedis();
  const workers: Array<{ stop(): Promise<void> }> = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  });
  afterAll(close);
  const rig = {
    stores,
    redis,
    async worker(options: Omit<WorkerOptions, 'stores' | 'redis'> & Partial<WorkerOptions>) {
      const worker = await startWorker({ stores, redis, ...options });
      workers.push(worker);
      return worker;
    },
    /** Stores a broadcast on a number of its own. */
    broadcast: (contacts: number | Contact[], given: Partial<Broadcast> = {}) =>
      storeBroadcast(stores, typeof contacts === 'number' ? someContacts(contacts) : contacts, {
        phone_number_id: unique('n'),
        ...given,
      }),
    /** Stores a broadcast and starts a worker; messaging answers at once, by `answer`. */
    async run(
      contacts: number | Contact[],
      answer: Parameters<MessagingDouble['answers']>[0] = () => undefined,
      given: Partial<Broadcast> = {},
    ) {
      const messaging = createMessagingDouble(2);
      messaging.answers(answer);
      const { _id } = await rig.broadcast(contacts, given);
      const credentials = () => aCredential({ throughput_level: 'HIGH' });
      await rig.worker({ messaging, credentials });
      return { _id, messaging };
    },
    async load(id: number): Promise<Broadcast> {
      const [broadcast] = await stores.broadcasts.load([id]);
      if (!broadcast) throw new Error(`there is no broadcast ${id}`);
      return broadcast;
    },
    async counts(id: number): Promise<Counts> {
      const counts = await stores.chunks.counts(chunkIds(await rig.load(id)));
      return countsByBroadcast(counts).get(id) ?? zeroCounts();
    },
    until: (id: number, status: Broadcast['status'], limit_ms = 30_000): Promise<Broadcast> =>
      eventually(async () => {
        const broadcast = await rig.load(id);
        return broadcast.status === status && broadcast;
      }, limit_ms),
  };
  return rig;
}
