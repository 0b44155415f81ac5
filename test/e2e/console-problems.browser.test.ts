// What broke, in a real browser: failures grouped by their cause, each fixed, tested and retried in
// one panel.
import { ONE } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { scopeOf } from './broadcast-support';
import { consoleStage, failDeliveries, inspect, sendTestEvent } from './console-stage';

const LOST = '15550100871';

const stage = consoleStage();

/** A message that the recipient cannot get, and a call that lacks a field. */
async function failSends(): Promise<string> {
  await stage.mesh.emulator.behaviour({ fail_status: [{ to: LOST, code: 131026 }] });
  const { body } = await stage.partner.call(
    'POST',
    '/messages/send',
    { to: LOST, text: 'Hi' },
    scopeOf(ONE),
  );
  await eventually(async () => {
    const { messages } = (
      await stage.partner.call('GET', `/messages?message_id=${body.message_id}`)
    ).body;
    return messages[0]?.status === 'failed' && messages[0].error_code === '131026';
  });
  const refused = await stage.partner.call('POST', '/messages/send', { to: LOST }, scopeOf(ONE));
  expect(refused.body.error.code).toBe('MISSING_FIELDS');
  return body.message_id as string;
}

test('groups failures by cause, and fixes, tests and retries deliveries in one panel', async () => {
  const contact = '15550100873';
  const message_id = await failSends();
  await failDeliveries(stage, { from: contact, id: 'wamid.BROKEN' });
  const page = await stage.openSignedIn('problems');
  const receiver = page.getByRole('region', { name: 'Your receiver' });
  const recipient = page.getByRole('region', { name: 'The recipient' });
  await recipient.getByText('the phone number is not on the platform').waitFor();
  await recipient.getByText(LOST).waitFor();
  await receiver.getByText(contact).waitFor();
  const sent = page.getByRole('region', { name: 'What you sent' });
  await sent.getByRole('button', { name: 'MISSING_FIELDS' }).waitFor();
  await inspect(page, 'problems-desktop-light');

  await receiver.getByRole('button', { name: 'HTTP 503' }).click();
  const panel = page.getByRole('dialog', { name: 'Your receiver: HTTP 503' });
  const row = panel.getByRole('listitem').filter({ hasText: contact }).first();
  await row.getByText('message.received').waitFor();
  await row.getByText(/\d attempts?$/).waitFor();
  await sendTestEvent(panel, 'The test event was not accepted');
  await inspect(page, 'problem-receiver-desktop-light');
  stage.partner.receiver.behave(undefined);
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
  const { messages } = (await stage.partner.call('GET', `/messages?message_id=${message_id}`)).body;
  expect(messages[0].trace_id).toMatch(/^[0-9a-f]{32}$/);
  await lost.getByText(`Trace ${messages[0].trace_id}`).waitFor();
  await inspect(page, 'problem-recipient-desktop-light');
  await lost.getByRole('link', { name: 'Check and send again' }).click();
  expect(await page.getByRole('textbox', { name: 'To' }).inputValue()).toBe(LOST);
});

test('states that nothing broke', async () => {
  const calm = await stage.mesh.createPartner({ name: 'Calm Software' });
  const page = await stage.openSignedIn('problems', undefined, calm.partner_key);
  await page.getByText('Nothing broke.').waitFor();
  await inspect(page);
});
