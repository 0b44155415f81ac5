// The documentation in a real browser: the reference under its content security policy, deep links,
// the search, and a request that its reader tries.
import { source as axeSource } from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { joinMesh, ONE, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { launchBrowser, STAGE_LIMIT_MS } from './connect-browser';
import { faultsOf } from './console-stage';

const WAIT_MS = 60_000;

let mesh: Mesh;
let browser: Browser;
let partner: TestPartner;
let origin: string;
const complaints: string[] = [];
const hosts = new Set<string>();

beforeAll(async () => {
  [mesh, browser] = await Promise.all([joinMesh(), launchBrowser()]);
  origin = new URL(mesh.base_url).origin;
  partner = await mesh.createPartner();
  await partner.register(ONE);
}, STAGE_LIMIT_MS);
afterAll(async () => {
  await browser?.close();
  await mesh?.stop();
});
afterEach(() => {
  expect(complaints).toEqual([]);
  expect([...hosts]).toEqual([new URL(origin).host]);
});

async function open(path: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(WAIT_MS);
  page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith('http')) hosts.add(host);
  });
  await page.goto(`${origin}${path}`);
  return page;
}

const seriousIn = async (page: Page): Promise<string[]> => {
  await page.evaluate(axeSource);
  const { violations } = (await page.evaluate(
    'axe.run(document, { runOnly: ["wcag2a", "wcag2aa"] })',
  )) as { violations: Array<{ id: string; impact: string }> };
  return violations.filter(({ impact }) => /serious|critical/.test(impact)).map(({ id }) => id);
};

test('the reference opens at the endpoint of a link, in six languages', async () => {
  const page = await open('/docs/reference#sendText');
  await page.getByRole('heading', { name: 'Send a text message' }).waitFor();
  await page.waitForURL('**#tag/messages/sendText');
  const sample = page.locator('[id="api/tag/messages/sendText"]');
  await sample.getByRole('button', { name: /curl/i }).first().click();
  await page.getByRole('option').first().waitFor();
  const options = await page.getByRole('option').allTextContents();
  for (const name of ['Curl', 'Fetch', 'Requests', 'cURL', 'NewRequest', 'java.net.http']) {
    expect(options.join(' ')).toContain(name);
  }
  await page.keyboard.press('Escape');
  const code = sample.getByRole('link', { name: 'NO_ACTIVE_WABA' });
  expect(await code.getAttribute('href')).toBe('errors#NO_ACTIVE_WABA');
  await page.close();
});

const VIEWS = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
] as const;
const PHONE = { colorScheme: 'light', width: 390 } as const;
type View = (typeof VIEWS)[number] | typeof PHONE;
const DRAWN_MS = 10_000;

/**
 * Opens the endpoint of sendText. Sections are drawn one after the other: that of the title may
 * come last.
 */
async function openReference({ colorScheme, width }: View): Promise<Page> {
  const page = await open('/docs/reference#sendText');
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.getByRole('heading', { name: 'Send a text message' }).waitFor();
  await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
  return page;
}

/** What fades in has weak colours until it is there. */
const expectNoFault = (page: Page, state: string): Promise<boolean> =>
  eventually(async () => {
    expect([state, await faultsOf(page)]).toEqual([state, []]);
    return true;
  }, DRAWN_MS);

test.each(VIEWS)(
  'the reference has no accessibility fault, one search, and a table of error codes ($colorScheme, $width)',
  async (view) => {
    const page = await openReference(view);
    const details = page.locator('[id="api/tag/messages/sendText"]').locator('.operation-details');
    const codes = details.locator('.codes');
    const row = codes.getByRole('row').filter({ hasText: 'NO_ACTIVE_WABA' });
    await row
      .getByRole('cell', { name: /paused because .* Retry after/ })
      .first()
      .waitFor();
    // Below the parameters.
    const top = async (part: Locator): Promise<number> => (await part.boundingBox())?.y ?? 0;
    const body = details.getByText('Body', { exact: true }).first();
    expect(await top(codes)).toBeGreaterThan(await top(body));
    expect(await page.getByRole('main').count()).toBe(1);
    expect(await page.getByRole('searchbox').count()).toBe(1);
    expect(await page.getByRole('search').count()).toBe(0);
    expect(await page.getByText('Powered by').count()).toBe(0);
    expect(await faultsOf(page)).toEqual([]);
    await page.close();
  },
);

test.each([...VIEWS, PHONE])(
  'a request is tried from the reference in a dialog without a fault ($colorScheme, $width)',
  async (view) => {
    const page = await openReference(view);
    await page.evaluate('location.hash = "listClients"');
    await page.getByRole('heading', { name: 'List registered numbers' }).waitFor();
    const list = page.locator('[id="api/tag/onboarding-and-usage/listClients"]');
    await list.getByRole('button', { name: /Test Request/ }).click();
    const dialog = page.getByRole('dialog');
    const key = dialog.getByRole('textbox', { name: /x-partner-key|Value/ }).first();
    await key.waitFor();
    await expectNoFault(page, 'before');
    await key.fill(partner.partner_key);
    const answer = page.waitForResponse((one) => one.url() === `${mesh.base_url}/clients`);
    await dialog.getByRole('button', { name: 'Send Request' }).click();
    expect((await answer).status()).toBe(200);
    await dialog.getByText('200 OK').first().waitFor();
    await expectNoFault(page, 'after');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.close();
  },
);

test('the guides are found by their words and pass the accessibility check', async () => {
  const page = await open('/docs/quick-start');
  expect(await seriousIn(page)).toEqual([]);
  await page.getByRole('searchbox', { name: 'Search' }).fill('idempotency key in use');
  await page.getByRole('link', { name: /IDEMPOTENCY_KEY_IN_USE/ }).click();
  await page.waitForURL('**/docs/errors#IDEMPOTENCY_KEY_IN_USE');
  await page.getByRole('searchbox', { name: 'Search' }).fill('message rec');
  await page.getByRole('link', { name: /^message.received/ }).click();
  await page.getByRole('heading', { name: 'A customer sent a message' }).waitFor();
  await page.close();
});

test('the design tokens have a page, and the console, the documentation and the sign-up page share them', async () => {
  const page = await open('/docs/design');
  await page.getByRole('heading', { level: 1, name: 'Design tokens' }).waitFor();
  const accent = page.getByRole('row', { name: /^--accent / });
  await accent.getByText('#0b6e7d').waitFor();
  expect(
    await accent.locator('.sample').evaluate((sample) => getComputedStyle(sample).backgroundColor),
  ).toBe('rgb(11, 110, 125)');
  expect(await seriousIn(page)).toEqual([]);
  const { body } = await partner.call('POST', '/connect/session');
  const connect_url = new URL(body.connect_url as string);
  // The sign-up page loads the upstream's script, from another host.
  const sign_up = await browser.newPage();
  for (const [path, shown] of [
    ['/docs', page],
    ['/changelog', page],
    ['/dashboard/', page],
    [connect_url.pathname + connect_url.search, sign_up],
  ] as const) {
    await shown.goto(`${origin}${path}`);
    await shown.waitForLoadState('networkidle');
    const probe = await shown.evaluate(() => {
      const element = document.createElement('p');
      document.body.append(element);
      // A style sheet may not be added: the property is set by the script.
      element.style.setProperty('color', 'var(--accent)');
      const { color } = getComputedStyle(element);
      element.remove();
      return color;
    });
    expect([path, probe]).toEqual([path, 'rgb(11, 110, 125)']);
  }
  await sign_up.close();
  await page.close();
});
