// The console in a real browser, in the states that a person brings it into: panels, dialogs,
// notices, retries and outcomes, each checked for accessibility and used with the keyboard only.
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { ONE } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { createBroadcast, people, scopeOf } from './broadcast-support';
import {
  consoleStage,
  inspect,
  isFocused,
  reload,
  saved,
  sendTestEvent,
  settle,
  shoot,
  VIEWS,
} from './console-stage';

const TO = '15550100831';

const stage = consoleStage({
  prepare: () =>
    stage.partner.call('POST', '/messages/send', { to: TO, text: 'Hello' }, scopeOf(ONE)),
});

test('lists notices with what else needs attention, until they are done or dismissed', async () => {
  const own = await stage.mesh.createPartner({ name: 'Tidy Software' });
  const { notice_id } = await stage.mesh.operator.notifyPartner(
    {
      ...{ partner_id: own.partner_id, severity: 'action_required' },
      ...{ subject: 'Receiver down', text: 'It answers 503.' },
    },
    stage.mesh.call(),
  );
  const page = await stage.openSignedIn('', undefined, own.partner_key);
  const list = page.getByRole('region', { name: 'Needs attention' });
  const to_own = list.getByTestId(notice_id);
  await to_own.getByText('Action required: Receiver down').waitFor();
  await to_own.getByText('It answers 503.').waitFor();
  expect(await to_own.getByRole('link').count()).toBe(0);
  const billable = list.getByTestId('service-messages-billable-2026-10-01');
  await billable.getByText('Action required: in effect since October 1, 2026').waitFor();
  expect(await page.getByText('nothing needs your attention').count()).toBe(0);
  await billable.getByRole('link', { name: 'See what your messages cost' }).waitFor();
  await inspect(page, 'notices-desktop-light');
  for (const notice of [to_own, billable]) {
    await notice.getByRole('button', { name: 'Mark as done' }).click();
    await notice.waitFor({ state: 'detached' });
  }
  await list.getByRole('button', { name: 'Dismiss' }).click();
  await list.getByText('nothing needs your attention').waitFor();
  await reload(page);
  await list.getByText('nothing needs your attention').waitFor();
  await list.getByText('Handled notices (3)').click();
  await list.getByText('dismissed', { exact: true }).waitFor();
  await inspect(page);
  await list.getByRole('button', { name: 'Open again' }).first().click();
  await to_own.waitFor();
});

test('shows notices, and says what it could not read, without the settings', async () => {
  const page = await stage.openSignedIn('');
  await page.route('**/dashboard/api/settings', (route) => route.abort());
  await page.reload();
  const list = page.getByRole('region', { name: 'Needs attention' });
  await list.getByTestId('service-messages-billable-2026-10-01').waitFor();
  await page.getByText('Sent', { exact: true }).first().waitFor();
  await list.getByText('Failed to load a part of this list').waitFor();
  expect(await list.getByText('nothing needs your attention').count()).toBe(0);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  stage.complaints.splice(0);
});

/** A chart is drawn when it is nearly seen, and shown once nothing above it moves any more. */
async function showCharts(page: Page): Promise<void> {
  const title = page.getByText('Messages by day', { exact: true });
  await title.waitFor();
  await title.scrollIntoViewIfNeeded();
}

/** Above this, people lose their place in a page. */
const SHIFT_MAX = 0.05;
const ANSWER_MS = 150;

test.each(VIEWS)('the overview does not move while it loads ($name)', async (view) => {
  const page = await stage.openSignedIn('numbers', view);
  await page.addInitScript(() => {
    const seen = window as never as { shifts: number };
    seen.shifts = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        seen.shifts += (entry as never as { value: number }).value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  // Each answer comes later than the one before it.
  let answers = 0;
  await page.route(/\/dashboard\/api\/(?!session)/, async (route) => {
    await delay((answers += 1) * ANSWER_MS);
    await route.continue().catch(() => undefined);
  });
  await page.goto(`${stage.origin}/dashboard/`);
  await showCharts(page);
  await page.getByRole('img', { name: /messages sent from/ }).waitFor();
  await settle(page);
  const shifts = await page.evaluate(() => (window as never as { shifts: number }).shifts);
  expect(shifts).toBeLessThan(SHIFT_MAX);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('draws the messages by day, with the same figures in a table', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const sentToday = async (): Promise<number> => {
    const { messages } = (await stage.partner.call('GET', `/usage?from=${today}&to=${today}`)).body;
    const all = Object.values(messages as Record<string, { sent: number }>);
    return all.reduce((sum, { sent }) => sum + sent, 0);
  };
  await eventually(async () => (await sentToday()) > 0);
  const page = await stage.openSignedIn('');
  const chart = page.getByRole('img', { name: /messages sent from .* to .*, at most/ });
  await showCharts(page);
  await chart.waitFor();
  await page.getByText('0 in the period before').first().waitFor();
  await settle(page);
  // The keyboard marks a day as the pointer does.
  const marked = chart.locator('xpath=..').getByRole('status');
  await chart.focus();
  await page.keyboard.press('ArrowLeft');
  expect(await marked.textContent()).toMatch(/Sent: [1-9].*Sent before: 0$/);
  await shoot(page, 'traffic-marked-desktop-light');
  await page.keyboard.press('Home');
  await marked.getByText('Sent: 0', { exact: true }).waitFor();
  await page.keyboard.press('Tab');
  await marked.waitFor({ state: 'hidden' });
  await chart.hover();
  await marked.waitFor();
  await page.getByText('Messages by day as a table').click();
  const table = page.getByRole('table', { name: 'Messages by day' });
  const cells = table.getByRole('row').filter({ hasText: today }).getByRole('cell');
  expect(Number(await cells.nth(1).textContent())).toBeGreaterThan(0);
  expect(await table.getByRole('row').count()).toBe(8);
  await inspect(page, 'traffic-desktop-light');
});

test('counts the events, and draws those of each day and the answer times, with a table', async () => {
  await eventually(() => stage.partner.receiver.of('message.delivered').length > 0);
  const page = await stage.openSignedIn('');
  await page.getByRole('region', { name: 'Events by day' }).scrollIntoViewIfNeeded();
  await page.getByRole('img', { name: /^\d+ events? from .* to .*, at most/ }).waitFor();
  await page.getByRole('img', { name: /^The median answer time .*, at most [\d,]+ ms$/ }).waitFor();
  const today = new Date().toISOString().slice(0, 10);
  const figureOf = async (title: string): Promise<string | null> => {
    await page.getByText(`${title} as a table`).click();
    const table = page.getByRole('table', { name: title, exact: true });
    expect(await table.getByRole('row').count()).toBe(8);
    const row = table.getByRole('row').filter({ hasText: today });
    return row.getByRole('cell').nth(1).textContent();
  };
  expect(Number((await figureOf('Events by day'))?.replace(/\D/g, ''))).toBeGreaterThan(0);
  expect(await figureOf('Accepted')).toMatch(/^\d+(\.\d)?%$/);
  expect(await figureOf('Answer time')).toMatch(/^[\d,]+ ms$/);
  await page.getByText(/^of the latest \d+ events$/).waitFor();
  const logged = page.getByText('in your log', { exact: true }).locator('xpath=..');
  expect(Number((await logged.textContent())?.replace(/\D/g, ''))).toBeGreaterThan(0);
  await inspect(page);
  await page.getByRole('region', { name: 'Events by day' }).scrollIntoViewIfNeeded();
  await shoot(page, 'event-days-desktop-light');
});

const TEST_EVENT = 'webhook.test';

test('shows a test event in the live list within a second, below an intact header', async () => {
  const page = await stage.openSignedIn('events');
  await page.getByText('New events appear at once').waitFor();
  const send = page.getByRole('button', { name: 'Send a test event' });
  const before = await send.boundingBox();
  const [answer] = await Promise.all([
    page.waitForResponse((one) => one.url().endsWith('/webhook-test')),
    send.click(),
  ]);
  expect(answer.status()).toBe(200);
  const row = page.getByRole('table').getByRole('button', { name: TEST_EVENT });
  await page.getByText('Your receiver accepted the test event').waitFor();
  // Together with the outcome, and not when the log is read next.
  expect(await row.count()).toBe(1);
  expect(await send.boundingBox()).toEqual(before);
  await inspect(page, 'test-event-desktop-light');
  await row.click();
  await page.getByRole('dialog').getByText('is not in the event log').waitFor();
  await inspect(page);
  await page.keyboard.press('Escape');
  await eventually(() => isFocused(row));
  stage.partner.receiver.behave((_arrival, response) => void response.writeHead(503).end());
  await sendTestEvent(page, 'The test event was not accepted');
  expect(await row.count()).toBeGreaterThanOrEqual(2);
  await inspect(page);
  stage.partner.receiver.behave(undefined);
});

test('pauses a broadcast, shows how many contacts wait, resumes it and cancels it in a pause', async () => {
  const broadcast_id = await createBroadcast(stage.partner, ONE, people(400), {
    name: 'Winter sale',
  });
  const detail = async () => (await stage.partner.call('GET', `/broadcasts/${broadcast_id}`)).body;
  const page = await stage.openSignedIn(`broadcasts?open=${broadcast_id}`);
  const drawer = page.getByRole('dialog');
  await drawer.getByText('processing', { exact: true }).waitFor();
  await drawer.getByRole('button', { name: 'Pause' }).focus();
  await page.keyboard.press('Enter');
  await drawer.getByText('paused', { exact: true }).waitFor();
  await drawer
    .getByRole('status')
    .getByText(/^Paused: \d+ contacts wait/)
    .waitFor();
  const resume = drawer.getByRole('button', { name: 'Resume' });
  await resume.waitFor();
  await page.keyboard.press('Tab');
  expect(await isFocused(resume)).toBe(true);
  await inspect(page, 'broadcast-paused-desktop-light');
  const { broadcast, progress } = await detail();
  expect(broadcast).toMatchObject({ status: 'processing', paused_at: expect.any(String) });
  await resume.press('Enter');
  await eventually(async () => (await detail()).progress > progress);
  await drawer.getByText(/ so far$/).waitFor();
  await drawer.getByRole('button', { name: 'Pause' }).dblclick();
  await drawer.getByText(/^Pausing …/).waitFor();
  await resume.waitFor();
  expect((await detail()).broadcast.paused_at).toEqual(expect.any(String));
  await drawer.getByRole('button', { name: 'Cancel the broadcast' }).click();
  const confirm = page.getByRole('dialog', { name: 'Cancel Winter sale?' });
  await confirm.getByText(/^\d+ contacts have no message yet and will get none/).waitFor();
  await inspect(page);
  await confirm.getByRole('button', { name: 'Cancel the broadcast' }).click();
  await drawer.getByText('cancelled', { exact: true }).waitFor();
  await confirm.waitFor({ state: 'detached' });
  await eventually(() => drawer.evaluate((panel) => panel.contains(document.activeElement)));
  const { sent, failed, total } = (await detail()).broadcast;
  expect(sent + failed).toBeLessThan(total);
  await inspect(page);
});

const REACHED = '15550100861';
const LOST = '15550100862';

test('shows the recipients and failures of a broadcast, saves both, and sends again to the failed', async () => {
  await stage.mesh.emulator.behaviour({ fail_status: [{ to: LOST, code: 131026 }] });
  const id = await createBroadcast(stage.partner, ONE, [REACHED, LOST], { name: 'Lossy' });
  const page = await stage.openSignedIn(`broadcasts?open=${id}`);
  const drawer = page.getByRole('dialog');
  const recipients = drawer.getByRole('list', { name: 'Recipients' });
  const lost = recipients.getByRole('listitem').filter({ hasText: LOST });
  await lost.getByText(/^131026: /).waitFor();
  await recipients.getByRole('listitem').filter({ hasText: REACHED }).waitFor();
  await stage.mesh.emulator.behaviour({ fail_status: [] });
  await drawer.getByText('completed', { exact: true }).waitFor();
  await inspect(page, 'recipients-desktop-light');
  await eventually(async () => {
    const { messages } = (await stage.partner.call('GET', `/messages?broadcast_id=${id}`)).body;
    return messages.some(({ status }: { status: string }) => /delivered|read/.test(status));
  });
  await drawer
    .getByRole('img', { name: /^1 of 2 messages delivered and 1 failed within/ })
    .waitFor();
  await drawer.getByText('Delivery over time as a table').click();
  const table = drawer.getByRole('table', { name: 'Delivery over time' });
  await table.getByText('Time, GMT+9').waitFor();
  const cells = await table.getByRole('row').last().getByRole('cell').allTextContents();
  expect(cells.slice(1)).toEqual(['2', '1', '1']);
  await inspect(page, 'curve-desktop-light');
  const file = await saved(drawer.getByRole('button', { name: 'Export recipients' }));
  expect(file).toMatch(/^recipient,state,updated_at,message_id\r\n/);
  expect(file).toContain(`${LOST},failed,`);
  const failures = await saved(drawer.getByRole('button', { name: 'Export CSV' }));
  expect(failures).toBe('Reason,Contacts,Example\r\n131026,1,1555••••862');
  await drawer.getByText('Failed', { exact: true }).last().click();
  await recipients.getByText(REACHED).waitFor({ state: 'detached' });
  await drawer.getByRole('button', { name: 'Resend to failed' }).click();
  const resend = page.getByRole('dialog', { name: 'Resend to 1 failed contact?' });
  await resend.getByText('1 of 2: only the failed ones').waitFor();
  await resend.getByText('Cost', { exact: true }).waitFor();
  await inspect(page, 'resend-desktop-light');
  await resend.getByRole('button', { name: 'Prepare the new broadcast' }).click();
  await page.getByRole('heading', { name: 'Create a broadcast' }).waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  const lines = page.getByRole('textbox', { name: 'Or paste contacts' });
  await eventually(async () => (await lines.inputValue()) === LOST);
  await page.getByRole('button', { name: 'Continue with 1 contact' }).waitFor();
});
