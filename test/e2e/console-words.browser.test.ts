// The words of the console, in a real browser: columns named by what they show, counts in the right
// number, and times with their zone.
import type { Page } from 'playwright-core';
import { ONE, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { createBroadcast, scopeOf } from './broadcast-support';
import {
  consoleStage,
  failDeliveries,
  reload,
  SCREENS,
  settle,
  visit as goTo,
} from './console-stage';

const TO = '15550100845';
const LOST = '15550100846';

let mesh: Mesh;
let own: TestPartner;
let page: Page;
const stage = consoleStage({
  prepare,
  leave: () => mesh.emulator.behaviour({ fail_status: null }),
});

async function prepare(): Promise<void> {
  ({ mesh } = stage);
  own = await mesh.createPartner({ name: 'Wordy Software' });
  await own.register(ONE);
  await own.call('POST', '/messages/send', { to: TO, text: 'Hello' }, scopeOf(ONE));
  await own.call('POST', '/messages/send', {}, scopeOf(ONE));
  await own.call('POST', '/keys', { name: 'Reports', scopes: ['read'] });
  await own.call('POST', '/people', { email: 'grace@example.com', role: 'support' });
  await mesh.emulator.behaviour({ fail_status: [{ to: LOST, code: 131_026 }] });
  await createBroadcast(own, ONE, [LOST], { name: 'One' });
  await eventually(async () => {
    const { messages } = (await own.call('GET', '/messages?status=failed')).body;
    return messages.length === 1;
  });
  await eventually(async () => {
    const { messages } = (await own.call('GET', `/messages?recipient=${TO}`)).body;
    return messages[0].pricing?.category;
  });
  await failDeliveries({ mesh, partner: own }, { from: TO, id: 'wamid.WORDS' });
}
beforeEach(async () => {
  page = await stage.openSignedIn('', undefined, own.partner_key);
});

async function visit(path: string): Promise<void> {
  await goTo(page, path);
  await settle(page);
}

/** The cell of a column in the row that has the text. */
async function cellOf(name: string, row: string, column: string): Promise<string> {
  const table = page.getByRole('table', { name, exact: true });
  const titles = await table.getByRole('columnheader').allTextContents();
  expect(titles).toContain(column);
  const cells = table.getByRole('row').filter({ hasText: row }).first().getByRole('cell');
  return (await cells.nth(titles.indexOf(column)).innerText()).trim();
}

test('a column with categories is called so, and the one with costs shows costs', async () => {
  await visit('messages');
  expect(await cellOf('Messages', TO, 'Category')).toMatch(/service/);
  expect(await cellOf('Messages', TO, 'Cost')).not.toMatch(/service|utility|marketing/);
  await visit('usage/ledger');
  await eventually(async () => {
    await reload(page);
    return (await page.getByRole('row').filter({ hasText: TO }).count()) > 0;
  });
  expect(await cellOf('Entries', TO, 'Category')).toMatch(/service/);
  expect(await cellOf('Entries', TO, 'Amount')).not.toMatch(/service|utility|marketing/);
  expect(await page.getByRole('columnheader', { name: 'Price' }).count()).toBe(0);
});

test('shows what is paid', async () => {
  await visit('usage');
  await page.getByText('1 billing slot for $10.00', { exact: true }).waitFor();
  await page.getByText('1 active, 1 at most this month', { exact: true }).waitFor();
  await visit('settings');
  await page.getByText('1 slot this month', { exact: true }).waitFor();
});

/** The browser's zone is Tokyo. */
const ZONE = 'GMT+9';

/** Times of day without a zone: in `time` elements, and in other text. */
const zonelessOf = (): Promise<string[]> =>
  page.evaluate((zone) => {
    const times = [...document.querySelectorAll('time')].flatMap((time) => {
      const { title, textContent: text } = time;
      const is_clock = /\d:\d\d/.test(text);
      // The times of a list have it in the title of their column.
      const column = time.closest('[role=cell]')?.getAttribute('data-label') ?? '';
      const has_zone = `${text} ${column}`.includes(zone);
      return title.endsWith(' UTC') && (!is_clock || has_zone) ? [] : [text];
    });
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts: string[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent ?? '';
      const { parentElement } = node;
      if (!/\b\d{1,2}:\d\d\b/.test(text) || /GMT|UTC|T\d\d:\d\d:\d\d/.test(text)) continue;
      if (parentElement?.closest('time, pre, script, style') === null) texts.push(text);
    }
    return [...times, ...texts];
  }, ZONE);

const ONE_AS_MANY =
  /(?<![\d.,])1 (?:accounts|attempts|calls|contacts|days|errors|events|hours|messages|numbers|(?:billing )?slots)\b/g;

test('every screen counts one thing as one, and every time has its zone, and UTC on hover', async () => {
  let clocks = 0;
  for (const path of [...Object.values(SCREENS), `messages?find=${TO}`]) {
    await visit(path);
    const plurals = (await page.getByRole('main').innerText()).match(ONE_AS_MANY) ?? [];
    expect([path, plurals, await zonelessOf()]).toEqual([path, [], []]);
    clocks += await page.locator(`time:has-text('${ZONE}'), [data-label*='${ZONE}'] time`).count();
  }
  expect(clocks).toBeGreaterThan(5);
  await visit('messages');
  await page.getByRole('button', { name: TO }).click();
  await page.getByRole('dialog').locator('time').first().waitFor();
  expect(await zonelessOf()).toEqual([]);
  await visit('events/failed');
  await page.getByRole('button', { name: 'message.received' }).click();
  await page.getByRole('dialog').locator('time').first().waitFor();
  expect(await zonelessOf()).toEqual([]);
});

test('the time of the receiver’s chart has its zone', async () => {
  await page.addInitScript(() => {
    const drawn: string[] = [];
    Object.assign(window, { drawn });
    const { prototype } = CanvasRenderingContext2D;
    const draw = prototype.fillText;
    prototype.fillText = function (this: CanvasRenderingContext2D, text, ...place) {
      drawn.push(text);
      draw.call(this, text, ...place);
    };
  });
  await visit('events');
  await page.getByTestId('receiver').waitFor();
  // The events before came within one second, which is one point of the chart.
  const later = inboundBody(ONE, { from: TO, id: 'wamid.LATER' });
  expect(await postRaw(mesh.ingress_url, later)).toBe(200);
  await page.getByRole('img', { name: /of the latest events accepted/ }).waitFor();
  await eventually(async () => {
    const drawn = await page.evaluate(() => (window as never as { drawn: string[] }).drawn);
    return drawn.includes(`Time in Asia/Tokyo (${ZONE})`);
  });
});
