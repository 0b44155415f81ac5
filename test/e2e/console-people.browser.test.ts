// People in the console, in Chromium with its virtual authenticator: an invitation, the log-in with
// a passkey, roles, passkeys and sessions.
import type { Page } from 'playwright-core';
import { consoleStage, inspect, settle, shoot, tabTo } from './console-stage';
import { createBroadcast, people, untilCompleted } from './broadcast-support';
import { ONE } from '../harness/shared-mesh';
import { joinMeshWithName } from './people-support';

const stage = consoleStage({
  join: () => joinMeshWithName(async () => ({ PROXY_HOPS: '1' })),
  behind_proxy: true,
});
afterEach(() => expect(stage.complaints.splice(0)).toEqual([]));

/** The page's device, which verifies its person without a question. */
async function addDevice(page: Page): Promise<{ remove(): Promise<unknown> }> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { remove: () => session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId }) };
}

let count = 0;
async function invite(role: string, partner = stage.partner) {
  const email = `${role}${(count += 1)}@example.com`;
  const { body } = await partner.call('POST', '/people', { email, role });
  return { email, url: body.invitation_url as string };
}

/** A page whose person has accepted an invitation. */
async function join(role: string, partner = stage.partner) {
  const { email, url } = await invite(role, partner);
  const page = await stage.open(url.slice(`${stage.origin}/dashboard/`.length));
  const device = await addDevice(page);
  await page.getByRole('heading', { name: /^Join / }).waitFor();
  await page.getByRole('button', { name: 'Create a passkey' }).click();
  await page.getByRole('navigation', { name: 'Screens' }).waitFor({ state: 'attached' });
  return { email, page, device };
}

test('a person accepts an invitation, leaves, and comes back with the passkey', async () => {
  const { email, url } = await invite('owner');
  const page = await stage.open(url.slice(`${stage.origin}/dashboard/`.length));
  await addDevice(page);
  await page.getByRole('heading', { name: 'Join Example Software' }).waitFor();
  await page.getByText(email).waitFor();
  await inspect(page, 'invitation-desktop-light');
  const create = page.getByRole('button', { name: 'Create a passkey' });
  await tabTo(page, create);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  expect(page.url()).toBe(`${stage.origin}/dashboard/`);

  await page.goto(`${stage.origin}/dashboard/settings`);
  await page.getByRole('heading', { name: 'Your passkeys' }).waitFor();
  // A request that is on its way would be refused, and the browser would report it.
  await settle(page);
  await page.getByRole('button', { name: 'Sign out everywhere' }).first().click();
  const use = page.getByRole('button', { name: 'Use a passkey' });
  await use.waitFor();
  await inspect(page, 'sign-in-passkey-desktop-light');
  await tabTo(page, use);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1 }).waitFor();
});

test('an owner invites a person, changes the role and removes it', async () => {
  const { page } = await join('owner');
  await page.goto(`${stage.origin}/dashboard/settings/people`);
  await page.getByRole('button', { name: 'Invite …' }).click();
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('Grace@Example.com');
  await inspect(page);
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  const link = await page.getByTestId('invitation').textContent();
  expect(link).toMatch(/\/dashboard\/invitation#[\w-]{43}$/);
  await shoot(page, 'people-link');
  await page.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row').filter({ hasText: 'grace@example.com' });
  await row.getByText('invited', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Role … grace@example.com' }).click();
  await page.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: /^support/ }).click();
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await row.getByText('support', { exact: true }).waitFor();
  await inspect(page, 'people');

  await page.getByRole('button', { name: 'Remove … grace@example.com' }).click();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await row.waitFor({ state: 'hidden' });
});

test('an owner sets a size for approval, and a second person approves a larger broadcast', async () => {
  const own = await stage.mesh.createPartner({ name: 'Large Broadcasts' });
  await own.register(ONE);
  const approver = await join('developer', own);
  const { page } = await join('owner', own);
  await page.goto(`${stage.origin}/dashboard/settings/people`);
  const card = page.getByRole('region', { name: 'Approval of broadcasts' });
  await card.getByText('Broadcasts of any size are sent without an approval.').waitFor();
  await card.getByRole('button', { name: 'Change the approval …' }).click();
  await page.getByRole('textbox', { name: 'Contacts without an approval' }).fill('2');
  await inspect(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await card.getByText('A broadcast to more than 2 contacts waits').waitFor();
  await card.scrollIntoViewIfNeeded();
  await inspect(page, 'approval-setting-desktop-light');

  const id = await createBroadcast(own, ONE, people(4), { name: 'Spring sale' });
  const second = approver.page;
  await second.goto(`${stage.origin}/dashboard/settings/people`);
  await second.getByText('Only a person with the role owner changes it.').waitFor();
  await second.goto(`${stage.origin}/dashboard/broadcasts`);
  await second.getByText('waits for approval').first().waitFor();
  await inspect(second);
  await second.goto(`${stage.origin}/dashboard/broadcasts?open=${id}`);
  const approve = second.getByRole('button', { name: 'Approve …' });
  await approve.waitFor();
  await inspect(second, 'approval-waits-desktop-light');
  await tabTo(second, approve);
  await second.keyboard.press('Enter');
  const dialog = second.getByRole('dialog', { name: 'Approve Spring sale?' });
  await dialog.getByText('a key', { exact: true }).waitFor();
  await dialog.getByText('Last one leaves').waitFor();
  await inspect(second, 'approval-confirm-desktop-light');
  await tabTo(second, dialog.getByRole('button', { name: 'Approve and send now' }));
  await second.keyboard.press('Enter');
  await dialog.waitFor({ state: 'hidden' });
  await second.getByText('Approved by').waitFor();
  await second.getByText(approver.email).waitFor();
  await untilCompleted(own, id, 60_000);
});

test('a person adds a second passkey, renames it and removes it', async () => {
  const { page, device } = await join('developer');
  await page.goto(`${stage.origin}/dashboard/settings`);
  const card = page.getByRole('region', { name: 'Your passkeys' });
  await card.getByText('My device').waitFor();
  expect(await card.getByRole('button', { name: 'Remove … My device' }).isDisabled()).toBe(true);
  // Another device of the same person.
  await device.remove();
  await addDevice(page);
  await card.getByRole('button', { name: 'Add …' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Phone');
  await inspect(page);
  await page.getByRole('button', { name: 'Create the passkey' }).click();
  await card.getByText('Phone').waitFor();
  await card.getByRole('button', { name: 'Rename … Phone' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Old phone');
  await inspect(page);
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await card.getByText('Old phone').waitFor();
  await card.scrollIntoViewIfNeeded();
  await inspect(page, 'passkeys');
  await card.getByRole('button', { name: 'Remove … Old phone' }).click();
  await page.getByRole('dialog').waitFor();
  await inspect(page);
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await card.getByText('Old phone').waitFor({ state: 'hidden' });
});

test('an invitation that was used says so', async () => {
  const page = await stage.open(`invitation#${'a'.repeat(43)}`);
  await page.getByRole('heading', { name: 'This invitation does not work' }).waitFor();
  await inspect(page);
  await page.getByRole('button', { name: 'Go to the sign-in' }).click();
  await page.getByRole('textbox', { name: 'Partner key' }).waitFor();
  // The browser reports the refusal.
  expect(stage.complaints.splice(0)).toEqual([expect.stringContaining('401')]);
});
