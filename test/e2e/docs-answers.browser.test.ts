// The way from a question to its answer in the documentation, from the home page and in a browser
// that has seen nothing yet: with the search, with the list of answers, and with the keyboard.
import type { Page } from 'playwright-core';
import { docsStage } from './docs-stage';

/** What a reader types, and the heading of the answer. */
const QUESTIONS: ReadonlyArray<[typed: string, heading: string]> = [
  ['receiver was down', 'My receiver was down for three hours. What did I miss?'],
  ['send timed out', 'A send timed out. May I send it again?'],
  ['price brazil', 'What does a message cost in Brazil, Germany or India?'],
  ['charged as marketing', 'Why was a message charged as marketing?'],
  ['number stopped sending', 'A number stopped sending. Why?'],
  ['message did not arrive', 'Why did the message not arrive?'],
  ['signature wrong', 'Why is the signature of my webhook wrong?'],
  ['broadcast contacts failed', 'Why did some contacts of a broadcast fail?'],
  ['replace api key', 'How do I replace an API key without downtime?'],
  ['who changed webhook', 'Who changed our webhook address?'],
];

const stage = docsStage();

async function arrive(): Promise<Page> {
  const page = await stage.open('/docs');
  await page.getByRole('button', { name: 'Copy' }).first().waitFor();
  return page;
}

/** Waits until the heading can be read without scrolling. */
async function readable(page: Page, heading: string): Promise<void> {
  const found = page.getByRole('heading', { name: heading, exact: true });
  await found.waitFor();
  await page.waitForFunction((text) => {
    const all = [...document.querySelectorAll('h2')];
    const box = all.find(({ textContent }) => textContent === text)?.getBoundingClientRect();
    return box !== undefined && box.top >= 0 && box.bottom <= window.innerHeight;
  }, heading);
}

test('ten questions are two clicks from their answers', async () => {
  for (const [typed, heading] of QUESTIONS) {
    const searching = await arrive();
    await searching.getByRole('searchbox', { name: 'Search' }).click();
    await searching.keyboard.type(typed);
    await searching.locator('.found').getByRole('link', { name: heading }).click();
    await readable(searching, heading);
    await searching.context().close();

    const listing = await arrive();
    await listing.locator('.actions').getByRole('link', { name: 'Answers' }).click();
    const contents = listing.getByRole('navigation', { name: 'On this page' });
    await contents.getByRole('link', { name: heading }).click();
    await readable(listing, heading);
    await listing.context().close();
  }
});

test('the search leads with the keyboard to the best result', async () => {
  const page = await arrive();
  await page.keyboard.press('/');
  await page.keyboard.type('price brazil');
  await page.keyboard.press('Enter');
  await readable(page, 'What does a message cost in Brazil, Germany or India?');
  await page.keyboard.press('/');
  await page.keyboard.type('timed out');
  await page.locator('.found').getByRole('link').nth(1).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const second = page.locator('.found').getByRole('link').nth(1);
  const is_focused = await second.evaluate((link) => link === document.activeElement);
  expect(is_focused).toBe(true);
  await page.keyboard.press('Escape');
  await second.waitFor({ state: 'hidden' });
});
