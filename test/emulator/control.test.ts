import { request } from 'undici';
import { sign } from './signature';
import { aText, apiOf, ONE, startWorld, TWO, type Any, type World } from './test-support';

let world: World;
beforeEach(async () => {
  world = await startWorld();
  await world.emulator.patchAccount(ONE.waba, { subscribed: true });
});
afterEach(() => world.close());

const message = () => world.receiver.changes('messages')[0].value.messages[0];

describe('an inbound message', () => {
  it('is built from next to nothing', async () => {
    const result = await world.emulator.inbound({ phone_number_id: ONE.number });
    expect(result).toMatchObject({ delivered: true, http_status: 200 });
    expect(world.receiver.changes('messages')[0].value).toEqual({
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '15550100001', phone_number_id: ONE.number },
      contacts: [
        {
          profile: { name: 'Ada', username: 'ada.l' },
          wa_id: '15550100777',
          user_id: 'US.4Qm7Zr81Kd02',
          parent_user_id: 'US.ENT.9Pt3Lw66Ha10',
        },
      ],
      messages: [
        {
          from: '15550100777',
          from_user_id: 'US.4Qm7Zr81Kd02',
          from_parent_user_id: 'US.ENT.9Pt3Lw66Ha10',
          id: result.message_id,
          timestamp: expect.stringMatching(/^\d{10}$/),
          type: 'text',
          text: { body: 'Hello' },
        },
      ],
    });
  });

  it('copies unknown keys into the message', async () => {
    await world.emulator.inbound({
      phone_number_id: ONE.number,
      from: '15550100888',
      type: 'button',
      button: { payload: 'STOP', text: 'Stop' },
      context: { from: '15550100001', id: 'wamid.X' },
    });
    expect(message()).toMatchObject({
      from: '15550100888',
      from_user_id: expect.stringMatching(/^US\.[0-9A-F]{20}$/),
      type: 'button',
      button: { payload: 'STOP', text: 'Stop' },
      context: { id: 'wamid.X' },
    });
  });

  it('may hide the phone number', async () => {
    await world.emulator.inbound({ phone_number_id: ONE.number, bsuid: 'US.Hidden1', name: 'Bo' });
    expect(message().from).toBeUndefined();
    expect(message().from_user_id).toBe('US.Hidden1');
    const [contact] = world.receiver.changes('messages')[0].value.contacts;
    expect(contact).toEqual({ profile: { name: 'Bo' }, user_id: 'US.Hidden1' });
  });

  it('with a medium can be downloaded', async () => {
    await world.emulator.inbound({
      phone_number_id: ONE.number,
      type: 'image',
      image: { caption: 'look' },
    });
    const { image } = message();
    expect(image).toMatchObject({ caption: 'look', mime_type: 'image/jpeg' });
    const node = await apiOf(world.emulator, ONE.token)('GET', `/${image.id}`);
    expect(Buffer.from(image.sha256, 'base64').toString('hex')).toBe(node.body.sha256);
  });

  it('may be an echo of the business app or a standby copy', async () => {
    await world.emulator.inbound({ phone_number_id: ONE.number, field: 'smb_message_echoes' });
    const [echo] = world.receiver.changes('smb_message_echoes');
    expect(echo.value.message_echoes[0]).toMatchObject({ from: '15550100001', to: '15550100777' });
    await world.emulator.inbound({ phone_number_id: ONE.number, field: 'standby' });
    const [standby] = world.receiver.changes('standby');
    expect(standby.value.standby.messages).toHaveLength(1);
  });

  it('is not delivered to an account that is not subscribed, unless forced', async () => {
    const input = { phone_number_id: TWO.number };
    expect(await world.emulator.inbound(input)).toMatchObject({
      delivered: false,
      reason: 'not_subscribed',
    });
    expect(await world.emulator.inbound({ ...input, force: true })).toMatchObject({
      delivered: true,
    });
  });
});

describe('a webhook made by hand', () => {
  const body = { object: 'whatsapp_business_account', entry: [], note: 'ü' };

  it('is signed as requested', async () => {
    for (const signature of ['valid', 'invalid', 'missing', 'malformed'] as const) {
      await world.emulator.postWebhook({ body, signature });
    }
    const headers = world.receiver.received.map(({ headers: h }) => h['x-hub-signature-256']);
    const right = sign(world.receiver.received[0]?.raw ?? '', 'app-secret-local');
    expect(headers[0]).toBe(right);
    expect(headers[1]).toMatch(/^sha256=[0-9a-f]{64}$/);
    expect(headers[1]).not.toBe(right);
    expect(headers[2]).toBeUndefined();
    expect(headers[3]).not.toMatch(/^sha256=[0-9a-f]{64}$/);
  });

  it('is posted unchanged, as often as requested, with the given headers', async () => {
    world.receiver.answers.splice(0, 1, 500, 200);
    const result = await world.emulator.postWebhook({
      raw: '{"not json',
      times: 3,
      headers: { 'X-Extra': '1' },
    });
    expect(result).toEqual({ statuses: [500, 200, 200], acknowledged: 2 });
    expect(world.receiver.received[0]?.raw).toBe('{"not json');
    expect(world.receiver.received[0]?.headers['x-extra']).toBe('1');
  });

  it('may be the verification request', async () => {
    expect(await world.emulator.verifyWebhook()).toMatchObject({ verified: true });
    expect(await world.emulator.verifyWebhook({ verify_token: 'wrong' })).toMatchObject({
      verified: false,
      http_status: 403,
    });
  });
});

describe('objects created through control', () => {
  it('include accounts that work at once', async () => {
    const made = await world.emulator.createAccount({
      name: 'Mine',
      subscribed: true,
      numbers: [{ is_on_biz_app: true }, { display_phone_number: '+49 30 1234567' }],
    });
    expect(made.phone_number_ids).toHaveLength(2);
    const api = apiOf(world.emulator, made.tokens[0] as string);
    const list = await api('GET', `/${made.waba_id}/phone_numbers?fields=display_phone_number`);
    expect(list.body.data.map((item: Any) => item.display_phone_number)).toContain(
      '+49 30 1234567',
    );
    const sent = await api('POST', `/${made.phone_number_ids[0]}/messages`, aText());
    expect(sent.status).toBe(200);
    expect(
      (await api('GET', `/${made.waba_id}/message_templates`)).body.data.length,
    ).toBeGreaterThan(5);
  });

  it('are refused when a value is invalid', async () => {
    await expect(world.emulator.createAccount({ colour: 'red' })).rejects.toThrow(
      'Unknown keys: colour',
    );
    await expect(world.emulator.createAccount({ id: ONE.waba })).rejects.toThrow('taken');
    await expect(world.emulator.patchNumber('1', {})).rejects.toThrow('404');
    await expect(world.emulator.patchNumber(ONE.number, { status: 1 })).rejects.toThrow('type');
    await expect(world.emulator.inbound({} as never)).rejects.toThrow('404');
    const response = await request(`${world.emulator.url}/control/nothing`);
    expect(response.statusCode).toBe(404);
    expect(((await response.body.json()) as Any).known).toContain('POST /control/reset');
  });

  it('are deleted by a reset, but the configuration stays', async () => {
    await world.emulator.createAccount();
    await world.emulator.configure({ verify_token: 'other' });
    await world.emulator.reset();
    const state = await world.emulator.state();
    expect(state.accounts.map(({ waba_id }: Any) => waba_id)).toEqual([
      '900000000000001',
      '900000000000002',
      '900000000000003',
    ]);
    expect(state.accounts[0].subscribed).toBe(false);
    expect(await world.emulator.verifyWebhook()).toMatchObject({ verified: false });
  });
});

describe('the logs', () => {
  it('show requests without secrets, by filter and since a time', async () => {
    const api = apiOf(world.emulator, ONE.token);
    await api('GET', `/${ONE.waba}?fields=name`);
    await api('POST', `/${ONE.number}/messages`, aText());
    await apiOf(world.emulator, '')('GET', '/oauth/access_token?client_secret=secret-1234');
    const all = await world.emulator.requests();
    expect(all).toHaveLength(3);
    expect(all[1]).toMatchObject({
      method: 'POST',
      path: `/v26.0/${ONE.number}/messages`,
      headers: { authorization: 'Bearer …EN-1', 'content-type': 'application/json' },
      body: { text: { body: 'Hello' } },
      status: 200,
    });
    expect(all[2]?.query['client_secret']).toBe('…1234');
    expect(JSON.stringify(all)).not.toContain(ONE.token);
    expect(await world.emulator.requests({ method: 'post', path: 'messages$' })).toHaveLength(1);
    expect(await world.emulator.requests({ since: all[1]?.seq as number })).toHaveLength(1);
    expect(await world.emulator.requests({ since: '2999-01-01' })).toHaveLength(0);
    await world.emulator.clearRequests();
    expect(await world.emulator.requests()).toHaveLength(0);
  });

  it('are bounded while the summary still counts everything', async () => {
    const small = await startWorld({ message_log_max: 5, request_log_max: 3 });
    await small.emulator.limits({ rate_per_sec: 'off' });
    const api = apiOf(small.emulator, ONE.token);
    for (let i = 0; i < 12; i += 1) {
      await api('POST', `/${ONE.number}/messages`, aText(`1555010100${i % 4}`));
    }
    const seen = await small.emulator.messages();
    expect(seen.map(({ seq }) => seq)).toEqual([8, 9, 10, 11, 12]);
    expect(await small.emulator.requests()).toHaveLength(3);
    const summary = await small.emulator.summary();
    expect(summary).toMatchObject({
      total: 12,
      distinct_recipients: 4,
      max_sends_to_one_recipient: 3,
    });
    expect(Object.values(summary.per_second).reduce((a, b) => a + b, 0)).toBe(12);
    await small.close();
  });
});

it('describes itself at the root', async () => {
  const json = (await (await request(world.emulator.url)).body.json()) as Any;
  expect(json).toMatchObject({
    name: 'upstream emulator',
    documentation: 'test/emulator/README.md',
  });
  const page = await request(world.emulator.url, { headers: { accept: 'text/html' } });
  expect(await page.body.text()).toContain('<h1>Upstream emulator</h1>');
});
