// Purging a client's data: counted, deleted in the database of every service, and searched for in
// all of them afterwards. Billing records stay, and so does data of the account's other partners.
import { randomInt } from 'node:crypto';
import { addressesOf, runBmg, type Ran } from '../testkit/bmg';
import { eventually } from '../testkit/eventually';
import { ONE, type TestPartner } from '../harness/shared-mesh';
import { aBroadcast } from './broadcast-support';
import { storedDocuments } from './stored';
import { useMesh, usePartner } from './use-mesh';

// Unique text, because other test files use the same databases.
const SERIAL = randomInt(100_000, 1_000_000);
const PERSON = `15551${SERIAL}`;
const ANOTHER = `15552${SERIAL}`;
const scope = { 'x-waba-id': ONE.waba_id };

const mesh = useMesh();
const first = usePartner(mesh, [ONE], { name: 'First' });
const second = usePartner(mesh, [ONE], { name: 'Second' });

const purge = (partner: TestPartner, ...options: string[]): Promise<Ran> => {
  const command = ['--json', 'client', 'purge', ONE.waba_id, '--partner', partner.partner_id];
  return runBmg([...command, ...options], addressesOf(mesh.env));
};

const report = ({ code, out, err }: Ran): any => {
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
};

/** `database.collection` of every document that contains the text. */
async function placesOf(text: string): Promise<string[]> {
  const found = (await storedDocuments(mesh)).filter(([, stored]) => stored.includes(text));
  return [...new Set(found.map(([place]) => place))].sort();
}

test('refuses to purge an active client', async () => {
  const { code, out, err } = await purge(first, '--yes');
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain('active client');
  expect((await first.call('GET', '/clients')).body.total).toBe(1);
});

test('counts the data of a deleted client, and deletes it in every database with --yes', async () => {
  const message = { to: PERSON, text: 'Hello' };
  expect((await first.call('POST', '/messages/send', message, scope)).status).toBe(200);
  const broadcast = aBroadcast([PERSON, ANOTHER]);
  expect((await first.call('POST', '/broadcasts', broadcast, scope)).status).toBe(201);
  // The last status of each: the rest of the test counts and searches, so nothing may arrive after
  // it.
  await eventually(() => first.receiver.of('message.read').length >= 3);
  await eventually(async () => (await placesOf(PERSON)).includes('messaging.contacts'));
  // A delivery that the receiver refuses stays in the store.
  first.receiver.behave((_arrival, response) => void response.writeHead(500).end());
  await mesh.emulator.inbound({
    phone_number_id: ONE.phone_number_id,
    from: PERSON,
    text: 'Write to me',
  });
  await eventually(async () => (await placesOf('Write to me')).includes('webhooks.deliveries'));
  const deleted = await first.call('DELETE', `/clients/${ONE.waba_id}`);
  expect(deleted.status).toBe(200);
  const days = (Date.parse(deleted.body.events_removed_by) - Date.now()) / 86_400_000;
  expect([days > 30, days < 31]).toEqual([true, true]);

  const before = await placesOf(PERSON);
  const counted = report(await purge(first));
  expect(counted).toMatchObject({ purged: false, waba_id: ONE.waba_id });
  expect(counted.services).toMatchObject({
    messaging: { messages: expect.any(Number) },
    webhooks: { deliveries: expect.any(Number) },
    broadcasts: { broadcasts: 1, chunks: 1 },
    onboarding: { clients: 1, requests: expect.any(Number) },
  });
  expect(await placesOf(PERSON)).toEqual(before);

  const done = report(await purge(first, '--yes'));
  expect(done.purged).toBe(true);
  expect(done.kept_for_others).toEqual(
    expect.arrayContaining(['messaging.contacts', 'templates.templates']),
  );
  // The other partner still has the account and keeps its data.
  expect(await placesOf(PERSON)).toEqual(['messaging.contacts']);
  const left = await placesOf(first.partner_id);
  // The number of the partner's last broadcast stays: it must not be used twice.
  expect(
    left.filter((place) => /messages|broadcasts|clients|deliveries|events/.test(place)),
  ).toEqual(['broadcasts.counters']);
  expect((await second.call('GET', '/clients')).body.total).toBe(1);
  const listed = await first.call('GET', '/clients?status=all');
  expect(listed.body.clients).toEqual([]);
});

test('deletes the account’s data with its last partner but keeps billing records', async () => {
  await eventually(async () =>
    (await placesOf(first.partner_id)).includes('onboarding.message_usage'),
  );
  expect((await second.call('DELETE', `/clients/${ONE.waba_id}`)).status).toBe(200);
  const done = report(await purge(second, '--yes'));
  expect(done.kept_for_others).toEqual([]);
  expect(await placesOf(PERSON)).toEqual([]);
  expect(await placesOf(ANOTHER)).toEqual([]);
  expect(await placesOf(first.partner_id)).toEqual(
    expect.arrayContaining(['onboarding.message_usage', 'onboarding.partners']),
  );
});

test('finds nothing when a purge is repeated', async () => {
  // The request log gets a call up to a second after its answer: the deletion of the client, too.
  await eventually(async () => {
    const again = report(await purge(second, '--yes'));
    const counts = Object.values(again.services as Record<string, Record<string, number>>);
    return counts.flatMap((service) => Object.values(service)).every((count) => count === 0);
  });
});
