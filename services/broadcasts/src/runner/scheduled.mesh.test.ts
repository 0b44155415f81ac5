import { someContacts, storeBroadcast } from '../../test/builders';
import { useRig } from '../../test/rig';
import type { QueryCounts } from '../../test/stores';
import { eventually } from '../../../../test/testkit/eventually';
import { createMessagingDouble } from '../../test/worker';

const BROADCASTS = 100;
const CONTACTS = 10_000;
const LOOKS = 3;
/** One query for due broadcasts and one for active ones. */
const COMMANDS_A_LOOK = 2;

const rig = useRig();
const { stores } = rig;

/** The database commands of an idle worker during a few rounds. */
async function looking(): Promise<QueryCounts> {
  const worker = await rig.worker({ messaging: createMessagingDouble() });
  const from = stores.asked().looks;
  const after = (looks: number) =>
    eventually(() => stores.asked().looks >= from + looks && stores.asked());
  const before = await after(2);
  const now = await after(2 + LOOKS);
  await worker.stop();
  return {
    commands: now.commands - before.commands,
    looks: now.looks - before.looks,
    documents: now.documents - before.documents,
  };
}

test('a hundred scheduled broadcasts of 10,000 cost no database work until they are due', async () => {
  const none = await looking();
  const contacts = someContacts(CONTACTS);
  const scheduled_at = new Date(Date.now() + 3_600_000);
  for (let at = 0; at < BROADCASTS; at += 1) {
    await storeBroadcast(stores, contacts, { phone_number_id: `s${at}`, scheduled_at });
  }
  const many = await looking();
  for (const { commands, looks, documents } of [none, many]) {
    // One round may have begun before the counting.
    expect(commands).toBeLessThanOrEqual(COMMANDS_A_LOOK * looks + 1);
    expect(documents).toBe(0);
  }
});
