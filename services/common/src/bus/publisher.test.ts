import { createPublisher, type Wire } from './publisher';

const wire = (key: string, bytes = 10): Wire => ({
  topic: 't',
  key,
  value: Buffer.alloc(bytes),
  headers: {},
});
const keys = (batch: Wire[]): string[] => batch.map(({ key }) => key);

/** A broker whose responses the test controls. */
function broker() {
  const sends: Array<{ batch: Wire[]; resolve: () => void; reject: (error: Error) => void }> = [];
  const send = (batch: Wire[]): Promise<void> =>
    new Promise((resolve, reject) => sends.push({ batch, resolve, reject }));
  return { sends, send };
}
/** Waits until all pending callbacks and short timers have run. */
const turn = (): Promise<void> =>
  new Promise((resolve) => setTimeout(() => setImmediate(() => setImmediate(resolve)), 5));

test('batches messages that arrive during a send, in order', async () => {
  const { sends, send } = broker();
  const publisher = createPublisher(send);
  const first = publisher.add([wire('a')]);
  await turn();
  const later = [publisher.add([wire('b'), wire('c')]), publisher.add([wire('d')])];
  await turn();
  expect(sends.map(({ batch }) => keys(batch))).toEqual([['a']]);
  sends[0]?.resolve();
  await first;
  await turn();
  expect(keys(sends[1]?.batch ?? [])).toEqual(['b', 'c', 'd']);
  sends[1]?.resolve();
  await Promise.all(later);
});

test('a failed send rejects its own messages and no others', async () => {
  const { sends, send } = broker();
  const publisher = createPublisher(send);
  const first = publisher.add([wire('a')]);
  await turn();
  const second = publisher.add([wire('b')]);
  sends[0]?.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  expect(publisher.failing()).toBe(true);
  await turn();
  sends[1]?.resolve();
  await second;
  expect(publisher.failing()).toBe(false);
});

test('a failure expires, so that readiness recovers without traffic', async () => {
  const publisher = createPublisher(() => Promise.reject(new Error('away')));
  await expect(publisher.add([wire('a')])).rejects.toThrow();
  const real = performance.now();
  const clock = jest.spyOn(performance, 'now').mockReturnValue(real + 10_001);
  expect(publisher.failing()).toBe(false);
  clock.mockRestore();
});

test('keeps sends within the batch limit, apart from a single larger message', async () => {
  const batches: Wire[][] = [];
  const publisher = createPublisher((batch) => {
    batches.push(batch);
    return Promise.resolve();
  });
  await Promise.all([
    publisher.add(Array.from({ length: 1_000 }, (_unused, index) => wire(`a${index}`))),
    publisher.add(Array.from({ length: 20 }, (_unused, index) => wire(`b${index}`, 100_000))),
    publisher.add([wire('large', 3_000_000)]),
    publisher.add([wire('z')]),
  ]);
  const all = batches.flatMap(keys);
  expect(all).toHaveLength(1_022);
  expect(all.indexOf('a999')).toBeLessThan(all.indexOf('b0'));
  for (const batch of batches) {
    expect(batch.length).toBeLessThanOrEqual(400);
    const bytes = batch.reduce((sum, { value }) => sum + value.length, 0);
    if (batch.length > 1) expect(bytes).toBeLessThanOrEqual(512 * 1024);
  }
});

test('refuses messages beyond the backlog limit, but accepts a single large group', async () => {
  const { sends, send } = broker();
  const publisher = createPublisher(send);
  const large = publisher.add([wire('large', 65 * 1024 * 1024)]);
  await expect(publisher.add([wire('b')])).rejects.toThrow('backlog is full');
  await turn();
  sends[0]?.resolve();
  await large;
});

test('drain waits for all messages', async () => {
  const { sends, send } = broker();
  const publisher = createPublisher(send);
  const added = publisher.add([wire('a')]);
  let drained = false;
  const draining = publisher.drain().then(() => (drained = true));
  await turn();
  expect(drained).toBe(false);
  sends[0]?.resolve();
  await Promise.all([added, draining]);
});
