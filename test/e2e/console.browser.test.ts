// The console in a real browser: every screen with data from the mesh, on a desktop and a phone, in
// light and dark, checked for accessibility; and the work that partners do on it.
import type { Page } from 'playwright-core';
import { ONE, TWO_A, TWO_B } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { scopeOf } from './broadcast-support';
import { openWindow, press } from './connect-browser';
import { WAIT_MS } from './browser-stage';
import { ageLogIns } from './people-support';
import {
  consoleStage,
  failDeliveries,
  faultsOf,
  inspect,
  inspectSchemes,
  overflowOf,
  reload,
  SCREENS,
  sendTestEvent,
  settle,
  shoot,
  tabTo,
  VIEWS,
  visit,
} from './console-stage';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';

const MESSAGE = { to: '15550100777', text: 'Hello' };
const stage = consoleStage({
  prepare: () => stage.partner.call('POST', '/messages/send', MESSAGE, scopeOf(ONE)),
});

describe.each(VIEWS)('on $name', (view) => {
  test('every screen shows its data, has no serious accessibility fault and does not scroll sideways', async () => {
    const page = await stage.open('', view);
    await page.getByRole('textbox', { name: 'Partner key' }).waitFor();
    await inspect(page, `sign-in-${view.name}`);
    await stage.signIn(page);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    for (const [name, path] of Object.entries(SCREENS)) {
      await visit(page, path);
      await settle(page);
      await inspectSchemes(page, `${name} ${view.width}`);
      expect([name, await overflowOf(page)]).toEqual([name, 0]);
    }
    expect(stage.complaints).toEqual([]);
  });
});

test('a wrong key is refused clearly, a session survives a reload and ends everywhere', async () => {
  const page = await stage.open('settings');
  await stage.signIn(page, 'nonsense');
  await page.getByText('This is not a valid partner key').waitFor();
  await stage.signIn(page);
  await page.getByRole('heading', { name: 'Profile', exact: true }).waitFor();
  const other = await stage.openSignedIn('');
  await reload(page);
  await page.getByText('(this browser)').waitFor();
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  await reload(other);
  await other.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
});

test('the next person at a browser sees nothing that was read before', async () => {
  const page = await stage.openSignedIn('settings');
  await settle(page);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  const other = await stage.mesh.createPartner({ name: 'Another Platform' });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await stage.signIn(page, other.partner_key);
  await page.getByText('Another Platform').first().waitFor();
  await page.getByRole('heading', { name: 'Profile', exact: true }).waitFor();
  await settle(page);
  expect(asked).toEqual(
    expect.arrayContaining(['settings', 'sessions'].map((path) => `/dashboard/api/${path}`)),
  );
});

/** Presses the button and returns how many events are queued. */
async function retryAll(page: Page): Promise<number> {
  await page.getByRole('button', { name: 'Retry all' }).click({ timeout: 5_000 });
  const confirm = page.getByRole('dialog', { name: 'Retry all events?' });
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url().endsWith('/webhooks/retry-all')),
    confirm.getByRole('button', { name: 'Retry all' }).click(),
  ]);
  await confirm.waitFor({ state: 'detached' });
  return ((await answer.json()) as { queued: number }).queued;
}

test('finds failed deliveries, tests the receiver, and retries one of them and then all', async () => {
  const { partner } = stage;
  const ids = ['wamid.FAILED1', 'wamid.FAILED2', 'wamid.FAILED3'];
  const [id = ''] = ids;
  await failDeliveries(stage, ...ids.map((one, at) => ({ from: `1555010090${at}`, id: one })));
  const failed = async (): Promise<unknown[]> =>
    (await partner.call('GET', '/webhooks/failed?limit=100')).body.events;
  const page = await stage.openSignedIn('');
  await page.getByRole('link', { name: 'See the failed events' }).click();
  await sendTestEvent(page, 'The test event was not accepted');
  await page.getByText('HTTP 503').first().waitFor();
  // An event whose attempt is running is not queued.
  await eventually(async () => (await retryAll(page)) >= ids.length);
  const row = page.getByRole('row').filter({ hasText: id });
  await row.getByRole('button', { name: 'message.received' }).click();
  await page.getByRole('dialog').getByText(id, { exact: true }).waitFor();
  await inspect(page, 'event-desktop-light');
  // The address by itself shows the same event.
  await reload(page);
  await page.getByRole('dialog').getByText(id, { exact: true }).waitFor();
  const accepted = new Set<unknown>();
  partner.receiver.behave(({ body }, response) => {
    accepted.add(body.data['message_id']);
    response.end('ok');
  });
  await page.getByRole('button', { name: 'Retry now' }).click();
  // The gateway's own retry may come first.
  await page
    .getByText('Your receiver accepted the event')
    .or(page.getByText('The event was not retried'))
    .waitFor();
  await eventually(() => accepted.has(id));
  await page.keyboard.press('Escape');
  await eventually(async () => {
    if ((await failed()).length === 0) return true;
    await reload(page);
    return (await retryAll(page)) === 0;
  });
  await eventually(() => ids.every((one) => accepted.has(one)));
  await page.getByText('No event waits').waitFor();
  partner.receiver.behave(undefined);
});

test('creates a broadcast of 200 contacts from a file with two bad rows and watches it end', async () => {
  const page = await stage.openSignedIn(`broadcasts/new?number=${ONE.phone_number_id}`);
  await page.getByRole('combobox', { name: 'Template' }).click();
  await page.getByRole('option', { name: /^order_update/ }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  const rows = Array.from({ length: 200 }, (_, at) => `1555020${1000 + at},Ada ${at},A-${at}`);
  rows.splice(10, 0, 'nonsense,Bob,B-1');
  rows.splice(50, 0, '15550209999,Eve,');
  const buffer = Buffer.from(['phone,first,second', ...rows].join('\n'));
  const file = { name: 'contacts.csv', mimeType: 'text/csv', buffer };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByText('Line 12 “nonsense” is not an international phone number').waitFor();
  await page.getByText('Line 52 has no value for Text 2').waitFor();
  await inspect(page, 'broadcast-contacts-desktop-light');
  await page.getByRole('button', { name: 'Continue with 200 contacts' }).click();
  await page.getByLabel('Name').fill('News');
  await page.getByText('Hi Ada 0, your order A-0 is on its way.').waitFor();
  const preflight = page.getByTestId('preflight');
  await preflight.getByText('It can be sent').waitFor();
  await preflight.getByText('11 sec').waitFor();
  await preflight.getByText('not known: the operator has loaded no rate card').waitFor();
  await inspect(page, 'broadcast-check-desktop-light');
  await page.getByRole('button', { name: 'Send to 200 contacts' }).click();
  const confirm = page.getByRole('dialog', { name: 'Send News?' });
  await confirm.getByText('11 sec').waitFor();
  await inspect(page, 'broadcast-confirm-desktop-light');
  await confirm.getByRole('button', { name: 'Send now' }).click();
  await page.getByRole('link', { name: 'Watch it' }).click();
  await page.getByText('Expected end').or(page.getByText('completed')).first().waitFor();
  const completed = page.getByRole('dialog').getByText('completed', { exact: true });
  await completed.waitFor({ timeout: 2 * WAIT_MS });
  const { broadcasts } = (await stage.partner.call('GET', '/broadcasts')).body;
  expect(broadcasts).toMatchObject([{ name: 'News', total: 200, failed: 0 }]);
});

test('connects a number through the popup', async () => {
  const page = await stage.openSignedIn('numbers');
  await page.getByRole('button', { name: 'Connect a number' }).click();
  await page.getByLabel('Name of the client').fill('Corner store');
  await page.getByRole('button', { name: 'Make a link' }).click();
  const popup = await openWindow(page, () =>
    page.getByRole('button', { name: 'Open the sign-up' }).click(),
  );
  const dialog = await openWindow(popup, () => popup.click('#start'));
  await dialog.selectOption('#account', TWO_B.waba_id);
  await press(dialog, '#finish');
  await page.getByText('The number is connected').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Corner store' }).waitFor();
});

/** Each state of the API has its text in the panel of the number. */
const SYNCS: ReadonlyArray<[sync: { status?: string; history?: object }, text: string]> = [
  [{ status: 'waiting' }, 'contacts: not requested'],
  [{ history: { phase: 1, progress: 55 } }, 'History: 55 %, phase 1: up to 90 days ago'],
  [{ history: { phase: 2, progress: 100 } }, 'History complete'],
  [{ history: { error: { code: 2593109 } } }, 'Your client declined to share the message history'],
];

test('shows how far the data sync of a number is', async () => {
  const page = await stage.openSignedIn('numbers');
  const request_until = new Date(Date.now() + 3_600_000).toISOString();
  const usual = { status: 'requested', request_until, contacts_requested_at: null };
  const unknown = { phase: null, progress: null, error: null, received_at: request_until };
  const number = encodeURIComponent(`${ONE.waba_id}/${ONE.phone_number_id}`);
  for (const [{ history = null, ...sync }, text] of SYNCS) {
    const data_sync = { ...usual, ...sync, history: history && { ...unknown, ...history } };
    await page.route('**/v1/clients?*', async (route) => {
      const answer = await (await route.fetch()).json();
      const clients = answer.clients.map((one: object) => ({ ...one, data_sync }));
      await route.fulfill({ json: { ...answer, clients } });
    });
    await visit(page, `numbers?open=${number}`);
    await page.getByRole('dialog').getByText(text).waitFor();
    await inspect(page, `sync-${text.slice(0, 12)}`);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  }
});

const EVENTS = 1_000;
/** Messages in each webhook. */
const EACH = 5;

test('shows new events as they arrive, and stays fast while a thousand do', async () => {
  const page = await stage.openSignedIn('events');
  await page.getByText('New events appear at once').waitFor();
  await page
    .getByRole('button', { name: /^message\./ })
    .first()
    .waitFor();
  const before = Number.parseInt((await page.getByTestId('count').textContent()) ?? '', 10);
  await page.evaluate(() => {
    const long = ((window as never as { long: number[] }).long = []) as number[];
    new PerformanceObserver((list) =>
      list.getEntries().forEach(({ duration }) => long.push(duration)),
    ).observe({ type: 'longtask' });
  });
  const bodies = Array.from({ length: EVENTS / EACH }, (_, body) =>
    inboundBody(
      ONE,
      ...Array.from({ length: EACH }, (_, at) => ({
        from: `1555030${1000 + body * EACH + at}`,
        id: `wamid.LIVE${body}-${at}`,
      })),
    ),
  );
  for (const body of bodies) expect(await postRaw(stage.mesh.ingress_url, body)).toBe(200);
  await page.waitForFunction(
    (count) =>
      Number.parseInt(document.querySelector('[data-testid=count]')?.textContent ?? '', 10) >=
      count,
    before + EVENTS,
  );
  // Only the rows in view are in the page.
  expect(await page.getByRole('row').count()).toBeLessThan(100);
  const long = await page.evaluate(() => (window as never as { long: number[] }).long);
  expect(Math.max(0, ...long)).toBeLessThan(2_000);
  await shoot(page, 'live-desktop-light');
  await page.getByRole('button', { name: 'message.received' }).first().click();
  await page.getByRole('heading', { name: 'Attempts' }).waitFor();
  await inspect(page, 'logged-desktop-light');
  await page.keyboard.press('Escape');
  await page.getByTestId('receiver').getByText('of the latest events accepted').waitFor();
  await page.getByRole('img', { name: /of the latest events accepted/ }).waitFor();
  await page.getByRole('button', { name: 'Replay …' }).click();
  const replay = page.getByRole('dialog', { name: 'Replay events' });
  await replay.getByRole('combobox', { name: 'Event' }).click();
  await page.getByRole('option', { name: 'message.sent' }).click();
  await replay.getByRole('button', { name: 'Replay these events' }).click();
  await replay.getByText('completed').waitFor({ timeout: 60_000 });
  await inspect(page, 'replay-desktop-light');
});

test('finds a refused request, and shows why it failed and what was sent', async () => {
  const given = { to: '15550100777', txt: 'Hello' };
  const { body } = await stage.partner.call('POST', '/messages/send', given, scopeOf(ONE));
  const page = await stage.openSignedIn('developers');
  const requests = page.getByRole('table', { name: 'Requests' });
  await requests.waitFor();
  // A request is logged after its answer.
  await eventually(async () => {
    await page.getByRole('button', { name: 'Reload' }).click();
    return (await requests.getByText(body.error.request_id).count()) > 0;
  });
  await requests.getByText('POST /messages/send').first().waitFor();
  await page.getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: /^4xx/ }).click();
  await requests.getByText(body.error.request_id).waitFor();
  await page.getByRole('combobox', { name: 'Endpoint' }).fill('messages/send');
  await page.getByRole('option', { name: 'POST /messages/send', exact: true }).click();
  await page.getByRole('combobox', { name: 'API key' }).click();
  await page.getByRole('option', { name: 'Partner key' }).click();
  await page.getByLabel('Request ID').fill(body.error.request_id);
  await page.waitForURL(/find=/);
  // The address by itself shows the same requests.
  await reload(page);
  await requests.getByText(body.error.code).first().waitFor();
  expect(await requests.getByText('200', { exact: true }).count()).toBe(0);
  await inspect(page, 'requests-desktop-light');
  await requests.getByRole('button', { name: 'POST /messages/send' }).click();
  const panel = page.getByRole('dialog', { name: 'Request' });
  await panel.getByText('Required fields are missing or blank.').waitFor();
  await panel.getByRole('region', { name: 'the request body' }).getByText('"txt"').waitFor();
  await panel.getByRole('region', { name: 'the answer' }).waitFor();
  expect(await panel.getByText(/15550100777|Hello/).count()).toBe(0);
  await inspect(page, 'request-desktop-light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await shoot(page, 'request-desktop-dark');
  await page.setViewportSize({ width: 390, height: 844 });
  await settle(page);
  await shoot(page, 'request-phone-dark');
  // The address opens the panel, also when its call is on no page of the list.
  await page.goto(page.url().replace(/find=[^&]*/, 'find=another'));
  await panel.getByText(body.error.request_id).first().waitFor();
  await page.emulateMedia({ colorScheme: 'light' });
  await shoot(page, 'request-phone-light');
  await page.keyboard.press('Escape');
  await page.getByText('No request matches').waitFor();
});

test('continues with the events if a stream does not open, and reports it', async () => {
  const page = await stage.open('events');
  await page.route('**/events/stream*', (route) => route.fulfill({ status: 503, body: '' }));
  await stage.signIn(page);
  await page.getByText('Read every 5 seconds').waitFor();
  const body = inboundBody(TWO_A, { from: '15550100666', id: 'wamid.READ1' });
  expect(await postRaw(stage.mesh.ingress_url, body)).toBe(200);
  await page.getByText('15550100666').waitFor();
  await page.unroute('**/events/stream*');
  await page.getByText('New events appear at once').waitFor();
});

test.each(VIEWS)('finds a screen, a customer, a message and a guide ($name)', async (view) => {
  const page = await stage.openSignedIn('', view);
  await settle(page);
  const dialog = page.getByRole('dialog', { name: 'Find' });
  const find = async (text: string): Promise<void> => {
    if (view.width > 500) await page.keyboard.press('/');
    else await page.getByRole('button', { name: 'Find' }).click();
    await dialog.getByRole('textbox', { name: 'Find' }).fill(text);
  };
  await find('audit');
  await dialog.getByRole('option', { name: 'Audit log' }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
  await find('+1 555 010-0777');
  await dialog.getByRole('option', { name: 'Conversation with +15550100777' }).waitFor();
  await inspect(page, `find-${view.name}`);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/messages\?find=.*15550100777/);
  await settle(page);
  const { body } = await stage.partner.call('GET', '/messages?limit=1');
  const { message_id } = body.messages[0];
  await find(message_id);
  await dialog.getByRole('option', { name: `Message ${message_id}` }).click();
  await page.getByRole('dialog').getByText(message_id).first().waitFor();
  await page.keyboard.press('Escape');
  await find('sandbox');
  await dialog.getByRole('option', { name: /Test your integration/ }).click();
  await page.waitForURL(/docs\/testing$/);
});

test('shows its keys, and leads the keyboard to the content', async () => {
  const page = await stage.openSignedIn('');
  await settle(page);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).getByText('Find (⌘ K on a Mac)').waitFor();
  await inspect(page);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Find' }).waitFor();
  await page.keyboard.press('Escape');
  await reload(page);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');
  for (const name of ['Numbers', 'Templates']) {
    await tabTo(page, page.getByRole('link', { name, exact: true }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name }).waitFor();
  }
});

test('the page asks for the partner key again, and reveals the webhook secret then', async () => {
  const page = await stage.openSignedIn('settings/receivers/webhook');
  await ageLogIns(stage.mesh, stage.partner);
  await page.getByRole('button', { name: 'Reveal' }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.waitFor();
  // The button behind the dialog stays busy, and the dialog fades in.
  await eventually(async () => (await faultsOf(page)).length === 0);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByText('log in again').first().waitFor();
  await page.getByRole('button', { name: 'Reveal' }).click();
  await dialog.getByRole('textbox', { name: 'Partner key' }).fill(stage.partner.partner_key);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await page
    .getByText(/^whsec_/)
    .first()
    .waitFor();
  expect(await dialog.count()).toBe(0);
});
