import { eventually } from '../testkit/eventually';
import {
  aTemplate,
  aText,
  apiOf,
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
const statuses = () => world.statuses();

describe('the statuses of a send', () => {
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
});

describe('delivery', () => {
  it('accepts only 200 as an answer, and gives up after the last retry', async () => {
    await world.emulator.behaviour({ retry_delays_ms: [10, 10] });
    world.receiver.behave((_arrival, response) => void response.writeHead(204).end());
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
    await eventually(() => world.changes('message_template_status_update').length === 1);
    const [post] = world.receiver.arrivals as Any[];
    expect(post?.raw).toContain(`"message_template_id":${body.id}`);
    expect(post?.body.entry[0].time).toEqual(expect.any(Number));
    const sent = await api('POST', `/${ONE.number}/messages`, aTemplate('fresh'));
    expect(sent.status).toBe(200);
  });
});
