// The documentation in a real browser: the reference, its links and samples, a request that its
// reader tries, the search, and links that lead nowhere.
import type { Locator, Page } from 'playwright-core';
import { ONE } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { faultsOf, inspect, overflowOf, shoot, VIEWS, type View } from './console-stage';
import { docsStage } from './docs-stage';

const stage = docsStage(() => stage.partner.register(ONE));

test.each(['reference/messages#sendText', 'reference#sendText', 'reference#tag/messages/sendText'])(
  'the link %s opens the endpoint, and marks it and its place in the list',
  async (link) => {
    const page = await stage.open(`/docs/${link}`);
    await page.waitForURL('**/docs/reference/messages#sendText');
    const row = page.getByRole('region', { name: 'Send a text message' });
    expect(await row.evaluate((section) => section.matches(':target'))).toBe(true);
    const listed = page.getByRole('navigation', { name: 'Reference' });
    await listed.locator('[aria-current=true]', { hasText: 'Send a text message' }).waitFor();
    await row.getByText(/error codes$/).click();
    const code = row.getByRole('link', { name: 'NO_ACTIVE_WABA' });
    expect(await code.getAttribute('href')).toBe('../errors#NO_ACTIVE_WABA');
  },
);

test('the sample of an endpoint is copied in each of six languages, and so is its answer', async () => {
  const page = await stage.open('/docs/reference/messages#sendText');
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
});

async function openReference(path: string, { colorScheme, width }: View): Promise<Page> {
  const page = await stage.open(`/docs/reference${path}`);
  await page.setViewportSize({ width, height: 860 });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.waitForLoadState('networkidle');
  return page;
}

test.each(VIEWS)(
  'the reference has no accessibility fault with every field open ($name)',
  async (view) => {
    for (const path of ['', '/messages#sendInteractive', '/events#message.received']) {
      const page = await openReference(path, view);
      await shoot(page, `reference${path.split('#')[0]?.replace('/', '-')}-${view.name}`);
      await page.evaluate(() => {
        for (const one of document.querySelectorAll('details')) one.open = true;
      });
      expect([path, await faultsOf(page)]).toEqual([path, []]);
      expect([path, await overflowOf(page)]).toEqual([path, 0]);
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
});

test.each(VIEWS)('a request is tried from the reference ($name)', async (view) => {
  const page = await openReference('/onboarding-and-usage#listClients', view);
  const row = page.getByRole('region', { name: 'List registered numbers' });
  await row.getByRole('button', { name: 'Try it' }).click();
  const dialog = page.getByRole('dialog', { name: 'GET /clients' });
  await dialog.getByLabel('x-partner-key').fill(stage.partner.partner_key);
  await inspect(page);
  await dialog.getByRole('button', { name: 'Send' }).click();
  await dialog.getByText('200 OK').waitFor();
  await dialog.getByText(ONE.waba_id).first().waitFor();
  await inspect(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

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
});

test('a link that leads nowhere shows a page with links to the documentation', async () => {
  const page = await stage.open('/docs');
  const answer = await page.goto(`${stage.origin}/docs/reference/old/place`);
  expect(answer?.status()).toBe(404);
  await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor();
  await inspect(page);
  await page.getByRole('navigation').getByRole('link', { name: 'Quick start' }).click();
  await page.waitForURL('**/docs/quick-start');
  stage.complaints.length = 0;
});

test('the design tokens have a page, and the console, the documentation and the sign-up page share them', async () => {
  const page = await stage.open('/docs/design');
  const accent = page.getByRole('row', { name: /^--accent / });
  await accent.getByText('#0b6e7d').waitFor();
  const shown = (sample: Element): string => getComputedStyle(sample).backgroundColor;
  expect(await accent.locator('.sample').evaluate(shown)).toBe('rgb(11, 110, 125)');
  const { body } = await stage.partner.call('POST', '/connect/session');
  // The sign-up page loads the upstream's script, from another host.
  const sign_up = await stage.browser.newPage();
  const paths = ['/docs', '/changelog', '/dashboard/', new URL(body.connect_url as string)];
  for (const path of paths) {
    await sign_up.goto(new URL(path, stage.origin).href);
    await sign_up.waitForLoadState('networkidle');
    const probe = await sign_up.evaluate(() => {
      document.body.style.setProperty('color', 'var(--accent)');
      return getComputedStyle(document.body).color;
    });
    expect([path, probe]).toEqual([path, 'rgb(11, 110, 125)']);
  }
  await sign_up.close();
});
