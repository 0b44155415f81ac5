// The collection that the gateway serves works: its requests, with the variables of a partner, are
// answered.
import { joinMesh, ONE, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { filled, readCollection, type ReadCollection } from './collection-items';

let mesh: Mesh;
let partner: TestPartner;
let collection: ReadCollection;

beforeAll(async () => {
  mesh = await joinMesh();
  partner = await mesh.createPartner();
  await partner.register(ONE);
  const answer = await fetch(`${new URL(mesh.base_url).origin}/collection.json`);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  collection = readCollection((await answer.json()) as object);
});
afterAll(() => mesh.stop());

/** Sends a request as a program that has imported the collection. */
async function run(name: string): Promise<{ status: number; body: unknown }> {
  const item = collection.folders.flatMap(({ item }) => item).find((one) => one.name === name);
  if (!item) throw new Error(`the collection has no request ${name}`);
  const { method, url, header = [], body, auth } = item.request;
  const values = {
    base_url: mesh.base_url,
    partner_key: partner.partner_key,
    waba_id: ONE.waba_id,
  };
  const headers = header.filter(({ disabled }) => disabled !== true);
  if (!auth) {
    const of = Object.fromEntries(collection.auth.apikey.map(({ key, value }) => [key, value]));
    headers.push({ key: of['key'] ?? '', value: of['value'] ?? '' });
  }
  const answer = await fetch(filled([...url.host, ...url.path].join('/'), values), {
    method,
    headers: Object.fromEntries(headers.map(({ key, value }) => [key, filled(value, values)])),
    ...(body && { body: filled(body.raw, values) }),
  });
  return { status: answer.status, body: await answer.json() };
}

test.each([
  'Check whether the service is available',
  'List registered numbers',
  'Send a text message',
  'Send a template message',
  'Check a message or a broadcast before it is sent: outcome, price and pace',
  'List the messages you sent, newest first',
  'List the templates of a business account',
  'Retrieve the details and health of a business account',
  'Read what your messages cost',
  'Create a broadcast: one template to many contacts',
])('%s', async (name) => {
  const { status, body } = await run(name);
  expect([status < 300, body]).toMatchObject([true, { success: true }]);
});
