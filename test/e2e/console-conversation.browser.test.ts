// The conversation with one contact, in a real browser: what was sent and received, the price of
// the next message, and a reply.
import { joinMesh, ONE } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { consoleStage, inspect, overflowOf, settle } from './console-stage';

const SECRET = 'A text that is nobody else’s business';

const stage = consoleStage();

const received = async (contact: string): Promise<boolean> =>
  stage.partner.receiver.of('message.received').some(({ body }) => body.data['from'] === contact);

test('shows both sides of a conversation without texts, and sends a reply at a known price', async () => {
  const contact = '15550100882';
  const { phone_number_id } = ONE;
  await stage.mesh.emulator.inbound({ phone_number_id, from: contact, text: SECRET });
  await eventually(() => received(contact));
  const page = await stage.openSignedIn(`messages/conversation?number=${phone_number_id}`);
  await page.getByLabel('Contact').fill(`+${contact}`);
  await page.getByRole('button', { name: 'Show' }).click();
  const turns = page.getByRole('list', { name: 'Messages' }).getByRole('listitem');
  await turns.filter({ hasText: 'Received: text' }).waitFor();
  const next = page.getByTestId('next-message');
  await next.getByText(/^open until/).waitFor();
  await next.getByText('messages without a template are billable from 2026-10-01').waitFor();
  await page.getByRole('textbox', { name: 'Text' }).fill('Thank you for your question');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('The message was sent.').waitFor();
  const sent = turns.filter({ hasText: 'Sent: text' });
  await sent.getByText(/delivered|read/).waitFor();
  expect(await turns.count()).toBe(2);
  const [message] = await stage.mesh.emulator.messages({ phone_number_id, to: contact });
  expect(JSON.stringify(message)).toContain('Thank you for your question');
  await settle(page);
  expect(await page.content()).not.toContain(SECRET);
  await inspect(page, 'conversation-desktop-light');
  expect(await overflowOf(page)).toBe(0);
  await sent.getByRole('link').click();
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('link', { name: 'Conversation' }).click();
  await turns.first().waitFor();
});

describe('if the operator has texts shown', () => {
  const own = consoleStage({ join: () => joinMesh({ CONSOLE_TEXTS: 'true' }, ['gateway']) });

  test('shows what the contact wrote', async () => {
    const { phone_number_id } = ONE;
    const contact = '15550100883';
    await own.mesh.emulator.inbound({ phone_number_id, from: contact, text: SECRET });
    const page = await own.openSignedIn(
      `messages/conversation?number=${phone_number_id}&find=${contact}`,
    );
    const turns = page.getByRole('list', { name: 'Messages' }).getByRole('listitem');
    await turns.getByText(SECRET, { exact: true }).waitFor();
    await inspect(page, 'conversation-texts');
  });
});
