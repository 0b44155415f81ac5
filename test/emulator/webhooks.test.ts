import { sign } from './signature';
import {
  aTemplate,
  aText,
  apiOf,
  bodyOf,
  eventually,
  ONE,
  startWorld,
  TWO,
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

  it('are signed over the exact bytes', async () => {
    await send();
    await eventually(() => world.receiver.received.length > 0);
    const [post] = world.receiver.received;
    expect(post?.headers['x-hub-signature-256']).toBe(sign(post?.raw ?? '', 'app-secret-local'));
    expect(post?.headers['content-type']).toBe('application/json');
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

  it('are not posted for an account that is not subscribed', async () => {
    await world.emulator.patchAccount(ONE.waba, { subscribed: false });
    await send();
    await world.emulator.settled();
    expect(world.receiver.received).toHaveLength(0);
  });

  it('that are due together share a webhook', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, i) => send(aText(`1555010${1000 + i}`))));
    await eventually(() => statuses().length === 120);
    expect(world.receiver.received.length).toBeLessThan(60);
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

describe('webhook behaviour', () => {
  it('leaves statuses out', async () => {
    await world.emulator.behaviour({ statuses: { delivered: false } });
    await send();
    await world.emulator.settled();
    expect(names()).toEqual(['sent', 'read']);
  });

  it('repeats every webhook', async () => {
    await world.emulator.behaviour({ duplicate: 2 });
    await send();
    await world.emulator.settled();
    expect(names().filter((name) => name === 'read')).toHaveLength(3);
    expect(statuses()).toHaveLength(9);
  });

  it('reorders statuses, in the same way for the same seed', async () => {
    const run = async (seed: number): Promise<string> => {
      world.receiver.clear();
      await world.emulator.behaviour({ reorder: true, seed });
      for (let i = 0; i < 4; i += 1) {
        await send();
        await world.emulator.settled();
      }
      return names().join();
    };
    const first = await run(7);
    expect(first).not.toBe(Array(4).fill('sent,delivered,read').join());
    expect(await run(7)).toBe(first);
  });

  it('holds back all webhooks until they are released', async () => {
    await world.emulator.behaviour({ hold: true });
    await send();
    // Longer than the statuses of a send take.
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(world.receiver.received).toHaveLength(0);
    await world.emulator.releaseWebhooks();
    await eventually(() => statuses().length === 3);
  });

  it('makes sends to one recipient fail', async () => {
    await world.emulator.behaviour({
      fail_status: { to: '15550100888', code: 131026, after_sent: true, times: 1 },
    });
    await send(aText('15550100777'));
    const id = await send(aText('15550100888'));
    await send(aText('15550100888'));
    await world.emulator.settled();
    const failed = statuses().filter(({ status }: Any) => status === 'failed');
    expect(failed).toHaveLength(1);
    expect(failed[0]).toMatchObject({ id, recipient_id: '15550100888' });
    expect(failed[0].recipient_user_id).toBeUndefined();
    expect(failed[0].errors[0]).toMatchObject({
      code: 131026,
      error_data: { details: expect.any(String) },
    });
  });

  it('fails sends at random, repeatable by seed', async () => {
    const run = async (): Promise<number> => {
      world.receiver.clear();
      await world.emulator.behaviour({ seed: 3, fail_status: { code: 131049, probability: 0.5 } });
      for (let i = 0; i < 20; i += 1) await send();
      await world.emulator.settled();
      return names().filter((name) => name === 'failed').length;
    };
    const first = await run();
    expect(first).toBeGreaterThan(3);
    expect(first).toBeLessThan(17);
    expect(await run()).toBe(first);
  });

  it('fails a send to a foreign business-scoped ID later', async () => {
    await send({ ...aText(), to: undefined, recipient: 'US.4Qm7Zr81Kd022' });
    await eventually(() => names().includes('failed'));
  });
});

describe('delivery', () => {
  it('retries until the receiver accepts', async () => {
    await world.emulator.behaviour({ retry_delays_ms: [20, 20, 20] });
    world.receiver.answers.splice(0, 1, 500, 404, 200);
    const { message_id, delivered, http_status } = await world.emulator.inbound({
      phone_number_id: ONE.number,
    });
    expect({ delivered, http_status }).toEqual({ delivered: false, http_status: 500 });
    await eventually(() => world.receiver.received.length === 3);
    expect(world.receiver.changes('messages')[2].value.messages[0].id).toBe(message_id);
    await world.emulator.settled();
    expect(await world.emulator.webhooks()).toMatchObject({ failed: 2, acknowledged: 1, lost: 0 });
  });

  it('accepts only 200 as an answer, and gives up after the last retry', async () => {
    await world.emulator.behaviour({ retry_delays_ms: [10, 10] });
    world.receiver.answers.splice(0, 1, 204);
    await world.emulator.inbound({ phone_number_id: ONE.number });
    await world.emulator.settled();
    expect(await world.emulator.webhooks()).toMatchObject({ failed: 3, acknowledged: 0, lost: 1 });
  });

  it('does not delay the next bodies after a refused one', async () => {
    await world.emulator.behaviour({ retry_delays_ms: [1_000] });
    world.receiver.answers.splice(0, 1, 500, 200);
    await send();
    await eventually(() => statuses().length === 4);
    expect(names()).toEqual(['sent', 'delivered', 'read', 'sent']);
  });

  it('drops planned statuses when the world is reset', async () => {
    await world.emulator.behaviour({ delays_ms: { delivered: 1_000, read: 1_000 } });
    await send();
    await world.emulator.reset();
    // Past the time at which the dropped ones were due.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(statuses().length).toBeLessThan(3);
    expect(await world.emulator.webhooks()).toMatchObject({ planned: 0, waiting: 0 });
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

  it('can be decided through control, also for quality and category', async () => {
    const name = 'order_update';
    await world.emulator.template({ waba_id: ONE.waba, name, status: 'PAUSED' });
    await world.emulator.template({ waba_id: ONE.waba, name, quality_score: 'RED' });
    await world.emulator.template({ waba_id: ONE.waba, name, category: 'MARKETING' });
    await eventually(() => world.receiver.received.length === 3);
    const [status] = world.receiver.changes('message_template_status_update');
    expect(status.value).toMatchObject({ event: 'PAUSED', reason: 'NONE' });
    const [quality] = world.receiver.changes('message_template_quality_update');
    expect(quality.value).toMatchObject({
      previous_quality_score: 'GREEN',
      new_quality_score: 'RED',
    });
    const [category] = world.receiver.changes('template_category_update');
    expect(category.value).toMatchObject({ previous_category: 'UTILITY' });
  });
});

it('keeps the numbers of an account separate', async () => {
  await world.emulator.patchAccount(TWO.waba, { subscribed: true });
  const two = apiOf(world.emulator, TWO.token);
  await two('POST', `/${TWO.number}/messages`, aText());
  await two('POST', `/${TWO.cloud_number}/messages`, aText());
  await eventually(() => statuses().length === 6);
  const ids = world.receiver.changes().map(({ value }) => value.metadata.phone_number_id);
  expect(new Set(ids)).toEqual(new Set([TWO.number, TWO.cloud_number]));
});

describe('swallowed webhooks', () => {
  it('are never posted, and message_history still has their statuses', async () => {
    await world.emulator.behaviour({ swallow: 1 });
    const id = await send();
    expect(await world.emulator.settled()).toBe(true);
    expect(statuses()).toEqual([]);
    expect(await world.emulator.webhooks()).toMatchObject({ lost: 3 });
    const history = (query: string) => api('GET', `/${ONE.number}/message_history?${query}`);
    const fields = 'fields=id,message_id,events{id,delivery_status,timestamp,error_description}';
    const [message] = (await history(`${fields}&message_id=${id}`)).body.data;
    expect(message.message_id).toBe(id);
    const told = message.events.data.map(({ delivery_status }: Any) => delivery_status);
    expect(told).toEqual(['SENT', 'DELIVERED', 'READ']);
    expect(message.events.data[0].timestamp).toEqual(expect.any(Number));
    expect((await history('')).body.data).toEqual([{ id: expect.any(String), message_id: id }]);
    expect((await history('message_id=wamid.unknown')).body.data).toEqual([]);
    expect((await history('fields=nothing')).body.error.code).toBe(100);
  });
});
