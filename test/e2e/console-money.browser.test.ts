// Money in the console, in a real browser, with the sample rate card: what a message will cost and
// did cost, prices by country, category and day, and the forecast of the month.
import type { Page } from 'playwright-core';
import { ONE } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { createBroadcast } from './broadcast-support';
import { WAIT_MS } from './browser-stage';
import { consoleStage, inspect, overflowOf, settle, shoot } from './console-stage';
import { loadSampleRates, removeRates } from './rates-support';

const TO = '15550100790';

const stage = consoleStage({
  async prepare() {
    await loadSampleRates(stage.mesh);
    await eventually(async () => (await pricesOf('country=US')).length > 0);
  },
  leave: () => removeRates(stage.mesh),
});

const pricesOf = async (query: string): Promise<Array<{ price: string; market: string }>> =>
  (await stage.partner.call('GET', `/prices?${query}`)).body.prices;

test('shows what a message will cost, sends it, follows it, and finds it with its cost', async () => {
  const [service] = await pricesOf('country=US&category=service');
  const amount = `${service?.price} USD`;
  const page = await stage.openSignedIn(`messages/new?number=${ONE.phone_number_id}`);
  await page.getByRole('textbox', { name: 'To' }).fill(TO);
  const next = page.getByTestId('next-message');
  await next.getByText(`${amount} (service)`).waitFor();
  await inspect(page, 'message-price-desktop-light');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('Status delivered').waitFor();
  await page.goto(`${stage.origin}/dashboard/messages`);
  await page.getByLabel('Recipient or message ID').fill(TO);
  await page.getByText(amount).first().waitFor();
  await inspect(page, 'messages-cost-desktop-light');
  await page.getByRole('button', { name: TO }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText(amount).waitFor();
  await drawer.getByText(/^Event message.delivered/).waitFor();
  await drawer.getByText('Attempt 1: your receiver answered HTTP 200').first().waitFor();
  await inspect(page, 'message-timeline-desktop-light');
});

test('adds up what a broadcast cost', async () => {
  const [utility] = await pricesOf('country=US&category=utility');
  const contacts = ['15550100791', '15550100792', '15550100793'];
  const id = await createBroadcast(stage.partner, ONE, contacts, { name: 'Priced news' });
  const page = await stage.openSignedIn(`broadcasts?open=${id}`);
  const cost = page.getByTestId('broadcast-cost');
  await cost.getByText('for 3 messages').waitFor({ timeout: 2 * WAIT_MS });
  const sum = Number.parseFloat((await cost.textContent()) ?? '');
  expect(sum).toBeCloseTo(contacts.length * Number(utility?.price), 8);
  for (const [head, name] of [
    ['category', 'utility'],
    ['country', 'North America'],
  ] as const) {
    const row = page.getByRole('table', { name: `Cost by ${head}` }).getByRole('row', { name });
    expect(await row.textContent()).toContain(`${name}3 of 3${sum}`);
  }
  await inspect(page, 'broadcast-cost-desktop-light');
  for (const path of ['usage/ledger', 'usage/prices', 'usage']) {
    await page.goto(`${stage.origin}/dashboard/${path}`);
    await page
      .getByText(/^\d+\.\d+( USD)?$/)
      .first()
      .waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await settle(page);
      const found = [await cutAmounts(page), await overflowOf(page)];
      expect([path, width, ...found]).toEqual([path, width, [], 0]);
    }
  }
});

const WIDTHS = [390, 769, 900, 1_024];

/** The amounts and times that end outside the window or of their own cell. */
const cutAmounts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const cells = [...document.querySelectorAll('main td, main th, main [role=cell]')];
    const shown = cells.filter(
      (cell) => /\d\.\d{2}|\d:\d{2}/.test(cell.textContent ?? '') && cell.clientWidth > 0,
    );
    const isCut = (cell: Element): boolean =>
      cell.getBoundingClientRect().right >
        (cell.closest('section, .list') ?? document.body).getBoundingClientRect().right ||
      cell.scrollWidth > cell.clientWidth;
    return shown.filter(isCut).map((cell) => cell.textContent ?? '');
  });

test('the overview draws the cost by day, and compares categories and numbers with the period before', async () => {
  const today = new Date().toISOString().slice(0, 10);
  await eventually(async () => {
    const { totals } = (await stage.partner.call('GET', `/usage/ledger?from=${today}`)).body;
    return totals.amounts.length > 0;
  });
  const page = await stage.openSignedIn('');
  await page.getByRole('region', { name: 'Cost by day' }).scrollIntoViewIfNeeded();
  await page
    .getByRole('img', { name: /^[\d.,]+ USD from .* at most .* USD in one day$/ })
    .waitFor();
  await page.getByText('Cost by day as a table').click();
  const table = page.getByRole('table', { name: 'Cost by day' });
  const row = await table.getByRole('row').filter({ hasText: today }).textContent();
  expect(row).toMatch(/[\d.]+ USD$/);
  await inspect(page);
  await shoot(page, 'cost-by-day-desktop-light');
  const categories = page.getByRole('table', { name: 'Sent by category, now and before' });
  await categories.getByRole('row', { name: /^service 1 0 new$/ }).waitFor();
  const numbers = page.getByRole('table', { name: 'Ledger entries by number, now and before' });
  // The text and the broadcast of this file.
  await numbers.getByRole('row', { name: / 4 0 new$/ }).waitFor();
});

test('looks prices up by country, category and day', async () => {
  const page = await stage.openSignedIn('usage/prices');
  const table = page.getByRole('table', { name: 'Prices' });
  await table.getByRole('cell', { name: 'Rest of Western Europe' }).first().waitFor();
  await page.getByLabel('Country').fill('brazil');
  await table.getByRole('cell', { name: 'Argentina' }).first().waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: 'Category' }).click();
  await page.getByRole('option', { name: 'service' }).click();
  const [today] = await pricesOf('country=BR&category=service');
  await table.getByRole('cell', { name: today?.price ?? '', exact: true }).waitFor();
  // The rows of other categories may show the same price until the answer arrives.
  await eventually(async () => (await table.getByRole('row').count()) === 2);
  await table.getByRole('cell', { name: 'charged' }).waitFor();
  await page.getByLabel('Day').fill('2026-09-30');
  await table.getByRole('cell', { name: 'free' }).waitFor();
  await inspect(page, 'prices-desktop-light');
  await page.getByLabel('Country').fill('Atlantis');
  await page.getByText('country is not a country').waitFor();
  await inspect(page);
});

test('forecasts the month and shows what the price change means for the partner', async () => {
  const page = await stage.openSignedIn('usage');
  await page
    .getByRole('region', { name: 'This month' })
    .getByText(/^about .* USD$/)
    .waitFor();
  const change = page.getByRole('table', { name: 'Charges before and since the change' });
  const row = change.getByRole('row', { name: /^without a template/ });
  // Nothing was sent before the change; the one text of this file is charged.
  await row.getByText('no message').first().waitFor();
  await row.getByText('1 of 1').waitFor();
  await inspect(page, 'usage-desktop-light');
});
