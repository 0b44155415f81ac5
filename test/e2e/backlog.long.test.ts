// Backlogs on the delivery path: everything is delivered, in order where the receiver was well, and
// the memory of the processes stays bounded.
import { TWO_A, TWO_B } from '../harness/world';
import { eventually } from '../testkit/eventually';
import { growthDuring } from '../testkit/resident-memory';
import { outOfOrder, postMany, registered, untilComplete } from './faults-support';
import { inboundTo, useReceivers } from './receivers';
import { useProcesses } from './use-processes';

const BACKLOG = 50_000;
const CONVERSATIONS = 20;
/** Limit of one partner's waiting events in memory, and a number above it. */
const MEMORY_KEEPS = 10_000;
const OVERFLOW = 30_000;
const TEST_LIMIT_MS = 600_000;
/** Memory growth that a process may show, whatever its backlog. */
const GROWTH_MAX_MIB = 500;

jest.setTimeout(TEST_LIMIT_MS);

const mesh = useProcesses();
const receivers = useReceivers();

test('delivers a backlog in order with bounded memory', async () => {
  const receiver = await receivers.add();
  await registered(mesh, receiver, TWO_A);
  await mesh.terminate('fanout');
  const ids = await postMany(mesh.ingress_url, TWO_A, BACKLOG, (at) => ({
    from: String(15_550_500_000 + (at % CONVERSATIONS)),
    id: `wamid.L.${at}`,
  }));
  await withBoundedMemory(`backlog of ${BACKLOG}`, async () => {
    await mesh.start('fanout');
    await untilComplete(receiver, ids, TEST_LIMIT_MS - 30_000);
  });
  const conversations = Array.from({ length: CONVERSATIONS }, (_unused, conversation) =>
    ids.filter((_id, at) => at % CONVERSATIONS === conversation),
  );
  expect(outOfOrder(receiver, conversations)).toEqual([]);
});

test('loses no event when an unreachable receiver has more waiting than fit in memory', async () => {
  const receiver = await receivers.add();
  const partner = await registered(mesh, receiver, TWO_B);
  let away = true;
  receiver.behave((_arrival, response) => {
    // Attempted events have long retry delays.
    response.writeHead(away ? 503 : 200, away ? { 'retry-after': '3600' } : {}).end();
  });
  await withBoundedMemory(`${OVERFLOW} events for a receiver that was away`, async () => {
    const ids = await postMany(mesh.ingress_url, TWO_B, OVERFLOW, (at) => ({
      from: String(15_550_600_000 + at),
      id: `wamid.O.${at}`,
    }));
    await eventually(() => receiver.arrivals.length >= MEMORY_KEEPS);
    away = false;
    // No manual retry is needed: a new event detects that the receiver is back.
    await eventually(async () => {
      const from = String(15_550_800_000 + ids.length);
      ids.push(...(await inboundTo(mesh, TWO_B)({ from })));
      await untilComplete(receiver, ids, 2_000);
      return true;
    }, TEST_LIMIT_MS - 30_000);
    await eventually(async () => (await partner.call('GET', '/webhooks/failed')).body.count === 0);
  });
  await partner.call('DELETE', `/clients/${TWO_B.waba_id}`);
});

/** Webhooks may grow by a fixed amount, whatever its backlog. */
async function withBoundedMemory(what: string, work: () => Promise<void>): Promise<void> {
  const names = ['webhooks', 'fanout'] as const;
  const { grown_mib } = await growthDuring(what, { names, pid: (name) => mesh.pid(name) }, work);
  expect(grown_mib[0]).toBeLessThan(GROWTH_MAX_MIB);
}
