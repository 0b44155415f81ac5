// The documentation in a real browser: the reference, its links and samples, a request that its
// reader tries, the search, and links that lead nowhere.
import type { Locator, Page } from 'playwright-core';
import { ONE } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { faultsOf, inspect, overflowOf, shoot } from './console-stage';
import { docsStage, WAIT_MS } from './docs-stage';

const complaints: string[] = [];
const hosts = new Set<string>();
const stage = docsStage(() => stage.partner.register(ONE));
afterEach(() => {
  expect(complaints).toEqual([]);
  expect([...hosts]).toEqual([new URL(stage.origin).host]);
});

async function open(path: string): Promise<Page> {
  const page = await stage.browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(WAIT_MS);
  page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith('http')) hosts.add(host);
  });
  await page.goto(`${stage.origin}${path}`);
  return page;
}

test.each(['reference/messages#sendText', 'reference#sendText', 'reference#tag/messages/sendText'])(
  'the link %s opens the endpoint, and marks it and its place in the list',
  async (link) => {
    const page = await open(`/docs/${link}`);
    await page.waitForURL('**/docs/reference/messages#sendText');
    const row = page.getByRole('region', { name: 'Send a text message' });
    expect(await row.evaluate((section) => section.matches(':target'))).toBe(true);
    const listed = page.getByRole('navigation', { name: 'Reference' });
    await listed.locator('[aria-current=true]', { hasText: 'Send a text message' }).waitFor();
    await row.getByText(/error codes$/).click();
    const code = row.getByRole('link', { name: 'NO_ACTIVE_WABA' });
    expect(await code.getAttribute('href')).toBe('../errors#NO_ACTIVE_WABA');
    await page.close();
  },
);

test('the sample of an endpoint is copied in each of six languages, and so is its answer', async () => {
  const page = await open('/docs/reference/messages#sendText');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const row = page.getByRole('region', { name: 'Send a text message' });
  const copied = (code: Locator): Promise<boolean> =>
    eventually(
      async () =>
        (await page.evaluate(() => navigator.clipboard.readText())) === (await code.textContent()),
    );
  const languages = ['curl', 'Node.js', 'Python', 'PHP', 'Go', 'Java'];
  expect(await row.getByRole('tab').allTextContents()).toEqual(languages);
  for (const name of languages) {
    await row.getByRole('tab', { name }).click();
    await row.locator('.copy').first().click();
    const shown = row.getByRole('tabpanel');
    await copied(shown);
    expect(await shown.textContent()).toContain('/messages/send');
  }
  await row.locator('.copy').nth(1).click();
  await copied(row.locator('[data-language=json]'));
  await page.close();
});

const VIEWS = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'light', width: 390 },
  { colorScheme: 'dark', width: 390 },
] as const;
type View = (typeof VIEWS)[number];

async function openReference(path: string, { colorScheme, width }: View): Promise<Page> {
  const page = await open(`/docs/reference${path}`);
  await page.setViewportSize({ width, height: 860 });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.waitForLoadState('networkidle');
  return page;
}

test.each(VIEWS)(
  'the reference has no accessibility fault with every field open ($colorScheme, $width)',
  async (view) => {
    for (const path of ['', '/messages#sendInteractive', '/events#message.received']) {
      const page = await openReference(path, view);
      await shoot(
        page,
        `reference${path.split('#')[0]?.replace('/', '-')}-${view.width}-${view.colorScheme}`,
      );
      await page.evaluate(() => {
        for (const one of document.querySelectorAll('details')) one.open = true;
      });
      expect([path, await faultsOf(page)]).toEqual([path, []]);
      expect([path, await overflowOf(page)]).toEqual([path, 0]);
      await page.close();
    }
  },
);

test('samples are beside the text on a desk, and below it on a phone', async () => {
  const page = await openReference('/messages#sendText', VIEWS[0]);
  const row = page.getByRole('region', { name: 'Send a text message' });
  const boxes = async () => ({
    facts: await row.locator('.facts').boundingBox(),
    samples: await row.locator('.samples').boundingBox(),
  });
  const desk = await boxes();
  expect(desk.samples?.x).toBeGreaterThan((desk.facts?.x ?? 0) + (desk.facts?.width ?? 0));
  await page.setViewportSize({ width: 390, height: 844 });
  const phone = await boxes();
  expect(phone.samples?.y).toBeGreaterThanOrEqual(
    (phone.facts?.y ?? 0) + (phone.facts?.height ?? 0),
  );
  await page.close();
});

test.each(VIEWS)(
  'a request is tried from the reference in a dialog without a fault ($colorScheme, $width)',
  async (view) => {
    const page = await openReference('/onboarding-and-usage#listClients', view);
    const row = page.getByRole('region', { name: 'List registered numbers' });
    await row.getByRole('button', { name: 'Try it' }).click();
    const dialog = page.getByRole('dialog', { name: 'GET /clients' });
    await dialog.getByLabel('x-partner-key').fill(stage.partner.partner_key);
    await inspect(page);
    const answer = page.waitForResponse((one) => one.url() === `${stage.mesh.base_url}/clients`);
    await dialog.getByRole('button', { name: 'Send' }).click();
    expect((await answer).status()).toBe(200);
    await dialog.getByText('200 OK').waitFor();
    await dialog.getByText(ONE.waba_id).first().waitFor();
    await inspect(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.close();
  },
);

test('a request is tried with values in its path, its headers and its body', async () => {
  const page = await openReference('/phone-number-lifecycle#requestCode', VIEWS[0]);
  const sent: Array<{ url: string; body: string | null; headers: Record<string, string> }> = [];
  await page.route('**/v1/**', async (route) => {
    const request = route.request();
    sent.push({ url: request.url(), body: request.postData(), headers: request.headers() });
    await route.fulfill({ json: { success: true } });
  });
  await page
    .getByRole('region', { name: /^Request a verification/ })
    .getByRole('button', { name: 'Try it' })
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('x-partner-key').fill('bmgk_none');
  await dialog.getByLabel('Body').fill('{"code_method":"SMS"}');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await dialog.getByText('200').waitFor();
  expect(sent).toMatchObject([
    {
      url: `${stage.mesh.base_url}/phone/request-code`,
      body: '{"code_method":"SMS"}',
      headers: { 'x-partner-key': 'bmgk_none', 'x-waba-id': '900000000000001' },
    },
  ]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.goto(`${stage.origin}/docs/reference/number-setup#updateQrCode`);
  await page
    .getByRole('region', { name: /prefilled message of a QR code/ })
    .getByRole('button', { name: 'Try it' })
    .click();
  await dialog.getByLabel('x-partner-key').fill('bmgk_none');
  await dialog.getByLabel('code', { exact: true }).fill('a/b');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await dialog.getByText('200').waitFor();
  expect(sent[1]?.url).toBe(`${stage.mesh.base_url}/qr-codes/a%2Fb`);
  await page.close();
});

test('a link that leads nowhere shows a person a page, and a client the error of the contract', async () => {
  const page = await open('/docs');
  for (const path of ['/docs/nowhere', '/console', '/docs/reference/old/place']) {
    const answer = await page.goto(`${stage.origin}${path}`);
    expect(answer?.status()).toBe(404);
    await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor();
    await inspect(page);
    const error = await fetch(`${stage.origin}${path}`);
    expect(error.status).toBe(404);
    expect(await error.json()).toMatchObject({ success: false, error: { code: 'NOT_FOUND' } });
  }
  await page.getByRole('navigation').getByRole('link', { name: 'Quick start' }).click();
  await page.waitForURL('**/docs/quick-start');
  await page.close();
  complaints.length = 0;
});

test('the design tokens have a page, and the console, the documentation and the sign-up page share them', async () => {
  const page = await open('/docs/design');
  await page.getByRole('heading', { level: 1, name: 'Design tokens' }).waitFor();
  const accent = page.getByRole('row', { name: /^--accent / });
  await accent.getByText('#0b6e7d').waitFor();
  expect(
    await accent.locator('.sample').evaluate((sample) => getComputedStyle(sample).backgroundColor),
  ).toBe('rgb(11, 110, 125)');
  const { body } = await stage.partner.call('POST', '/connect/session');
  const connect_url = new URL(body.connect_url as string);
  // The sign-up page loads the upstream's script, from another host.
  const sign_up = await stage.browser.newPage();
  for (const [path, shown] of [
    ['/docs', page],
    ['/changelog', page],
    ['/dashboard/', page],
    [connect_url.pathname + connect_url.search, sign_up],
  ] as const) {
    await shown.goto(`${stage.origin}${path}`);
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
