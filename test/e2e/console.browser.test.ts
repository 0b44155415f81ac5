// The console in a real browser: every screen with data from the mesh, on a desktop and a phone, in
// light and dark, checked for accessibility; and the work that partners do on it.
import { ONE, TWO_A, TWO_B, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { isStandardSigned, type Arrival } from '../testkit/partner';
import { openWindow, press } from './connect-browser';
import {
  COLOURS,
  consoleStage,
  faultsOf,
  inspect,
  overflowOf,
  reload,
  SCREENS,
  sendTestEvent,
  settle,
  shoot,
  tabTo,
  VIEWS,
  visit,
  WAIT_MS,
  type ConsoleStage,
} from './console-stage';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';

let mesh: Mesh;
let partner: TestPartner;
let open: ConsoleStage['open'];
let signIn: ConsoleStage['signIn'];
let openSignedIn: ConsoleStage['openSignedIn'];
const stage = consoleStage({
  async prepare() {
    ({ mesh, partner, open, signIn, openSignedIn } = stage);
    const number = { 'x-waba-id': ONE.waba_id };
    for (const to of ['15550100777', '15550100778', '15550100779']) {
      await partner.call('POST', '/messages/send', { to, text: 'Hello' }, number);
    }
  },
});

const SCHEMES = ['light', 'dark'] as const;

describe.each(VIEWS)('on $name', (view) => {
  test('every screen shows its data, has no serious accessibility fault and does not scroll sideways', async () => {
    const page = await open('', view);
    await page.getByRole('textbox', { name: 'Partner key' }).waitFor();
    await inspect(page, `sign-in-${view.name}`);
    await signIn(page);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    for (const [name, path] of Object.entries(SCREENS)) {
      await visit(page, path);
      await settle(page);
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
        const rules = colorScheme === view.colorScheme ? undefined : COLOURS;
        expect([name, colorScheme, await faultsOf(page, rules)]).toEqual([name, colorScheme, []]);
        await shoot(page, `${name}-${view.width}-${colorScheme}`);
      }
      expect([name, await overflowOf(page)]).toEqual([name, 0]);
    }
    expect(stage.complaints).toEqual([]);
  });
});

test('a wrong key is refused clearly, a session survives a reload and ends everywhere', async () => {
  const page = await open('settings');
  await signIn(page, 'nonsense');
  await page.getByText('This is not a valid partner key').waitFor();
  await signIn(page);
  await page.getByRole('heading', { name: 'Profile', exact: true }).waitFor();
  const other = await openSignedIn('');
  await reload(page);
  await page.getByText('(this browser)').waitFor();
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  await reload(other);
  await other.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
});

test('the next person at a browser sees nothing that was read before', async () => {
  const page = await openSignedIn('settings');
  await settle(page);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  const other = await mesh.createPartner({ name: 'Another Platform' });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await signIn(page, other.partner_key);
  await page.getByText('Another Platform').first().waitFor();
  await page.getByRole('heading', { name: 'Profile', exact: true }).waitFor();
  await settle(page);
  expect(asked).toEqual(
    expect.arrayContaining(['settings', 'sessions'].map((path) => `/dashboard/api/${path}`)),
  );
});

test.each(VIEWS)('finds a failed delivery and retries it ($name)', async (view) => {
  partner.receiver.behave((_arrival, response) => void response.writeHead(503).end());
  const id = `wamid.${view.name}`;
  const body = inboundBody(ONE, { from: '15550100901', id });
  expect(await postRaw(mesh.ingress_url, body)).toBe(200);
  const waiting = async (): Promise<boolean> =>
    (await partner.call('GET', '/webhooks/failed')).body.events.length > 0;
  await eventually(waiting);
  const page = await openSignedIn('', view);
  await page.getByRole('link', { name: 'See the failed events' }).click();
  await page.getByRole('button', { name: 'message.received' }).click();
  await page.getByRole('dialog').getByText(id, { exact: true }).waitFor();
  await inspect(page, `event-${view.name}`);
  // The address by itself shows the same event.
  await reload(page);
  await page.getByRole('dialog').getByText(id, { exact: true }).waitFor();
  partner.receiver.behave(undefined);
  await page.getByRole('button', { name: 'Retry now' }).click();
  // The gateway's own retry may come first.
  await page
    .getByText('Your receiver accepted the event')
    .or(page.getByText('The event was not retried'))
    .waitFor();
  await eventually(() =>
    partner.receiver.of('message.received').some(({ body }) => body.data['message_id'] === id),
  );
  await page.keyboard.press('Escape');
  await page.getByText('No event waits').waitFor();
});

test.each(VIEWS)('rotates the webhook secret with an overlap ($name)', async (view) => {
  const own = await mesh.createPartner({ name: 'Careful Software' });
  const page = await openSignedIn('settings/receivers/webhook', view, own.partner_key);
  await page.getByRole('button', { name: 'Reveal' }).click();
  const old = await page.getByTestId('secret').textContent();
  expect(old).toBe(own.webhook_secret);
  await page.getByRole('button', { name: 'Rotate …' }).click();
  await page.getByLabel('Overlap in hours').fill('48');
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  const fresh = await page.getByTestId('new-secret').textContent();
  expect(fresh).toMatch(/^whsec_/);
  expect(fresh).not.toBe(old);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('Old secret signs until').waitFor();
  await inspect(page);
  await sendTestEvent(page, 'Your receiver accepted the test event');
  const [sent] = own.receiver.of('webhook.test');
  expect(isStandardSigned(sent as Arrival, fresh as string)).toBe(true);
});

test('saves thresholds of alerts, names a wrong one, and shows a raised alert on the overview', async () => {
  const page = await openSignedIn('settings/alerts');
  const rate = page.getByLabel('Failed messages in percent');
  await rate.fill('101');
  await page.getByLabel('The quality of a number drops').check();
  await page.getByRole('button', { name: 'Save alerts' }).click();
  const refused = page.locator('[aria-invalid=true]');
  await refused.waitFor();
  await rate.fill('5');
  await page.getByRole('button', { name: 'Save alerts' }).click();
  await refused.waitFor({ state: 'detached' });
  await inspect(page);
  await reload(page);
  await eventually(async () => (await rate.inputValue()) === '5');
  const { display_phone_number } = await mesh.emulator.number(ONE.phone_number_id);
  const value = { event: 'FLAGGED', display_phone_number, current_limit: 'TIER_2K' };
  const changes = [{ field: 'phone_number_quality_update', value }];
  const entry = [{ id: ONE.waba_id, time: Math.floor(Date.now() / 1_000), changes }];
  await mesh.emulator.postWebhook({ body: { object: 'whatsapp_business_account', entry } });
  await eventually(() => partner.receiver.of('partner.alert')[0]);
  await visit(page, '');
  await page.getByText('The quality of a number dropped').waitFor();
  await settle(page);
  const figure = (name: string) =>
    page.getByText(name, { exact: true }).locator('xpath=..').textContent();
  const events = Number((await figure('in your log'))?.replace(/\D/g, ''));
  const { body: log } = await partner.call('GET', '/events?limit=1');
  expect(events).toBeGreaterThan(0);
  expect(events).toBeLessThanOrEqual(log.newest as number);
  expect(await figure('Accepted by your webhook')).toMatch(/\d %|\d%/);
  await inspect(page);
});

test('sends a test message, shows its progress, and finds it again', async () => {
  const page = await openSignedIn(`messages/new?number=${ONE.phone_number_id}`);
  await page.getByRole('textbox', { name: 'To' }).fill('15550100780');
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('A test from the console');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('The message was sent').waitFor();
  await page.getByText('Status delivered').waitFor();
  await inspect(page, 'message-sent-desktop-light');
  await visit(page, 'messages');
  await page.getByLabel('Recipient or message ID').fill('+1 555 010 0780');
  await page.getByText('15550100778').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: '15550100780' }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText(/^Event message.delivered/).waitFor();
  await drawer.getByText('Attempt 1: your receiver answered HTTP 200').first().waitFor();
  await inspect(page, 'message-timeline-desktop-light');
});

test.each(VIEWS)(
  'creates a broadcast of 200 contacts from a file with two bad rows and watches it end ($name)',
  async (view) => {
    const page = await openSignedIn(`broadcasts/new?number=${ONE.phone_number_id}`, view);
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: /^order_update/ }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    const rows = Array.from({ length: 200 }, (_, at) => `1555020${1000 + at},Ada ${at},A-${at}`);
    rows.splice(10, 0, 'nonsense,Bob,B-1');
    rows.splice(50, 0, '15550209999,Eve,');
    const csv = ['phone,first,second', ...rows].join('\n');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'contacts.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await page.getByText('Line 12 “nonsense” is not an international phone number').waitFor();
    await page.getByText('Line 52 has no value for Text 2').waitFor();
    await inspect(page, `broadcast-contacts-${view.name}`);
    await page.getByRole('button', { name: 'Continue with 200 contacts' }).click();
    await page.getByLabel('Name').fill(`News on ${view.name}`);
    await page.getByText('Hi Ada 0, your order A-0 is on its way.').waitFor();
    const preflight = page.getByTestId('preflight');
    await preflight.getByText('It can be sent').waitFor();
    await preflight.getByText('11 sec').waitFor();
    await preflight.getByText('not known: the operator has loaded no rate card').waitFor();
    await inspect(page, `broadcast-check-${view.name}`);
    await page.getByRole('button', { name: 'Send to 200 contacts' }).click();
    const confirm = page.getByRole('dialog', { name: `Send News on ${view.name}?` });
    await confirm.getByText('11 sec').waitFor();
    await inspect(page, `broadcast-confirm-${view.name}`);
    await confirm.getByRole('button', { name: 'Send now' }).click();
    await page.getByRole('link', { name: 'Watch it' }).click();
    await page.getByText('Expected end').or(page.getByText('completed')).first().waitFor();
    await shoot(page, `broadcast-${view.name}`);
    await page
      .getByRole('dialog')
      .getByText('completed', { exact: true })
      .waitFor({ timeout: 2 * WAIT_MS });
    const { broadcasts } = (await partner.call('GET', '/broadcasts')).body;
    const name = `News on ${view.name}`;
    expect(broadcasts.find((one: { name: string }) => one.name === name)).toMatchObject({
      total: 200,
      failed: 0,
    });
  },
);

test.each(VIEWS)('connects a number through the popup ($name)', async (view) => {
  const declines = view.colorScheme === 'dark';
  await mesh.emulator.behaviour({ sync: { decline_history: declines } });
  const page = await openSignedIn('numbers', view);
  await page.getByRole('button', { name: 'Connect a number' }).click();
  await page.getByLabel('Name of the client').fill(`Shop on ${view.name}`);
  await page.getByRole('button', { name: 'Make a link' }).click();
  const popup = await openWindow(page, () =>
    page.getByRole('button', { name: 'Open the sign-up' }).click(),
  );
  const dialog = await openWindow(popup, () => popup.click('#start'));
  await dialog.selectOption('#account', TWO_B.waba_id);
  await press(dialog, '#finish');
  await page.getByText('The number is connected').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText(`Shop on ${view.name}`).first().waitFor();
  // The history arrives in three parts, unless the client declined to share it.
  const history = await eventually(async () => {
    const { clients } = (await partner.call('GET', '/clients')).body;
    const named = (one: { display_name: string }) => one.display_name === `Shop on ${view.name}`;
    const { data_sync } = clients.find(named);
    const { progress, error } = data_sync.history ?? {};
    return (progress === 100 || error) && data_sync.history;
  });
  expect(history).toMatchObject(
    declines ? { progress: null, error: { code: 2593109 } } : { phase: 2, progress: 100 },
  );
  await reload(page);
  await page.getByRole('button', { name: `Shop on ${view.name}` }).click();
  const told = declines ? /declined to share the message history/ : 'History complete';
  await page.getByRole('dialog').getByText(told).waitFor();
  await inspect(page, `history-${view.name}`);
});

const EVENTS = 1_000;
/** Messages in each webhook. */
const EACH = 5;

test('shows new events as they arrive, and stays fast while a thousand do', async () => {
  const page = await openSignedIn('events');
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
  for (const body of bodies) expect(await postRaw(mesh.ingress_url, body)).toBe(200);
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
  const number = { 'x-waba-id': ONE.waba_id };
  const given = { to: '15550100777', txt: 'Hello' };
  const { body } = await partner.call('POST', '/messages/send', given, number);
  const page = await openSignedIn('developers');
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
  const page = await open('events');
  await page.route('**/events/stream*', (route) => route.fulfill({ status: 503, body: '' }));
  await signIn(page);
  await page.getByText('Read every 5 seconds').waitFor();
  const body = inboundBody(TWO_A, { from: '15550100666', id: 'wamid.READ1' });
  expect(await postRaw(mesh.ingress_url, body)).toBe(200);
  await page.getByText('15550100666').waitFor();
  await page.unroute('**/events/stream*');
  await page.getByText('New events appear at once').waitFor();
});

test('counts down the data sync of a number that the upstream has not accepted', async () => {
  const late = await mesh.createPartner({ name: 'Late Software' });
  await mesh.emulator.fault({
    match: { path: '/smb_app_data$' },
    times: -1,
    error: { code: 131000 },
  });
  await late.register(ONE);
  await mesh.emulator.clearFaults();
  const page = await open('');
  await signIn(page, late.partner_key);
  const item = page.getByRole('alert').filter({ hasText: '24 hours are left' });
  await item.getByRole('link', { name: 'See the number' }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText('contacts: not requested').waitFor();
  await drawer.getByText('in order').waitFor();
  await inspect(page, 'sync-desktop-light');
});

test.each(VIEWS)('finds a screen, a customer, a message and a guide ($name)', async (view) => {
  const page = await openSignedIn('', view);
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
  const { body } = await partner.call('GET', '/messages?limit=1');
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
  const page = await openSignedIn('');
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
