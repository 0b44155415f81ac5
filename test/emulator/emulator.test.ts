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
  const flow = {
    ...{ type: 'flow' },
    action: { name: 'flow', parameters: { flow_message_version: '3', flow_cta: 'Open' } },
  };
  const parameters = { display_text: 'Open', url: 'example.org' };
  const link = { type: 'cta_url', action: { name: 'cta_url', parameters } };
  const image = { type: 'image', image: { link: 'https://x.org/a', foo: 1 } };

  test.each<[code: number, string, object]>([
    [131009, 'four buttons', buttons('a', 'b', 'c', 'd')],
    [131009, 'buttons with the same ID', buttons('a', 'a')],
    [131009, 'twenty rows', { type: 'list', action: { button: 'Open', sections } }],
    [131009, 'an unknown kind', { type: 'dance', action: {} }],
    [131008, 'no action', { type: 'button' }],
    [131008, 'a flow that is not named', flow],
    [131009, 'a link that is no URL', link],
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

  const body = { type: 'BODY', text: 'Hello' };
  const one = (button: object) => [body, { type: 'BUTTONS', buttons: [button] }];
  const example = { body_text: [[]] };
  const create = (components: unknown, name = 'fresh') =>
    api(emulator, 'POST', `/${ONE.waba_id}/message_templates`, {
      ...{ name, language: 'en_US', category: 'MARKETING', components },
    });

  test.each<[subcode: number | string, string, object[]]>([
    ['none', 'a button of an unknown type', one({ type: 'DANCE', text: 'Go' })],
    [2388040, 'a long text of a button', one({ type: 'QUICK_REPLY', text: 'x'.repeat(26) })],
    [2388043, 'a button without a URL', one({ type: 'URL', text: 'Go' })],
    [2388043, 'no buttons', [body, { type: 'BUTTONS', buttons: [] }]],
    [2388043, 'no example', [{ type: 'BODY', text: 'Hello {{1}}.', example }]],
    [2388047, 'an unknown header', [body, { type: 'HEADER', format: 'SOUND' }]],
    [2388073, 'a variable in the footer', [body, { type: 'FOOTER', text: 'From {{1}}.' }]],
  ])('refuses with subcode %s a template with %s', async (subcode, _name, components) => {
    const { error } = (await create(components)).body;
    expect(error).toMatchObject({
      code: 100,
      ...(subcode !== 'none' && { error_subcode: subcode }),
    });
  });

  const posted = (field: string): unknown[] =>
    receiver.arrivals
      .flatMap(({ body: { entry } }: any) => entry[0].changes)
      .filter((change: any) => change.field === field)
      .map(({ value }: any) => value);

  test('rejects a template, and edits an approved one only once a day', async () => {
    await emulator.patchAccount(ONE.waba_id, { subscribed: true });
    await emulator.behaviour({ template_review: { outcome: 'reject', delay_ms: 0 } });
    const { id } = (await create([body])).body;
    await eventually(() => posted('message_template_status_update').length === 1);
    expect(posted('message_template_status_update')).toMatchObject([
      { event: 'REJECTED', reason: 'INVALID_FORMAT', rejection_info: {} },
    ]);
    const named = { waba_id: ONE.waba_id, name: 'fresh' };
    await emulator.template({ ...named, status: 'APPROVED', quality_score: 'YELLOW' });
    await eventually(() => posted('message_template_quality_update').length === 1);
    const list = `/${ONE.waba_id}/message_templates?quality_score=YELLOW&content=Hel`;
    expect((await api(emulator, 'GET', list)).body.data).toMatchObject([{ id }]);
    const edit = () => api(emulator, 'POST', `/${id}`, { components: [body] });
    expect((await edit()).status).toBe(200);
    await emulator.template({ ...named, status: 'APPROVED' });
    expect((await edit()).body.error.code).toBe(100);
  });

  test('holds the messages of a paced template, and drops them if it says so', async () => {
    await emulator.patchAccount(ONE.waba_id, { subscribed: true });
    const named = { waba_id: ONE.waba_id, name: 'offer_paced' };
    await emulator.template({ ...named, pacing: 'drop' });
    const template = { name: 'offer_paced', language: { code: 'en_US' } };
    const { messages } = (await send(emulator, { type: 'template', template })).body;
    expect(messages[0].message_status).toBe('held_for_quality_assessment');
    await eventually(() => posted('messages').length === 1);
    expect(posted('messages')).toMatchObject([
      { statuses: [{ status: 'failed', errors: [{ code: 132015 }] }] },
    ]);
  });

  test('a customer sends media that can be read, and permits calls', async () => {
    await emulator.patchAccount(ONE.waba_id, { subscribed: true });
    const sent = { phone_number_id: ONE.phone_number_id, from: '15550100888' };
    await emulator.inbound({ ...sent, type: 'image', image: { caption: 'look' } });
    const interactive = { call_permission_reply: { response: 'accept' } };
    await emulator.inbound({ ...sent, type: 'interactive', interactive, message_id: 'wamid.A' });
    const [first, second] = posted('messages') as any[];
    const { id, url, caption } = first.messages[0].image;
    expect(caption).toBe('look');
    expect((await api(emulator, 'GET', `/${id}`)).body).toMatchObject({ file_size: '2048' });
    const authorization = `Bearer ${ONE.access_token}`;
    const download = await fetch(url, { headers: { authorization } });
    expect((await download.arrayBuffer()).byteLength).toBe(2048);
    expect(second.messages).toMatchObject([{ id: 'wamid.A', type: 'interactive', interactive }]);
    await emulator.patchNumber(ONE.phone_number_id, {
      settings: { calling: { status: 'ENABLED' } },
    });
    const calling = async (to: string) => {
      const session = { sdp_type: 'offer', sdp: 'v=0' };
      const connect = { messaging_product: 'whatsapp', action: 'connect', to, session };
      return (await api(emulator, 'POST', `/${ONE.phone_number_id}/calls`, connect)).status;
    };
    expect(await calling('15550100999')).not.toBe(200);
    expect(await calling(sent.from)).toBe(200);
  });

  test('refuses the right PIN after five wrong ones', async () => {
    const path = `/${ONE.phone_number_id}`;
    await api(emulator, 'POST', path, { pin: '111111' });
    const register = async (pin: string): Promise<number> => {
      const product = { messaging_product: 'whatsapp' };
      return (await api(emulator, 'POST', `${path}/register`, { ...product, pin })).body.error.code;
    };
    for (let i = 0; i < 5; i += 1) expect(await register('222222')).toBe(133005);
    expect(await register('111111')).toBe(133008);
  });

  test('a fault matches the number and the text of a request', async () => {
    const error = { code: 131000 };
    const match = { phone_number_id: ONE.phone_number_id, body_contains: 'Hello' };
    await emulator.fault({ match, error, times: -1 });
    await emulator.fault({ match: { phone_number_id: '1' }, error, times: -1 });
    expect((await send(emulator, TEXT)).body.error).toMatchObject(error);
    expect((await send(emulator, { ...TEXT, text: { body: 'Other' } })).status).toBe(200);
    expect(await emulator.summary()).toMatchObject({ total: 1, max_sends_to_one_recipient: 1 });
  });

  test('a code expires when the request for it says so', async () => {
    const { app_id, app_secret, api_version } = emulator.config;
    const exchange = async (lifetime: object) => {
      const { code } = await emulator.code(lifetime);
      const query = new URLSearchParams({ client_id: app_id, client_secret: app_secret, code });
      return callRest(`${emulator.url}/${api_version}`, 'GET', `/oauth/access_token?${query}`);
    };
    expect((await exchange({ expires_in_ms: 60_000 })).status).toBe(200);
    expect((await exchange({ expired: true })).body.error.error_subcode).toBe(36007);
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
