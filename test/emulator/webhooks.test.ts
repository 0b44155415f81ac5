import {
  aTemplate,
  aText,
  apiOf,
  bodyOf,
  eventually,
  ONE,
  startWorld,
  type Any,
  type Api,
  type World,
} from './test-support';

let world: World;
let api: Api;
beforeEach(async () => {
  world = await startWorld();
  api = apiOf(world.emulator, ONE.token);
  await world.emulator.patchAccount(ONE.waba, { subscribed: true });
  await world.emulator.behaviour({ delays_ms: { sent: 10, delivered: 30, read: 50, failed: 20 } });
  await world.emulator.limits({ rate_per_sec: 'off' });
});
afterEach(() => world.close());

const send = async (body: Any = aText()) => {
  const answer = await api('POST', `/${ONE.number}/messages`, body);
  expect(answer.status).toBe(200);
  return answer.body.messages[0].id as string;
};
const statuses = () => world.receiver.statuses();
const names = () => statuses().map(({ status }: Any) => status);

describe('the statuses of a send', () => {
  it('arrive as sent, delivered and read in the platform’s format', async () => {
    await world.emulator.behaviour({ service_billable: false });
    const id = await send(aText('15550100777', { biz_opaque_callback_data: 'bc:42:7' }));
    await eventually(() => statuses().length === 3);
    expect(names()).toEqual(['sent', 'delivered', 'read']);
    expect(statuses()[0]).toEqual({
      id,
      status: 'sent',
      timestamp: expect.stringMatching(/^\d{10}$/),
      recipient_id: '15550100777',
      recipient_user_id: 'US.4Qm7Zr81Kd02',
      recipient_parent_user_id: 'US.ENT.9Pt3Lw66Ha10',
      biz_opaque_callback_data: 'bc:42:7',
      conversation: {
        id: expect.any(String),
        expiration_timestamp: expect.any(String),
        origin: { type: 'service' },
      },
      pricing: {
        billable: false,
        pricing_model: 'PMP',
        type: 'free_customer_service',
        category: 'service',
      },
    });
    expect(statuses()[1].conversation.expiration_timestamp).toBeUndefined();
    expect(statuses()[2].pricing).toBeUndefined();
    const [change] = world.receiver.changes('messages');
    expect(change.value).toMatchObject({
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '15550100001', phone_number_id: ONE.number },
      contacts: [{ profile: { name: 'Ada' }, wa_id: '15550100777', user_id: 'US.4Qm7Zr81Kd02' }],
    });
  });

  it.each([
    ['2026-09-30T23:59:00Z', false],
    ['2026-10-01T00:00:00Z', true],
  ])('follow the platform’s prices of %s', async (date, billable) => {
    const now = Date.now;
    const shift = Date.parse(date) - now();
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + shift);
    try {
      await send();
      await eventually(() => statuses().length === 3);
    } finally {
      clock.mockRestore();
    }
    expect(statuses()[0].pricing.billable).toBe(billable);
  });

  it('of a template include its category and ID', async () => {
    await send(aTemplate('order_update', [bodyOf('Ada', 'A-17')]));
    await eventually(() => statuses().length === 3);
    expect(statuses()[0]).toMatchObject({
      template_id: '300000000000002',
      pricing: { billable: true, type: 'regular', category: 'utility' },
    });
  });

  it('of a reaction are only sent', async () => {
    await send({
      messaging_product: 'whatsapp',
      to: '15550100777',
      type: 'reaction',
      reaction: { message_id: 'wamid.X', emoji: '👍' },
    });
    await world.emulator.settled();
    expect(names()).toEqual(['sent']);
  });

  it('to a hidden number have no recipient_id', async () => {
    await send({ ...aText(), to: undefined, recipient: 'US.7Hidden00Kd1' });
    await eventually(() => statuses().length === 3);
    expect(statuses()[0].recipient_id).toBeUndefined();
    expect(statuses()[0].recipient_user_id).toBe('US.7Hidden00Kd1');
  });

  it('go to the override callback URL of the account', async () => {
    const other = await startWorld();
    await api('POST', `/${ONE.waba}/subscribed_apps`, {
      override_callback_uri: other.receiver.url,
      verify_token: 'verify-local',
    });
    await send();
    await eventually(() => other.receiver.statuses().length === 3);
    expect(world.receiver.received).toHaveLength(0);
    await other.close();
  });
});

describe('delivery', () => {
  it('accepts only 200 as an answer, and gives up after the last retry', async () => {
    await world.emulator.behaviour({ retry_delays_ms: [10, 10] });
    world.receiver.answers.splice(0, 1, 204);
    await world.emulator.inbound({ phone_number_id: ONE.number });
    await world.emulator.settled();
    expect(await world.emulator.webhooks()).toMatchObject({ failed: 3, acknowledged: 0, lost: 1 });
  });
});

describe('the review of a template', () => {
  it('ends with a webhook whose template ID is a number', async () => {
    await world.emulator.behaviour({ template_review: { delay_ms: 10 } });
    const { body } = await api('POST', `/${ONE.waba}/message_templates`, {
      name: 'fresh',
      language: 'en_US',
      category: 'MARKETING',
      components: [{ type: 'BODY', text: 'Hello' }],
    });
    await eventually(() => world.receiver.changes('message_template_status_update').length === 1);
    const [post] = world.receiver.received;
    expect(post?.raw).toContain(`"message_template_id":${body.id}`);
    expect(post?.body.entry[0].time).toEqual(expect.any(Number));
    const sent = await api('POST', `/${ONE.number}/messages`, aTemplate('fresh'));
    expect(sent.status).toBe(200);
  });
});
