// The console in a real browser: the smaller pieces of work, each with its effect on the mesh, and
// the display of refusals.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { ONE, TWO_A, type TestPartner } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { chosenSecret, isStandardSigned, startPartner, type Arrival } from '../testkit/partner';
import { scopeOf } from './broadcast-support';
import {
  consoleStage,
  faultsOf,
  inspect,
  reload,
  saved,
  sendTestEvent,
  settle,
  shoot,
  tabTo,
  VIEWS,
} from './console-stage';

const OPEN_ONE = `numbers?open=${encodeURIComponent(`${ONE.waba_id}/${ONE.phone_number_id}`)}`;
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const stage = consoleStage();

const clientOf = async (owner: TestPartner, { phone_number_id }: { phone_number_id: string }) => {
  const { clients } = (await owner.call('GET', '/clients?status=all')).body;
  return clients.find(
    (one: { phone_number_id: string }) => one.phone_number_id === phone_number_id,
  );
};

test('refreshes a number and subscribes it again; a refusal shows a request ID to copy', async () => {
  const page = await stage.openSignedIn(OPEN_ONE);
  const drawer = page.getByRole('dialog');
  const refresh = drawer.getByRole('button', { name: 'Refresh' });
  await stage.mesh.emulator.patchNumber(ONE.phone_number_id, { quality_rating: 'YELLOW' });
  await refresh.click();
  await drawer.getByText('Quality and limits are fresh').waitFor();
  expect(await clientOf(stage.partner, ONE)).toMatchObject({ quality_rating: 'YELLOW' });
  const path = `${ONE.waba_id}/subscribed_apps`;
  const subscribed = async () =>
    (await stage.mesh.emulator.requests({ path, method: 'POST' })).length;
  const before = await subscribed();
  await drawer.getByRole('button', { name: 'Resubscribe to events' }).click();
  await drawer.getByText('is subscribed to events').waitFor();
  expect(await subscribed()).toBeGreaterThan(before);
  await stage.mesh.emulator.fault({
    match: { path: `/${ONE.phone_number_id}` },
    times: -1,
    error: { code: 131000 },
  });
  await refresh.click();
  const refused = drawer.getByRole('alert').filter({ hasText: 'Refresh failed' });
  await refused.getByText('UPSTREAM_ERROR').waitFor();
  await stage.mesh.emulator.clearFaults();
  await inspect(page, 'refused-desktop-light');
  await refused.getByRole('button', { name: 'Copy the request ID' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^[\w-]{16,}$/);
  expect(await refused.textContent()).toContain(copied);
});

test('deletes a business account once its ID is typed, and finds it among the deleted', async () => {
  const leaving = await stage.mesh.createPartner({ name: 'Leaving Software' });
  await leaving.register(TWO_A);
  const page = await stage.openSignedIn('numbers', undefined, leaving.partner_key);
  const name = (await clientOf(leaving, TWO_A)).display_name as string;
  await page.getByRole('button', { name }).click();
  await page.getByRole('button', { name: 'Delete the business account' }).click();
  const confirm = page.getByRole('dialog', { name: `Delete ${name}?` });
  const typed = confirm.getByLabel(`Type ${TWO_A.waba_id} to confirm`);
  await typed.fill('900');
  expect(await confirm.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
  await typed.fill(TWO_A.waba_id);
  await inspect(page, 'delete-desktop-light');
  await confirm.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Restore by a new sign-up' }).waitFor();
  expect(await clientOf(leaving, TWO_A)).toMatchObject({ status: 'deleted' });
  await page.keyboard.press('Escape');
  await page.getByText('No number matches').waitFor();
  await page.getByText('Deleted', { exact: true }).click();
  await page.getByRole('searchbox', { name: 'Find a number' }).fill(TWO_A.waba_id);
  await page.getByRole('button', { name }).waitFor();
  // The address by itself shows the same list.
  await reload(page);
  await page.getByRole('button', { name }).waitFor();
  expect(await page.getByRole('radio', { name: 'Deleted' }).isChecked()).toBe(true);
});

test('sends a template as a test message, with a preview', async () => {
  const to = '15550100881';
  const page = await stage.openSignedIn(`messages/new?number=${ONE.phone_number_id}`);
  await page.getByRole('textbox', { name: 'To' }).fill(to);
  await page.getByText('Template', { exact: true }).click();
  await page.getByRole('combobox', { name: 'Template' }).click();
  await page.getByRole('option', { name: /^order_update/ }).click();
  await page.getByRole('textbox', { name: 'Text 1' }).fill('Grace');
  await page.getByRole('textbox', { name: 'Text 2' }).fill('G-7');
  await page.getByText('Hi Grace, your order G-7 is on its way.').waitFor();
  await inspect(page, 'template-message-desktop-light');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('The message was sent').waitFor();
  const [sent] = await stage.mesh.emulator.messages({ phone_number_id: ONE.phone_number_id, to });
  expect(JSON.stringify(sent)).toMatch(/order_update.*Grace.*G-7/);
});

/** Half past nine in the browser's zone, Tokyo. */
const HALF_PAST_NINE = 'T00:30:00.000Z';

test('creates a broadcast for tomorrow with only the keyboard, cancels it and copies it', async () => {
  const page = await stage.openSignedIn(`broadcasts/new?number=${ONE.phone_number_id}`);
  const { keyboard } = page;
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const choose = page.getByRole('combobox', { name: 'Template' });
  await tabTo(page, choose);
  await keyboard.type('order_update');
  await page.getByRole('option', { name: /^order_update/ }).waitFor();
  await keyboard.press('ArrowDown');
  await keyboard.press('Enter');
  await tabTo(page, button('Continue'));
  await keyboard.press('Enter');
  await tabTo(page, page.getByRole('textbox', { name: 'Or paste contacts' }));
  await keyboard.type('15550100770,Ada,A-1');
  await tabTo(page, button('Continue with 1 contact'));
  await keyboard.press('Enter');
  await tabTo(page, page.getByLabel('Start'));
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const [year, month, day] = tomorrow.split('-');
  await keyboard.type(`${month}${day}${year}`);
  await keyboard.press('ArrowRight');
  await keyboard.type('0930AM');
  const preflight = page.getByTestId('preflight');
  await preflight.getByText('It can be sent', { exact: true }).waitFor();
  await preflight.getByText('No problems were found.', { exact: true }).waitFor();
  await tabTo(page, button('Schedule for 1 contact'));
  await keyboard.press('Enter');
  const confirm = page.getByRole('dialog', { name: /^Schedule / });
  await tabTo(page, confirm.getByRole('button', { name: 'Schedule' }));
  await keyboard.press('Enter');
  await tabTo(page, page.getByRole('link', { name: 'Watch it' }));
  await keyboard.press('Enter');
  const drawer = page.getByRole('dialog');
  await drawer.getByText('scheduled', { exact: true }).waitFor();
  const { broadcasts } = (await stage.partner.call('GET', '/broadcasts')).body;
  const [{ id, scheduled_at }] = broadcasts;
  expect(scheduled_at).toBe(tomorrow + HALF_PAST_NINE);
  const time = drawer.locator(`time[datetime="${scheduled_at}"]`).first();
  expect(await time.textContent()).toContain('09:30');
  expect(await time.getAttribute('title')).toBe(`${tomorrow} 00:30:00 UTC`);
  await tabTo(page, button('Cancel the broadcast'));
  await keyboard.press('Enter');
  await drawer.getByText('cancelled', { exact: true }).waitFor();
  expect((await stage.partner.call('GET', `/broadcasts/${id}`)).body.broadcast.status).toBe(
    'cancelled',
  );
  await tabTo(page, drawer.getByRole('link', { name: 'Copy' }));
  await keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Create a broadcast' }).waitFor();
  await eventually(async () => (await choose.inputValue()).startsWith('order_update'));
});

test('loads the templates again on request, creates one with a preview, and deletes it', async () => {
  const listed = async (): Promise<string[]> =>
    (await stage.partner.call('GET', '/templates', undefined, scopeOf(ONE))).body.templates.map(
      ({ name }: { name: string }) => name,
    );
  await stage.mesh.emulator.fault({
    match: { path: '/message_templates' },
    times: -1,
    error: { code: 100 },
  });
  const page = await stage.openSignedIn(`templates?number=${ONE.phone_number_id}`);
  await page.getByRole('alert').getByText('Failed to load the templates').waitFor();
  await stage.mesh.emulator.clearFaults();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('button', { name: 'order_update' }).waitFor();
  await page.getByRole('button', { name: 'Create a template' }).click();
  const form = page.getByRole('dialog');
  await form.getByRole('textbox', { name: 'Name' }).fill('parcel_ready');
  await form.getByRole('textbox', { name: 'Text', exact: true }).fill('Parcel {{1}} is ready.');
  await form.getByRole('textbox', { name: 'Text 1' }).fill('P-1');
  await form.getByText('Parcel P-1 is ready.').waitFor();
  await inspect(page, 'template-create-desktop-light');
  await form.getByRole('button', { name: 'Submit for approval' }).click();
  await page.getByRole('button', { name: 'parcel_ready' }).click();
  await eventually(async () => (await listed()).includes('parcel_ready'));
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const confirm = page.getByRole('dialog', { name: 'Delete parcel_ready?' });
  await confirm.getByLabel('Type parcel_ready to confirm').fill('parcel_ready');
  await confirm.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'parcel_ready' }).waitFor({ state: 'detached' });
  await eventually(async () => !(await listed()).includes('parcel_ready'));
});

test('shows and rotates the webhook secret, tests a new address, and chooses extra events', async () => {
  const own = await stage.mesh.createPartner({ name: 'Moving Software' });
  const receiver = await startPartner();
  const page = await stage.openSignedIn('settings/receivers/webhook', undefined, own.partner_key);
  await page.getByRole('button', { name: 'Reveal' }).click();
  expect(await page.getByTestId('secret').textContent()).toBe(own.webhook_secret);
  await page.getByRole('button', { name: 'Rotate …' }).click();
  await page.getByLabel('Overlap in hours').fill('48');
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  const fresh = (await page.getByTestId('new-secret').textContent()) as string;
  expect(fresh).not.toBe(own.webhook_secret);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('Old secret signs until').waitFor();

  const address = page.getByLabel('Webhook address');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await address.fill('ftp://127.0.0.1/webhooks');
  await save.click();
  await eventually(async () => (await address.getAttribute('aria-invalid')) === 'true');
  await address.fill(receiver.url);
  await save.click();
  await sendTestEvent(page, 'Your receiver accepted the test event');
  expect(isStandardSigned(receiver.of('webhook.test')[0] as Arrival, fresh)).toBe(true);
  expect(own.receiver.arrivals).toEqual([]);

  const event = (name: string) => page.getByRole('checkbox', { name, exact: true });
  const chosen = async () => (await own.call('GET', '/webhook')).body.webhook.extra_events;
  await event('call.connect').check();
  await page.getByLabel('Find an event').fill('deleted client');
  await event('call.connect').waitFor({ state: 'detached' });
  await event('client.removed').check();
  await page.getByRole('button', { name: 'Save the events' }).click();
  await eventually(async () => (await chosen()).length === 2);
  await reload(page);
  expect(await event('client.removed').isChecked()).toBe(true);
  await inspect(page, 'webhook-desktop-light');
  expect(await chosen()).toEqual(['call.connect', 'client.removed']);
  await receiver.close();
});

test('creates, rotates and revokes an API key, and shows its secret once', async () => {
  const own = await stage.mesh.createPartner({ name: 'Keyed Software' });
  const page = await stage.openSignedIn('settings/keys', undefined, own.partner_key);
  const dialog = page.getByRole('dialog');
  const read = async (secret: string): Promise<number> =>
    (await own.call('GET', '/clients', undefined, { 'x-partner-key': secret })).status;
  const shown = async (): Promise<string> => {
    const secret = (await dialog.getByTestId('new-key').textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    return secret;
  };
  await page.getByText('There are no API keys yet.').waitFor();
  await page.getByRole('button', { name: 'Create …' }).click();
  await dialog.getByLabel('Name').fill('Reports');
  await dialog.getByLabel(/^read:/).check();
  await dialog.getByRole('button', { name: 'Create' }).click();
  const first = await shown();
  expect(await read(first)).toBe(200);
  await page.getByRole('cell', { name: /^Reports/ }).waitFor();
  await inspect(page, 'keys-desktop-light');
  await page.getByRole('button', { name: 'Rotate … Reports' }).click();
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  const second = await shown();
  expect([await read(first), await read(second)]).toEqual([200, 200]);
  expect(await page.content()).not.toContain(second);
  await page.getByRole('button', { name: 'Revoke … Reports' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('There are no API keys yet.').waitFor();
  expect([await read(first), await read(second)]).toEqual([401, 401]);
});

/** The page at both sizes and in both schemes. */
async function look(page: Page, name: string): Promise<void> {
  for (const { name: view, colorScheme, ...size } of [...VIEWS].reverse()) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await settle(page);
    expect([name, view, await faultsOf(page)]).toEqual([name, view, []]);
    await shoot(page, `${name}-${view}`);
  }
}

test('adds a webhook endpoint with chosen events, tests it, pauses and resumes it', async () => {
  const own = await stage.mesh.createPartner({ name: 'Software with endpoints' });
  const receiver = await startPartner();
  const page = await stage.openSignedIn('settings/receivers', undefined, own.partner_key);
  await page.getByRole('button', { name: /^Webhook address/ }).waitFor();
  await page.getByRole('button', { name: 'Add an endpoint …' }).click();
  const dialog = page.getByRole('dialog');
  const add = dialog.getByRole('button', { name: 'Add' });
  const address = dialog.getByLabel('Address');
  await address.fill('ftp://127.0.0.1/hook');
  await add.click();
  await eventually(async () => (await address.getAttribute('aria-invalid')) === 'true');
  await address.fill(`${receiver.url}?token=of-the-partner`);
  await dialog.getByRole('textbox', { name: 'Name' }).fill('CRM');
  await dialog.getByText('Chosen events').click();
  await add.click();
  await dialog.getByText('Choose at least one event.').waitFor();
  await dialog.getByRole('checkbox', { name: 'message.*' }).check();
  expect(await dialog.getByRole('checkbox', { name: 'message.sent' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Find an event').fill('sign-up fail');
  await dialog.getByRole('checkbox', { name: 'client.failed' }).check();
  await look(page, 'endpoint-create');
  await add.click();
  const secret = (await dialog.getByTestId('endpoint-secret').textContent()) as string;
  await look(page, 'endpoint-created');
  await dialog.getByRole('button', { name: 'Done' }).click();
  const [sent] = await eventually(() => receiver.arrivals.length > 0 && receiver.arrivals);
  expect(isStandardSigned(sent as Arrival, secret)).toBe(true);
  const listed = async () => (await own.call('GET', '/webhook-endpoints')).body.endpoints;
  await eventually(async () => (await listed())[0].status === 'active');
  await reload(page);
  await look(page, 'receivers');
  expect(await page.content()).not.toContain('of-the-partner');
  await page.getByRole('button', { name: /^CRM/ }).click();
  await page.getByRole('heading', { level: 1, name: 'CRM' }).waitFor();
  await page.getByRole('button', { name: 'Send a test event' }).click();
  await page.getByText('Your receiver accepted the test event').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  expect(await listed()).toMatchObject([
    { description: 'CRM', status: 'active', events: ['message.*', 'client.failed'] },
  ]);
  await receiver.close();
});

test('shows the attempts of an endpoint, delivers again, changes the endpoint and deletes it', async () => {
  const own = await stage.mesh.createPartner({ name: 'Software with attempts' });
  await own.register(ONE);
  const receiver = await startPartner();
  const created = await own.call('POST', '/webhook-endpoints', {
    url: `${receiver.url}?token=of-the-partner`,
    secret: chosenSecret(),
    events: ['message.*'],
  });
  const { endpoint_id } = created.body.endpoint;
  const path = `/webhook-endpoints/${endpoint_id}`;
  await stage.mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, text: 'Hi' });
  await eventually(async () => (await own.call('GET', path)).body.endpoint.health.delivered > 0);
  const page = await stage.openSignedIn(
    `settings/receivers/${endpoint_id}`,
    undefined,
    own.partner_key,
  );
  const attempt = page.getByRole('button', { name: 'message.received' });
  await attempt.waitFor();
  await look(page, 'endpoint');
  await attempt.click();
  const panel = page.getByRole('dialog');
  await panel.getByText(/^HTTP 200 after/).waitFor();
  await look(page, 'endpoint-attempt');
  expect(await panel.innerHTML()).not.toContain('of-the-partner');
  await panel.getByRole('button', { name: 'Deliver again' }).click();
  await panel.getByText('completed').waitFor();
  expect(receiver.of('message.received').length).toBe(2);
  receiver.behave((_arrival, response) => void response.writeHead(503).end());
  const from = '15550100884';
  await stage.mesh.emulator.inbound({
    phone_number_id: ONE.phone_number_id,
    from,
    text: 'Refused',
  });
  await eventually(async () => (await own.call('GET', '/webhooks/failed')).body.total > 0);
  receiver.behave(undefined);
  await page.goto(`${stage.origin}/dashboard/events/failed`);
  const row = page.getByRole('row').filter({ hasText: from });
  await row.getByText('HTTP 503').waitFor();
  await look(page, 'failed-rows');
  await row.getByRole('button', { name: `Retry for ${from}` }).click();
  await page.getByText('Your receiver accepted the event').waitFor();
  await settle(page);
  await page.goto(`${stage.origin}/dashboard/settings/receivers/${endpoint_id}`);
  await page.getByRole('textbox', { name: 'Name' }).fill('CRM');
  await page.getByRole('checkbox', { name: 'call.connect' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'CRM' }).waitFor();
  expect((await own.call('GET', path)).body.endpoint).toMatchObject({
    description: 'CRM',
    events: ['message.*', 'call.connect'],
  });
  await page.getByRole('button', { name: 'Delete …' }).click();
  await panel.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { level: 1, name: 'Receivers' }).waitFor();
  await settle(page);
  expect((await own.call('GET', path)).status).toBe(404);
  await receiver.close();
});

test('compares a shadow receiver with the webhook address, and stops it', async () => {
  const own = await stage.mesh.createPartner({ name: 'Software on trial' });
  await own.register(ONE);
  const tried = await startPartner();
  const started = await own.call('POST', '/webhook-shadows', {
    url: `${tried.url}?token=of-the-trial`,
  });
  expect([started.status, started.body.error]).toEqual([201, undefined]);
  tried.behave((_arrival, response) => void response.writeHead(500).end());
  await stage.mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, text: 'Hi' });
  const path = `/webhook-shadows/${started.body.shadow.shadow_id}`;
  await eventually(async () => (await own.call('GET', path)).body.shadow.comparison.different > 0);
  const page = await stage.openSignedIn('settings/receivers', undefined, own.partner_key);
  await page.getByText('1 answered differently (100%)').waitFor();
  await page.getByRole('table', { name: 'Answer times' }).waitFor();
  await page.getByRole('cell', { name: '5xx' }).waitFor();
  await page.getByRole('cell', { name: 'HTTP 500' }).waitFor();
  await inspect(page, 'shadow-desktop-light');
  expect(await page.content()).not.toContain('of-the-trial');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('stopped', { exact: true }).waitFor();
  expect((await own.call('GET', path)).body.shadow.status).toBe('stopped');
  await tried.close();
});

test('finds messages by recipient, state and day, and keeps the search in the address', async () => {
  const to = '15550100882';
  const sent = await stage.partner.call(
    'POST',
    '/messages/send',
    { to, text: 'Found' },
    scopeOf(ONE),
  );
  expect(sent.status).toBe(200);
  const page = await stage.openSignedIn('messages');
  const found = page.getByRole('button', { name: to });
  const none = page.getByText('No message was found');
  await page.getByRole('textbox', { name: 'Recipient or message ID' }).fill(to);
  await found.waitFor();
  await page.getByRole('combobox', { name: 'State' }).click();
  await page.getByRole('option', { name: 'failed' }).click();
  await none.waitFor();
  await reload(page);
  await none.waitFor();
  await page.getByLabel('Show all states').click();
  await found.waitFor();
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  await page.getByLabel('From').fill(tomorrow);
  await none.waitFor();
  await page.getByLabel('From').fill('');
  await page
    .getByRole('textbox', { name: 'Recipient or message ID' })
    .fill(sent.body.message_id as string);
  await found.waitFor();
});

test('saves the usage as CSV', async () => {
  const page = await stage.openSignedIn('usage');
  // Counts are stored a moment after the calls.
  await eventually(async () => {
    await reload(page);
    return (await page.getByRole('cell', { name: /clients/ }).count()) > 0;
  });
  const file = await saved(page.getByRole('button', { name: 'Export CSV' }).last());
  expect(file).toMatch(/^Endpoint,calls,errors\r\n.*clients.*,\d+,\d+/s);
});

test.each([
  ['settings', 'Technical contact', 'Save the contacts', 'ops', 'ops@stage.partner.example'],
  ['settings/alerts', 'Failed messages in percent', 'Save alerts', '101', '5'],
  [
    'settings/sign-up',
    'Allowed origins',
    'Save the origins',
    'https://shop.example.com/path',
    'https://shop.example.com\nhttps://crm.example.com',
  ],
])(
  'on %s, the field %s shows why it is refused, and keeps what is saved',
  async (path, label, button, wrong, right) => {
    const page = await stage.openSignedIn(path);
    const field = page.getByLabel(label);
    const save = page.getByRole('button', { name: button });
    const refused = page.locator('[aria-invalid=true]');
    await field.fill(wrong);
    await save.click();
    await refused.waitFor();
    await inspect(page);
    await field.fill(right);
    await save.click();
    await refused.waitFor({ state: 'detached' });
    await reload(page);
    await eventually(async () => (await field.inputValue()) === right);
  },
);

test('sets a logo for the sign-up page, and names the field of an address that has none', async () => {
  const files = createServer((_request, response) => void response.end(PNG));
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  const { port } = files.address() as AddressInfo;
  const page = await stage.openSignedIn('settings/sign-up');
  const address = page.getByLabel('Logo address');
  const save = page.getByRole('button', { name: 'Save the logo' });
  const logo = page.getByRole('img', { name: 'Your logo' });
  await address.fill('http://127.0.0.1:1/logo.png');
  await save.click();
  await eventually(async () => (await address.getAttribute('aria-invalid')) === 'true');
  await address.fill(`http://127.0.0.1:${port}/logo.png`);
  await save.click();
  await logo.waitFor();
  files.close();
  const shown = await page.request.get(
    await logo.evaluate((image) => (image as HTMLImageElement).src),
  );
  expect(await shown.body()).toEqual(PNG);
  await address.fill('');
  await save.click();
  await logo.waitFor({ state: 'detached' });
});
