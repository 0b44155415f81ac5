// The log-in with the operator's issuer, in Chromium and with a real one: by verified address at
// first, by identity then, and the page for those who are not invited.
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { startIssuer, type TestIssuer } from '../testkit/issuer';
import { STAGE_LIMIT_MS } from './connect-browser';
import { faultsOf, openConsoleStage, shoot, type ConsoleStage } from './console-stage';
import { joinMeshWithName } from './people-support';

let stage: ConsoleStage;
let issuer: TestIssuer;
beforeAll(async () => {
  stage = await openConsoleStage(() =>
    joinMeshWithName(async (public_url) => {
      issuer = await startIssuer(public_url);
      return issuer.settings;
    }),
  );
}, STAGE_LIMIT_MS);
afterEach(() => stage.tidy());
afterAll(async () => {
  await stage.close();
  await issuer.stop();
});

/**
 * Other test files invite people in the same database, and an address of several partners is
 * refused.
 */
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

/** On the issuer's own pages. */
async function signInAs(page: Page, name: string): Promise<void> {
  await link(page).click();
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

test('accepts an invitation by the verified address, and knows the person afterwards', async () => {
  const { email, person_id, url } = await invite('owner');
  const page = await stage.open('');
  await link(page).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await shoot(page, 'sign-in-issuer');
  await signInAs(page, email);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  expect(await personOf(person_id)).toMatchObject({ state: 'active', passkeys: 0 });
  const invitation = await stage.open(url.slice(`${stage.origin}/dashboard/`.length));
  await invitation.getByRole('heading', { name: 'This invitation does not work' }).waitFor();

  await page.goto(`${stage.origin}/dashboard/settings`);
  await page.getByRole('button', { name: 'Sign out everywhere' }).first().click();
  // The issuer still knows the person, and shows no page.
  await link(page).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
});

test.each(['nobody@example.com', 'unverified'])(
  'refuses %s, who is not invited with a verified address',
  async (name) => {
    const { email, person_id } = await invite('support');
    const page = await stage.open('');
    await signInAs(page, name === 'unverified' ? `unverified-${email}` : name);
    await page.getByText('is not invited to this console').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await shoot(page, `sign-in-${name}`);
    expect((await personOf(person_id)).state).toBe('invited');
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
