// Accessibility of every page of the documentation and of the sign-up page: on a desktop in both
// schemes, on a phone, and in the states that a reader brings them into. cspell:ignore zzzzqqqq
import type { Page } from 'playwright-core';
import { connectStage, press } from './connect-browser';
import { COLOURS, faultsOf, LIMIT_MS, overflowOf, shoot, VIEWS, WAIT_MS } from './console-stage';

const [DESK, PHONE] = VIEWS;
const PAGES_MIN = 24;
const UNKNOWN = 'zzzzqqqq';

const stage = connectStage();

async function open(path: string, { width, height } = DESK as { width: number; height: number }) {
  const context = await stage.browser.newContext({
    viewport: { width, height },
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  await page.goto(`${stage.gateway}${path}`);
  return page;
}

async function check(page: Page, state: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  expect([state, await faultsOf(page)]).toEqual([state, []]);
  await shoot(page, `axe-${state.replaceAll(/\W+/g, '-')}-light`);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect([state, 'dark', await faultsOf(page, COLOURS)]).toEqual([state, 'dark', []]);
  await shoot(page, `axe-${state.replaceAll(/\W+/g, '-')}-dark`);
}

/** Every page that the menu leads to, with the one of the design tokens. */
async function pathsOf(): Promise<string[]> {
  const page = await open('/docs');
  const links = page.locator('nav a[href]');
  const found = await links.evaluateAll((all) =>
    all.map((link) => new URL((link as HTMLAnchorElement).href).pathname),
  );
  await page.context().close();
  return [...new Set([...found, '/docs', '/docs/design'])].filter((path) =>
    /^\/(?:docs|changelog)(?:\/|$)/.test(path),
  );
}

test(
  'no page of the documentation has a fault or scrolls sideways, in either scheme and on a phone',
  async () => {
    const paths = await pathsOf();
    expect(paths.length).toBeGreaterThanOrEqual(PAGES_MIN);
    const [desk, phone] = [await open('/docs'), await open('/docs', PHONE)];
    for (const path of paths) {
      for (const page of [desk, phone]) {
        await page.goto(`${stage.gateway}${path}`);
        await page.getByRole('heading', { level: 1 }).first().waitFor();
        await page.waitForLoadState('networkidle');
        await check(page, `${path} ${page === desk ? DESK.name : PHONE.name}`);
        expect([path, await overflowOf(page)]).toEqual([path, 0]);
      }
    }
    await Promise.all([desk, phone].map((page) => page.context().close()));
  },
  2 * LIMIT_MS,
);

test('the search has no fault with results and without, and loads its index again after a failure', async () => {
  const page = await open('/docs/sending');
  const search = page.getByRole('searchbox', { name: 'Search' });
  await search.fill('price brazil');
  await page.locator('.found').getByRole('link').first().waitFor();
  await check(page, 'results of a search');
  await search.fill(UNKNOWN);
  await page.getByText(`Nothing was found for “${UNKNOWN}”.`).first().waitFor();
  await check(page, 'no result of a search');
  await page.route('**/search.json', (route) => route.abort());
  await page.reload();
  await search.fill('price');
  await page.getByText('The search could not be loaded').first().waitFor();
  await check(page, 'search not loaded');
  await page.unroute('**/search.json');
  await search.fill('price brazil');
  await page.locator('.found').getByRole('link').first().waitFor();
  await page.context().close();
});

describe('the sign-up page has no fault', () => {
  test('before, during and after a sign-up that was cancelled first', async () => {
    const { page, dialog } = await stage.begin();
    await page.getByText(/Ready\./).waitFor();
    await check(page, 'sign-up ready');
    const cancelled = await dialog();
    await check(page, 'sign-up in progress');
    await press(cancelled, '#cancel');
    await page.getByText(/closed before it was finished/).waitFor();
    await check(page, 'sign-up cancelled');
    await press(await dialog(), '#finish');
    await page.getByText(/Done\./).waitFor();
    await check(page, 'sign-up done');
    await page.reload();
    await page.getByText(/This link has been used/).waitFor();
    await check(page, 'sign-up used');
  });

  test('after a failure', async () => {
    await stage.mesh.emulator.fault({
      match: { path: '/oauth/access_token' },
      times: -1,
      error: { code: 100 },
    });
    const { page, dialog, message } = await stage.begin();
    await press(await dialog(), '#finish');
    expect((await message()).data['type']).toBe('SERVICE_CONNECT_ERROR');
    await check(page, 'sign-up failed');
    await stage.mesh.emulator.clearFaults();
  });

  test('for a link that is invalid', async () => {
    const page = await open('/connect?token=bmgc_wrong');
    await page.getByRole('heading').first().waitFor();
    await check(page, 'sign-up link invalid');
    await page.context().close();
  });
});
