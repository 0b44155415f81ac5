// Where the emulator is as strict as the platform, or keeps its state: a laxer one would let the
// suites that use it pass.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../testkit/eventually';
import { startPartner, type PartnerReceiver } from '../testkit/partner';
import { callRest, seededNumbers } from '../testkit/rest';
import { startEmulator, type Emulator } from './index';
import { serialise } from './signature';

const { ONE } = seededNumbers(0);

const api = ({ url, config }: Emulator, method: string, path: string, body?: unknown) =>
  callRest(`${url}/${config.api_version}`, method, path, body, {
    authorization: `Bearer ${ONE.access_token}`,
  });
const send = (emulator: Emulator, message: object) =>
  api(emulator, 'POST', `/${ONE.phone_number_id}/messages`, {
    messaging_product: 'whatsapp',
    to: '15550100777',
    ...message,
  });
const TEXT = { type: 'text', text: { body: 'Hello' } };

describe('a fresh emulator', () => {
  let emulator: Emulator;
  let receiver: PartnerReceiver;
  beforeEach(async () => {
    receiver = await startPartner();
    emulator = await startEmulator({ port: 0, webhook_url: receiver.url });
  });
  afterEach(async () => {
    await emulator.close();
    await receiver.close();
  });

  test('refuses a field that no node has, and one that needs a permission', async () => {
    const read = async (fields: string) =>
      (await api(emulator, 'GET', `/${ONE.phone_number_id}?fields=${fields}`)).body;
    expect(await read('status,quality_rating')).toMatchObject({ status: 'CONNECTED' });
    expect((await read('status,nope')).error.code).toBe(100);
    expect((await read('status,certificate')).error.code).toBe(10);
  });

  test('sends 20 messages a second from a number in the business app', async () => {
    const started = performance.now();
    const answers = await Promise.all(Array.from({ length: 60 }, () => send(emulator, TEXT)));
    const seconds = (performance.now() - started) / 1_000;
    const refused = answers.filter(({ status }) => status !== 200);
    for (const { body } of refused) expect(body.error.code).toBe(130429);
    expect(60 - refused.length).toBeGreaterThanOrEqual(20);
    expect(60 - refused.length).toBeLessThanOrEqual(20 * (1 + seconds) + 1);
  });

  test('accepts only 200 as an answer, and gives up after the last retry', async () => {
    await emulator.patchAccount(ONE.waba_id, { subscribed: true });
    await emulator.behaviour({ retry_delays_ms: [10, 10] });
    receiver.behave((_arrival, response) => void response.writeHead(204).end());
    await emulator.inbound({ phone_number_id: ONE.phone_number_id });
    await emulator.settled();
    expect(await emulator.webhooks()).toMatchObject({ failed: 3, acknowledged: 0, lost: 1 });
  });

  const button = (id: string) => ({ type: 'reply', reply: { id, title: id } });
  const buttons = (...ids: string[]) => ({ type: 'button', action: { buttons: ids.map(button) } });
  const rows = (section: number) =>
    Array.from({ length: 10 }, (_, row) => ({ id: `${section}.${row}`, title: 'Row' }));
  const sections = [1, 2].map((one) => ({ title: `S${one}`, rows: rows(one) }));
  const products = [{ product_items: [{ product_retailer_id: 's' }] }];
  const image = { type: 'image', image: { link: 'https://x.org/a', foo: 1 } };

  test.each<[code: number, string, object]>([
    [131009, 'four buttons', buttons('a', 'b', 'c', 'd')],
    [131009, 'buttons with the same ID', buttons('a', 'a')],
    [131009, 'twenty rows', { type: 'list', action: { button: 'Open', sections } }],
    [131009, 'an unknown kind', { type: 'dance', action: {} }],
    [131008, 'no action', { type: 'button' }],
    [131008, 'no body', { ...buttons('a'), body: undefined }],
    [
      131008,
      'products without a header',
      { type: 'product_list', action: { catalog_id: '1', sections: products } },
    ],
    [100, 'a header with a foreign key', { ...buttons('a'), header: image }],
  ])('answers %i to an interactive message with %s', async (code, _name, interactive) => {
    const message = (content: object) => ({
      type: 'interactive',
      interactive: { body: { text: 'Choose' }, ...content },
    });
    expect((await send(emulator, message(interactive))).body.error.code).toBe(code);
    expect((await send(emulator, message(buttons('a', 'b', 'c')))).status).toBe(200);
  });
});

test('webhooks have escaped characters, and template IDs too large for JavaScript', () => {
  const text = { body: 'café 👍 "message_template_id":"12"' };
  const body = serialise({ message_template_id: '317952571926180001', text });
  expect(body).toContain('{"message_template_id":317952571926180001,');
  expect(body).toContain('caf\\u00e9 \\ud83d\\udc4d');
  expect(JSON.parse(body)).toMatchObject({ text });
});

describe('with a folder', () => {
  let folder: string;
  const open: Emulator[] = [];
  const start = async (): Promise<Emulator> => {
    const emulator = await startEmulator({ port: 0, data_dir: folder });
    open.push(emulator);
    return emulator;
  };
  const subscriptions = async (emulator: Emulator): Promise<unknown[]> =>
    (await api(emulator, 'GET', `/${ONE.waba_id}/subscribed_apps`)).body.data;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'emulator-state-'));
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  test('keeps a change when the process is killed', async () => {
    await api(await start(), 'POST', `/${ONE.waba_id}/subscribed_apps`);
    await eventually(() => existsSync(join(folder, 'state')));
    expect(await subscriptions(await start())).toHaveLength(1);
  });

  test('starts from the seed when the file is damaged', async () => {
    writeFileSync(join(folder, 'state'), 'no state');
    const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const emulator = await start();
    expect(written).toHaveBeenCalledWith(expect.stringContaining('cannot be read'));
    written.mockRestore();
    expect(await subscriptions(emulator)).toEqual([]);
  });
});
