// A change that needs a fresh log-in, in a real browser: the page asks for it, and makes the change
// then.
import { eventually } from '../testkit/eventually';
import { consoleStage, faultsOf } from './console-stage';
import { ageLogIns } from './people-support';

const stage = consoleStage();

test('the page asks for the partner key again, and reveals the webhook secret then', async () => {
  const page = await stage.openSignedIn('settings/receivers/webhook');
  await ageLogIns(stage.mesh, stage.partner);
  await page.getByRole('button', { name: 'Reveal' }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.waitFor();
  // The button behind the dialog stays busy, and the dialog fades in.
  await eventually(async () => (await faultsOf(page)).length === 0);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByText('log in again').first().waitFor();
  await page.getByRole('button', { name: 'Reveal' }).click();
  await dialog.getByRole('textbox', { name: 'Partner key' }).fill(stage.partner.partner_key);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await page
    .getByText(/^whsec_/)
    .first()
    .waitFor();
  expect(await dialog.count()).toBe(0);
});
