// The log-in with the operator's issuer, in Chromium and with a real one: by the link of the
// invitation at first, by identity then, and the page for those who are not known.
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { startIssuer, type TestIssuer } from '../testkit/issuer';
import { consoleStage, inspect, settle } from './console-stage';
import { joinMeshWithName } from './people-support';

let issuer: TestIssuer;
const stage = consoleStage({
  join: () =>
    joinMeshWithName(async (public_url) => {
      issuer = await startIssuer(public_url);
      return issuer.settings;
    }),
});
afterAll(() => issuer.stop());

const RUN = randomUUID();
let count = 0;
async function invite(role: string) {
  const email = `${role}${(count += 1)}.${RUN}@example.com`;
  const { body } = await stage.partner.call('POST', '/people', { email, role });
  return { email, person_id: body.person.person_id as string, url: body.invitation_url as string };
}
const personOf = async (person_id: string) =>
  (await stage.partner.call('GET', `/people/${person_id}`)).body.person;

const link = (page: Page) => page.getByRole('link', { name: `Use ${new URL(issuer.url).host}` });

const openInvitation = (url: string): Promise<Page> =>
  stage.open(url.slice(`${stage.origin}/dashboard/`.length));

/** From the page of an invitation, on the issuer's own pages. */
async function acceptAs(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Use ${new URL(issuer.url).host} instead` }).click();
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

test('accepts an invitation by its link and verified address, and knows the person afterwards', async () => {
  const { email, person_id, url } = await invite('owner');
  const page = await openInvitation(url);
  await page.getByRole('heading', { name: /^Join / }).waitFor();
  await inspect(page, 'invitation-issuer');
  await acceptAs(page, email);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  expect(await personOf(person_id)).toMatchObject({ state: 'active', passkeys: 0 });
  const invitation = await openInvitation(url);
  await invitation.getByRole('heading', { name: 'This invitation does not work' }).waitFor();

  await page.goto(`${stage.origin}/dashboard/settings`);
  await settle(page);
  await page.getByRole('button', { name: 'Sign out everywhere' }).first().click();
  // The issuer still knows the person, and shows no page.
  await link(page).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
});

test.each(['nobody@example.com', 'unverified'])(
  'refuses %s, whose verified address is not the invited one',
  async (name) => {
    const { email, person_id, url } = await invite('support');
    const page = await openInvitation(url);
    await acceptAs(page, name === 'unverified' ? `unverified-${email}` : name);
    await page.getByText('The invitation is for another address').waitFor();
    await inspect(page, `sign-in-${name}`);
    expect((await personOf(person_id)).state).toBe('invited');
    // An account that is not known gets in nowhere if the link is missing.
    await page.goto(`${stage.origin}/dashboard/`);
    await link(page).click();
    await page.getByText('Nobody has signed in to this console with this account').waitFor();
  },
);

test('accepts no answer that the browser did not ask for', async () => {
  const page = await stage.open('');
  for (const query of ['', '?code=x&state=y', '?error=access_denied&state=y']) {
    await page.goto(`${stage.origin}/dashboard/api/session/issuer/callback${query}`);
    await page.getByText('was not accepted').waitFor();
  }
  await link(page).click();
  await page.locator('input[name=login]').waitFor();
  await page.goto(`${stage.origin}/dashboard/api/session/issuer/callback?code=x&state=y`);
  await page.getByText('was not accepted').waitFor();
});
