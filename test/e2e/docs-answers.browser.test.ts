// How far a question is from its answer in the documentation: clicks and seconds, with the search
// and with the list of answers. BMG_TIMES=write writes gateway/docs/answer-times.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { docsStage } from './docs-stage';

const PAGE = resolve(__dirname, '../../gateway/docs/answer-times.md');
const WRITES = process.env['BMG_TIMES'] === 'write';
/** A person who types 60 words a minute; a test types faster. */
const KEY_MS = WRITES ? 200 : 10;
/** Beyond the time for typing, on a machine that does other work. */
const SECONDS_MAX = 15;

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

interface Row {
  question: string;
  typed: string;
  /** The way by the search: clicks, seconds with the typing, and without. */
  clicks: number;
  seconds: number;
  waited: number;
  /** The way by the list of answers. */
  list_clicks: number;
  list_seconds: number;
}

const stage = docsStage();

/** The home page in a browser that has seen nothing yet. */
async function arrive(): Promise<Page> {
  const page = await stage.open('/docs', { width: 1280, height: 860 });
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

const secondsSince = (start: number): number => (performance.now() - start) / 1_000;

async function bySearch(
  typed: string,
  heading: string,
): Promise<[clicks: number, seconds: number]> {
  const page = await arrive();
  const start = performance.now();
  await page.getByRole('searchbox', { name: 'Search' }).click();
  await page.keyboard.type(typed, { delay: KEY_MS });
  await page.locator('.found').getByRole('link', { name: heading }).click();
  await readable(page, heading);
  const seconds = secondsSince(start);
  await page.context().close();
  return [2, seconds];
}

async function byList(heading: string): Promise<[clicks: number, seconds: number]> {
  const page = await arrive();
  const start = performance.now();
  const actions = page.locator('.actions');
  await actions.getByRole('link', { name: 'Answers' }).click();
  const contents = page.getByRole('navigation', { name: 'On this page' });
  await contents.getByRole('link', { name: heading }).click();
  await readable(page, heading);
  const seconds = secondsSince(start);
  await page.context().close();
  return [2, seconds];
}

const table = (rows: Row[]): string =>
  [
    '| Question | Typed | Clicks | Seconds | of them waiting | Clicks in the list | Seconds |',
    '|---|---|---|---|---|---|---|',
    ...rows.map(
      (row) =>
        `| ${row.question} | ${row.typed} | ${row.clicks} | ${row.seconds.toFixed(1)} | ${row.waited.toFixed(1)} | ${row.list_clicks} | ${row.list_seconds.toFixed(1)} |`,
    ),
  ].join('\n');

const TABLE = /\| Question \|[\s\S]*?\n(?!\|)/;

test('ten questions are two clicks from their answers', async () => {
  const rows: Row[] = [];
  for (const [typed, question] of QUESTIONS) {
    const [clicks, seconds] = await bySearch(typed, question);
    const [list_clicks, list_seconds] = await byList(question);
    const waited = seconds - (typed.length * KEY_MS) / 1_000;
    rows.push({ question, typed, clicks, seconds, waited, list_clicks, list_seconds });
  }
  for (const { question, waited, list_seconds } of rows) {
    expect([question, waited < SECONDS_MAX, list_seconds < SECONDS_MAX]).toEqual([
      question,
      true,
      true,
    ]);
  }
  const page = readFileSync(PAGE, 'utf8');
  if (WRITES) {
    writeFileSync(PAGE, page.replace(TABLE, `${table(rows)}\n`));
  } else for (const [, question] of QUESTIONS) expect(page).toContain(`| ${question} |`);
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
