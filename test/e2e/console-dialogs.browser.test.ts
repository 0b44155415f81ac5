// Every panel and dialog of the console in a real browser, with the keyboard only: accessibility at
// rest, after a refusal and with what it made, and the focus, which stays in it and returns to what
// opened it.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { ONE, type TestPartner } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { chosenSecret } from '../testkit/partner';
import { createBroadcast, scopeOf } from './broadcast-support';
import {
  consoleStage,
  failDeliveries,
  faultsOf,
  isFocused,
  LIMIT_MS,
  settle,
  shoot,
  tabTo,
  VIEWS,
  visit as goTo,
} from './console-stage';

const SOURCES = resolve(__dirname, '../../gateway/console/src/screens');
const { waba_id, phone_number_id } = ONE;
const NUMBER = encodeURIComponent(`${waba_id}/${phone_number_id}`);
const TEMPLATE = 'order_update';
const PERSON = 'grace@example.com';
const KEY = 'Order system';
const ENDPOINT = 'CRM';

let partner: TestPartner;
const stage = consoleStage({ prepare });

async function prepare(): Promise<void> {
  ({ partner } = stage);
  await partner.call('POST', '/messages/send', { to: '15550100835', text: 'Hello' }, scopeOf(ONE));
  await partner.call('POST', '/keys', { name: KEY, scopes: ['read'] });
  await partner.call('POST', '/people', { email: PERSON, role: 'support' });
  await partner.call('POST', '/webhook-endpoints', {
    url: partner.receiver.url,
    description: ENDPOINT,
    secret: chosenSecret(),
  });
  await createBroadcast(partner, ONE, ['15550100836']);
  const refused = await partner.call('POST', '/messages/send', { to: '15550100835' }, scopeOf(ONE));
  expect(refused.body.error.code).toBe('MISSING_FIELDS');
  await failDeliveries(stage, { from: '15550100837', id: 'wamid.DIALOGS' });
}

interface Case {
  /** Below `screens/`. */
  file: string;
  path: string;
  name: string;
  opener: (page: Page) => Locator;
}

const firstRow = (page: Page): Locator =>
  page.getByRole('table').getByRole('cell').getByRole('button').first();
const button =
  (name: string): Case['opener'] =>
  (page) =>
    page.getByRole('button', { name, exact: true });

const PANELS: Case[] = [
  { file: 'numbers/drawer', path: 'numbers', name: 'number', opener: firstRow },
  { file: 'messages', path: 'messages', name: 'message', opener: firstRow },
  { file: 'events/logged', path: 'events', name: 'event', opener: firstRow },
  { file: 'events/drawer', path: 'events/failed', name: 'failed event', opener: firstRow },
  { file: 'templates', path: 'templates', name: 'template', opener: firstRow },
  { file: 'broadcasts', path: 'broadcasts', name: 'broadcast', opener: firstRow },
  { file: 'settings/audit', path: 'settings/audit', name: 'change', opener: firstRow },
  { file: 'developers/request-panel', path: 'developers', name: 'request', opener: firstRow },
  {
    file: 'problems/panel',
    path: 'problems',
    name: 'problem',
    opener: (page) => page.getByRole('button', { name: 'HTTP 503' }),
  },
];

interface DialogCase extends Case {
  /** Makes the opener appear. */
  prepare?: (page: Page) => Promise<unknown>;
  /** What is needed before its action can be pressed. */
  fill?: (dialog: Locator) => Promise<unknown>;
  action: string;
  /** How to see what the action made, for an action whose result stays in the dialog. */
  made?: (dialog: Locator) => Locator;
}

const DIALOGS: DialogCase[] = [
  {
    file: 'numbers/connect',
    path: 'numbers',
    name: 'connect a number',
    opener: button('Connect a number'),
    action: 'Make a link',
    made: (dialog) => dialog.getByLabel('Link', { exact: true }),
  },
  {
    file: 'numbers/drawer',
    path: `numbers?open=${NUMBER}`,
    name: 'delete an account',
    opener: button('Delete the business account'),
    fill: (dialog) => dialog.getByRole('textbox').fill(waba_id),
    action: 'Delete',
  },
  {
    file: 'events/replay',
    path: 'events',
    name: 'replay',
    opener: button('Replay …'),
    action: 'Replay these events',
  },
  {
    file: 'events',
    path: 'events/failed',
    name: 'retry all',
    opener: button('Retry all'),
    action: 'Retry all',
  },
  {
    file: 'templates/create',
    path: `templates?number=${phone_number_id}`,
    name: 'create a template',
    opener: button('Create a template'),
    fill: async (dialog) => {
      await dialog.getByRole('textbox', { name: 'Name' }).fill('parcel_sent');
      await dialog.getByRole('textbox', { name: 'Text', exact: true }).fill('It is sent.');
    },
    action: 'Submit for approval',
  },
  {
    file: 'templates',
    path: `templates?number=${phone_number_id}`,
    name: 'delete a template',
    prepare: (page) => page.getByRole('button', { name: TEMPLATE, exact: true }).click(),
    opener: button('Delete'),
    fill: (dialog) => dialog.getByRole('textbox').fill(TEMPLATE),
    action: 'Delete',
  },
  {
    file: 'settings/secret',
    path: 'settings/receivers/webhook',
    name: 'rotate the webhook secret',
    opener: button('Rotate …'),
    action: 'Rotate',
    made: (dialog) => dialog.getByTestId('new-secret'),
  },
  {
    file: 'settings/create-endpoint',
    path: 'settings/receivers',
    name: 'add an endpoint',
    opener: button('Add an endpoint …'),
    fill: (dialog) => dialog.getByLabel('Address').fill(partner.receiver.url),
    action: 'Add',
    made: (dialog) => dialog.getByTestId('endpoint-secret'),
  },
  {
    file: 'settings/endpoint-actions',
    path: 'settings/receivers',
    name: 'delete an endpoint',
    prepare: (page) => page.getByRole('button', { name: new RegExp(`^${ENDPOINT}`) }).click(),
    opener: button('Delete …'),
    action: 'Delete',
  },
  {
    file: 'settings/keys',
    path: 'settings/keys',
    name: 'create a key',
    opener: button('Create …'),
    fill: async (dialog) => {
      await dialog.getByLabel('Name').fill('Reports');
      await dialog.getByLabel(/^read:/).check();
    },
    action: 'Create',
    made: (dialog) => dialog.getByTestId('new-key'),
  },
  {
    file: 'settings/keys',
    path: 'settings/keys',
    name: 'rotate a key',
    opener: button(`Rotate … ${KEY}`),
    action: 'Rotate',
    made: (dialog) => dialog.getByTestId('new-key'),
  },
  {
    file: 'settings/keys',
    path: 'settings/keys',
    name: 'revoke a key',
    opener: button(`Revoke … ${KEY}`),
    action: 'Revoke',
  },
  {
    file: 'settings/people',
    path: 'settings/people',
    name: 'invite a person',
    opener: button('Invite …'),
    fill: (dialog) => dialog.getByRole('textbox', { name: 'E-mail address' }).fill('a@example.com'),
    action: 'Invite',
  },
  {
    file: 'settings/people',
    path: 'settings/people',
    name: 'change a role',
    opener: button(`Role … ${PERSON}`),
    fill: async (dialog) => {
      await dialog.getByRole('combobox', { name: 'Role' }).click();
      await dialog
        .page()
        .getByRole('option', { name: /^billing/ })
        .click();
    },
    action: 'Change',
  },
  {
    file: 'settings/people',
    path: 'settings/people',
    name: 'renew an invitation',
    opener: button(`New link … ${PERSON}`),
    action: 'Make a new link',
    made: (dialog) => dialog.getByTestId('invitation'),
  },
  {
    file: 'settings/people',
    path: 'settings/people',
    name: 'remove a person',
    opener: button(`Remove … ${PERSON}`),
    action: 'Remove',
  },
];

/** Those that need more than a click are checked where they are used. */
const ELSEWHERE = [
  'broadcasts/actions',
  'broadcasts/preflight',
  'broadcasts/resend',
  // People who have signed in do this in console-people.browser.test.ts.
  'broadcasts/approve',
  'settings/approval',
  'settings/passkeys',
  // console-states.browser.test.ts opens it.
  'events/send-test',
];

test('every file with a panel or a dialog is checked', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tsx'))
    .filter((name) =>
      /<(?:Panel|Dialog|FormDialog|Confirm)\b/.test(readFileSync(resolve(SOURCES, name), 'utf8')),
    )
    .map((name) => name.replace(/\.tsx$/, ''));
  const checked = [...PANELS, ...DIALOGS].map(({ file }) => file);
  expect([...new Set([...checked, ...ELSEWHERE])].sort()).toEqual(files.sort());
});

async function check(page: Page, state: string): Promise<void> {
  await settle(page);
  expect([state, await faultsOf(page)]).toEqual([state, []]);
  await shoot(page, `dialog-${state.replaceAll(' ', '-')}`);
}

const hasFocus = (dialog: Locator): Promise<boolean> =>
  dialog.evaluate((element) => element.contains(element.ownerDocument.activeElement));

/** Opens with the keyboard; the focus does not leave what opened. */
async function openFrom(page: Page, opener: Locator, state: string): Promise<Locator> {
  await opener.waitFor();
  await settle(page);
  const below = await page.getByRole('dialog').count();
  await opener.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog').nth(below);
  await dialog.waitFor();
  await check(page, state);
  for (let presses = 0; presses < 5; presses += 1) await page.keyboard.press('Tab');
  expect([state, await hasFocus(dialog)]).toEqual([state, true]);
  return dialog;
}

async function closeTo(page: Page, dialog: Locator, opener: Locator): Promise<void> {
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await eventually(() => isFocused(opener));
}

async function visit(page: Page, path: string): Promise<void> {
  await goTo(page, path);
  // New rows push the first one down.
  if (path !== 'events') return;
  await firstRow(page).waitFor();
  await page.getByRole('switch', { name: 'Live' }).press('Space');
}

describe.each(VIEWS)('on $name', (view) => {
  test('every panel opens, keeps the focus, and gives it back to its row', async () => {
    const page = await stage.openSignedIn('', view);
    for (const { path, name, opener } of PANELS) {
      await visit(page, path);
      const panel = await openFrom(page, opener(page), `${name} ${view.name}`);
      await closeTo(page, panel, opener(page));
    }
  });

  test(
    'every dialog keeps the focus, names what was refused, shows what it made, and gives the focus back to its button',
    async () => {
      const page = await stage.openSignedIn('', view);
      const refused = /\/dashboard\/api\//;
      for (const { path, name, prepare, opener, fill, action, made } of DIALOGS) {
        await visit(page, path);
        await prepare?.(page);
        const state = `${name} ${view.name}`;
        const dialog = await openFrom(page, opener(page), state);
        await fill?.(dialog);
        await page.route(refused, (route) =>
          route.request().method() === 'GET' ? route.continue() : route.abort(),
        );
        const press = dialog.getByRole('button', { name: action, exact: true });
        await tabTo(page, press);
        await page.keyboard.press('Enter');
        await dialog.getByRole('alert').first().waitFor();
        await check(page, `${state} refused`);
        expect([state, await hasFocus(dialog)]).toEqual([state, true]);
        await page.unroute(refused);
        // A secret that was just rotated is not rotated again.
        if (made && view === VIEWS[0]) {
          await page.keyboard.press('Enter');
          await made(dialog).waitFor();
          await check(page, `${state} made`);
          expect([state, await hasFocus(dialog)]).toEqual([state, true]);
        }
        await closeTo(page, dialog, opener(page));
      }
    },
    2 * LIMIT_MS,
  );
});

interface WorkCase {
  path: string;
  name: string;
  /** The request that the button sends. */
  request: RegExp;
  method: string;
  before?: (page: Page) => Promise<unknown>;
}

/** A button of its own, the submit of a form that is saved then, and a download. */
const WORK: WorkCase[] = [
  { path: `numbers?open=${NUMBER}`, name: 'Refresh', request: /\/refresh$/, method: 'POST' },
  {
    path: 'settings/receivers/webhook',
    name: 'Save',
    request: /\/settings$/,
    method: 'PATCH',
    before: (page) => page.getByLabel('Webhook address').fill(`${partner.receiver.url}?moved=1`),
  },
  { path: 'usage/ledger', name: 'Export CSV', request: /\/ledger/, method: 'GET' },
];

test.each(WORK)(
  'the button $name on /$path works once for two presses, and keeps the focus',
  async ({ path, name, request, method, before }) => {
    const page = await stage.openSignedIn(path);
    const pressed = page.getByRole('button', { name, exact: true });
    await pressed.waitFor();
    await settle(page);
    await before?.(page);
    let release = (): void => undefined;
    const released = new Promise<void>((done) => (release = done));
    let asked = 0;
    await page.route(request, async (route) => {
      if (route.request().method() === method) {
        asked += 1;
        await released;
      }
      await route.continue();
    });
    await pressed.focus();
    await page.keyboard.press('Enter');
    await page.locator('button[aria-busy=true]').waitFor();
    await page.keyboard.press('Enter');
    expect(await faultsOf(page)).toEqual([]);
    expect(await isFocused(pressed)).toBe(true);
    release();
    await page.locator('button[aria-busy=true]').waitFor({ state: 'detached' });
    await settle(page);
    expect(asked).toBe(1);
    const has_focus = await page.evaluate(() => document.activeElement !== document.body);
    expect([name, has_focus]).toEqual([name, true]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  },
);
