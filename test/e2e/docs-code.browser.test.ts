// What a reader does with the documentation: choose a language, copy a sample, find the own number
// in it, send from the home page, and read it on a phone.
import type { Page } from 'playwright-core';
import { ONE, TWO_A } from '../harness/shared-mesh';
import { logIn } from './browser-stage';
import { faultsOf, inspect, overflowOf, shoot } from './console-stage';
import { docsStage } from './docs-stage';

const PHONE = { width: 390, height: 844 };

const stage = docsStage(async () => {
  for (const number of [ONE, TWO_A]) await stage.partner.register(number);
});

async function openSignedIn(path: string): Promise<Page> {
  const page = await stage.newPage();
  await logIn(page.context(), stage.origin, stage.partner.partner_key);
  await page.goto(`${stage.origin}${path}`);
  return page;
}

const clipboard = (page: Page): Promise<string> =>
  page.evaluate(() => navigator.clipboard.readText());

test('a sample is shown in the language that the reader chose, highlighted, and copied as it is', async () => {
  const page = await stage.open('/docs/sending');
  const sample = page.locator('.code').first();
  await sample.getByRole('tab', { name: 'curl', selected: true }).focus();
  await page.keyboard.press('ArrowRight');
  await sample.getByRole('tab', { name: 'Node.js', selected: true }).waitFor();
  const shown = sample.getByRole('tabpanel');
  await shown.locator('.hljs-keyword').first().waitFor();
  await sample.getByRole('button', { name: 'Copy' }).click();
  await sample.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await clipboard(page)).toBe(await shown.textContent());
  expect(await clipboard(page)).toMatch(/^import [^]*\nconst answer = await fetch\(`/);
  // Every sample has followed, and other pages do.
  expect(await page.getByRole('tab', { name: 'curl', selected: true }).count()).toBe(0);
  await inspect(page, 'docs-guide-desktop-light');
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await faultsOf(page, ['color-contrast'])).toEqual([]);
  await page.goto(`${stage.origin}/docs/errors`);
  await page.getByText('Shell').first().waitFor();
  await page.goto(`${stage.origin}/docs/answers`);
  await page.getByRole('tab', { name: 'Node.js', selected: true }).first().waitFor();
  await page.goto(`${stage.origin}/docs/reference#sendText`);
  const row = page.getByRole('region', { name: 'Send a text message' });
  await row.getByRole('tab', { name: 'Node.js', selected: true }).waitFor();
  // A chapter colours the samples that the reader sees.
  await row.locator('.hljs-keyword').first().waitFor();
  const last = page.locator('pre[role=tabpanel]:not([hidden])').last();
  expect(await last.locator('span').count()).toBe(0);
  const plain = await last.textContent();
  await last.scrollIntoViewIfNeeded();
  await last.locator('.hljs-keyword').first().waitFor();
  expect(await last.textContent()).toBe(plain);
});

test('a signed-in reader finds the own number in the samples, and the key nowhere', async () => {
  const page = await openSignedIn('/docs/quick-start');
  const note = page.locator('#reader');
  await note.waitFor();
  const { body } = await stage.partner.call('GET', '/clients');
  const names = body.clients.map((one: Record<string, string>) => one['display_name']);
  expect(await note.textContent()).toContain(names[0]);
  const text = page.getByRole('main');
  await text.getByText(`x-waba-id: ${ONE.waba_id}`).first().waitFor();
  await note.getByRole('combobox', { name: 'Number of the samples' }).selectOption({ index: 1 });
  await text.getByText(`x-waba-id: ${TWO_A.waba_id}`).first().waitFor();
  const content = await page.content();
  expect(content).not.toContain(stage.partner.partner_key);
  expect(content).not.toContain('bmgk_your_partner_key');
  await inspect(page);
  // So does a request that is tried from the reference.
  await page.goto(`${stage.origin}/docs/reference/messages`);
  await page.getByRole('button', { name: 'Try it' }).first().click();
  const waba = page.getByRole('dialog').getByLabel('x-waba-id');
  await waba.waitFor();
  expect(await waba.inputValue()).toBe(ONE.waba_id);
  // A page without samples of a number sends no request to the console.
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${stage.origin}/docs/limits`);
  await page.waitForLoadState('networkidle');
  expect(asked.filter((path) => path.startsWith('/dashboard'))).toEqual([]);
});

test('the home page sends a message and shows its events as they come', async () => {
  const visitor = await stage.open('/docs');
  await visitor.getByText('Sign in to the console, then send a message from here').waitFor();
  await inspect(visitor);
  const page = await openSignedIn('/docs');
  await page.getByLabel('To').fill('15550100791');
  await page.getByRole('button', { name: 'Send it now' }).click();
  const events = page.getByRole('list', { name: 'Events of the message' });
  for (const name of ['sent', 'delivered', 'read']) {
    await events.getByText(`message.${name}`, { exact: true }).waitFor();
  }
  await page.getByText(/^Accepted as wamid\./).waitFor();
  expect(await stage.mesh.emulator.messages({ to: '15550100791' })).toHaveLength(1);
  await inspect(page, 'docs-home-desktop-light');
  await page.getByLabel('To').fill('nobody');
  await page.getByRole('button', { name: 'Send it now' }).click();
  await page.getByText(/^It was not sent: /).waitFor();
  stage.complaints.length = 0;
});

test('a failure of the home page’s send says whether the message was sent', async () => {
  const page = await openSignedIn('/docs');
  const send = page.getByRole('button', { name: 'Send it now' });
  await page.getByLabel('To').fill('15550100792');
  await page.route('**/v1/events?after=*', (route) => route.abort());
  await send.click();
  await page.getByText(/^Accepted as wamid\..* It was sent, but its events could not/).waitFor();
  await page.unroute('**/v1/events?after=*');
  await page.route('**/v1/messages/send', (route) => route.abort());
  await send.click();
  await page.getByText(/^It may have been sent\. .*before you send it again/).waitFor();
  await page.unroute('**/v1/messages/send');
  await page.route('**/v1/events?limit=1', (route) => route.abort());
  await send.click();
  await page.getByText(/^It was not sent: /).waitFor();
  expect(await stage.mesh.emulator.messages({ to: '15550100792' })).toHaveLength(1);
  stage.complaints.length = 0;
});

const GUIDES = ['Guides', 'Answers', 'docs/answers'] as const;
const REFERENCE = ['Reference', 'Templates', 'docs/reference/templates'] as const;

test.each([
  ['docs', ...GUIDES],
  ['changelog', ...GUIDES],
  ['docs/reference/messages', ...REFERENCE],
])(
  'on a phone /%s has one menu, which leads everywhere, and does not scroll sideways',
  async (path, list, title, address) => {
    const page = await stage.open(`/${path}`, PHONE);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await page.waitForLoadState('networkidle');
    const menu = page.getByRole('button', { name: /menu/i });
    expect(await menu.count()).toBe(1);
    const listed = page.getByRole('navigation', { name: list });
    const link = listed.getByRole('link', { name: title, exact: true });
    expect(await listed.count()).toBe(0);
    expect(await overflowOf(page)).toBe(0);
    await shoot(page, `${path.replaceAll('/', '-')}-phone-light`);
    await menu.click();
    await listed.waitFor();
    await page.getByRole('link', { name: 'Changelog' }).first().waitFor();
    await page.getByRole('link', { name: 'Reference' }).first().waitFor();
    await inspect(page, `${path.replaceAll('/', '-')}-phone-menu`);
    await page.keyboard.press('Escape');
    await listed.waitFor({ state: 'hidden' });
    await menu.click();
    await link.click();
    await page.waitForURL(`**/${address}`);
  },
);
