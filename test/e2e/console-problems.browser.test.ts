// What broke, in a real browser: failures grouped by their cause, each fixed, tested and retried in
// one panel.
import { ONE, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { consoleStage, inspect, sendTestEvent, VIEWS, type ConsoleStage } from './console-stage';

const OF_ONE = { 'x-waba-id': ONE.waba_id };
const LOST = '15550100871';

let mesh: Mesh;
let partner: TestPartner;
let openSignedIn: ConsoleStage['openSignedIn'];
const stage = consoleStage({
  prepare: async () => ({ mesh, partner, openSignedIn } = stage),
});

/** A message that the recipient cannot get, and a call that lacks a field. */
async function failSends(): Promise<string> {
  await mesh.emulator.behaviour({ fail_status: [{ to: LOST, code: 131026 }] });
  const { body } = await partner.call('POST', '/messages/send', { to: LOST, text: 'Hi' }, OF_ONE);
  await eventually(async () => {
    const { messages } = (await partner.call('GET', `/messages?message_id=${body.message_id}`))
      .body;
    return messages[0]?.status === 'failed' && messages[0].error_code === '131026';
  });
  const refused = await partner.call('POST', '/messages/send', { to: LOST }, OF_ONE);
  expect(refused.body.error.code).toBe('MISSING_FIELDS');
  return body.message_id as string;
}

/** Events that the receiver answers with 503. */
async function failDeliveries(contact: string, ids: string[]): Promise<void> {
  partner.receiver.behave((_arrival, response) => void response.writeHead(503).end());
  for (const id of ids) {
    expect(await postRaw(mesh.ingress_url, inboundBody(ONE, { from: contact, id }))).toBe(200);
  }
  await eventually(async () => {
    const { events } = (await partner.call('GET', '/webhooks/failed?limit=100')).body;
    return events.some(
      (event: { last_http_status: number; payload: { data: { from?: string } } }) =>
        event.last_http_status === 503 && event.payload.data.from === contact,
    );
  });
}

test.each(VIEWS)(
  'groups failures by cause, and fixes, tests and retries deliveries in one panel ($name)',
  async (view) => {
    const contact = view.colorScheme === 'dark' ? '15550100872' : '15550100873';
    const message_id = await failSends();
    await failDeliveries(contact, [`wamid.BROKEN-${view.name}`]);
    const page = await openSignedIn('problems', view);
    const receiver = page.getByRole('region', { name: 'Your receiver' });
    const recipient = page.getByRole('region', { name: 'The recipient' });
    await recipient.getByText('the phone number is not on the platform').waitFor();
    await recipient.getByText(LOST).waitFor();
    await receiver.getByText(contact).waitFor();
    const sent = page.getByRole('region', { name: 'What you sent' });
    await sent.getByRole('button', { name: 'MISSING_FIELDS' }).waitFor();
    await inspect(page, `problems-${view.name}`);

    await receiver.getByRole('button', { name: 'HTTP 503' }).click();
    const panel = page.getByRole('dialog', { name: 'Your receiver: HTTP 503' });
    const row = panel.getByRole('listitem').filter({ hasText: contact }).first();
    await row.getByText('message.received').waitFor();
    await row.getByText(/\d attempts?$/).waitFor();
    await sendTestEvent(panel, 'The test event was not accepted');
    await inspect(page, `problem-receiver-${view.name}`);
    partner.receiver.behave(undefined);
    await sendTestEvent(panel, 'Your receiver accepted the test event');
    await panel.getByRole('button', { name: /^Deliver \d+ events? again/ }).click();
    await panel.getByText(/^Your receiver accepted (\d+) of \1 events?$/).waitFor();
    await inspect(page);
    await page.keyboard.press('Escape');
    await receiver.waitFor({ state: 'detached' });

    // A message that failed leads to its timeline, with the trace that operators see too.
    await recipient.getByRole('button', { name: '131026' }).click();
    const lost = page.getByRole('dialog', { name: 'The recipient: 131026' });
    await lost.getByText('Do not retry.').waitFor();
    const { messages } = (await partner.call('GET', `/messages?message_id=${message_id}`)).body;
    expect(messages[0].trace_id).toMatch(/^[0-9a-f]{32}$/);
    await lost.getByText(`Trace ${messages[0].trace_id}`).waitFor();
    await inspect(page, `problem-recipient-${view.name}`);
    await lost.getByRole('link', { name: 'Check and send again' }).click();
    expect(await page.getByRole('textbox', { name: 'To' }).inputValue()).toBe(LOST);
  },
);

test('states that nothing broke', async () => {
  const calm = await mesh.createPartner({ name: 'Calm Software' });
  const page = await openSignedIn('problems', undefined, calm.partner_key);
  await page.getByText('Nothing broke.').waitFor();
  await inspect(page);
});
