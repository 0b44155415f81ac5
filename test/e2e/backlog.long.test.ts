// Backlogs on the delivery path: everything is delivered, in order where the receiver was well, and
// the memory of the processes stays bounded.
import { joinProcessMesh, type ProcessMesh } from '../harness/process-mesh';
import { TWO_A, TWO_B } from '../harness/world';
import { eventually } from '../testkit/eventually';
import { startPartner } from '../testkit/partner';
import { growthDuring } from '../testkit/resident-memory';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { outOfOrder, registered, untilComplete } from './faults-support';

const BACKLOG = 50_000;
/** Limit of one partner's waiting events in memory, and a number above it. */
const MEMORY_KEEPS = 10_000;
const OVERFLOW = 30_000;
const MESSAGES_OF_BODY = 100;
const TEST_LIMIT_MS = 600_000;
/** Memory growth that a process may show, whatever its backlog. */
const GROWTH_MAX_MIB = 500;

jest.setTimeout(TEST_LIMIT_MS);

let mesh: ProcessMesh;
let ingress_url: string;

beforeAll(async () => {
  mesh = await joinProcessMesh();
  ingress_url = `${mesh.settings['INGRESS_URL']}/webhooks/upstream`;
});
afterAll(() => mesh?.stop());

test('delivers a backlog in order with bounded memory', async () => {
  const receiver = await startPartner();
  await registered(mesh, receiver, TWO_A);
  await mesh.terminate('fanout');
  const conversations: string[][] = Array.from({ length: 20 }, () => []);
  for (let at = 0; at < BACKLOG; at += MESSAGES_OF_BODY) {
    const messages = Array.from({ length: MESSAGES_OF_BODY }, (_unused, index) => {
      const conversation = index % conversations.length;
      const id = `wamid.L.${at + index}`;
      conversations[conversation]?.push(id);
      return { from: String(15_550_500_000 + conversation), id };
    });
    expect(await postRaw(ingress_url, inboundBody(TWO_A, ...messages))).toBe(200);
  }
  await withBoundedMemory(`backlog of ${BACKLOG}`, async () => {
    await mesh.start('fanout');
    await untilComplete(receiver, conversations.flat(), TEST_LIMIT_MS - 30_000);
  });
  expect(outOfOrder(receiver, conversations)).toEqual([]);
  await receiver.close();
});

test('loses no event when an unreachable receiver has more waiting than fit in memory', async () => {
  const receiver = await startPartner();
  const partner = await registered(mesh, receiver, TWO_B);
  let away = true;
  receiver.behave((_arrival, response) => {
    // Attempted events have long retry delays.
    response.writeHead(away ? 503 : 200, away ? { 'retry-after': '3600' } : {}).end();
  });
  await withBoundedMemory(`${OVERFLOW} events for a receiver that was away`, async () => {
    const ids: string[] = [];
    for (let at = 0; at < OVERFLOW; at += MESSAGES_OF_BODY) {
      const messages = Array.from({ length: MESSAGES_OF_BODY }, (_unused, index) => {
        const id = `wamid.O.${at + index}`;
        ids.push(id);
        return { from: String(15_550_600_000 + at + index), id };
      });
      expect(await postRaw(ingress_url, inboundBody(TWO_B, ...messages))).toBe(200);
    }
    await eventually(() => receiver.arrivals.length >= MEMORY_KEEPS);
    away = false;
    // No manual retry is needed: a new event detects that the receiver is back.
    await eventually(async () => {
      const id = `wamid.O.new.${ids.length}`;
      ids.push(id);
      const from = String(15_550_800_000 + ids.length);
      expect(await postRaw(ingress_url, inboundBody(TWO_B, { from, id }))).toBe(200);
      await untilComplete(receiver, ids, 2_000);
      return true;
    }, TEST_LIMIT_MS - 30_000);
    await eventually(async () => (await partner.call('GET', '/webhooks/failed')).body.count === 0);
  });
  await partner.call('DELETE', `/clients/${TWO_B.waba_id}`);
  await receiver.close();
});

/** Webhooks may grow by a fixed amount, whatever its backlog. */
async function withBoundedMemory(what: string, work: () => Promise<void>): Promise<void> {
  const names = ['webhooks', 'fanout'] as const;
  const { grown_mib } = await growthDuring(what, { names, pid: (name) => mesh.pid(name) }, work);
  expect(grown_mib[0]).toBeLessThan(GROWTH_MAX_MIB);
}
