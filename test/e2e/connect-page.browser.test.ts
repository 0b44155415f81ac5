// The hosted onboarding page in a real browser, with the emulator's sign-up dialog: every outcome
// of a sign-up, and the accessibility of what it shows.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { eventually } from '../testkit/eventually';
import { LANGUAGES } from '../../gateway/src/connect-page/texts';
import { ONE } from '../harness/shared-mesh';
import { connectStage, type Visit, openWindow, press, pressEnter } from './connect-browser';
import { inspectSchemes } from './console-stage';
import { consoleOf } from './people-support';
import { withDatabase } from './stored';

const WABA = ONE.waba_id;
const NUMBER = ONE.phone_number_id;
const HALF_AN_HOUR_MS = 30 * 60_000;

/** One pixel. */
const LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const stage = connectStage();

const steps = async (): Promise<Array<Record<string, unknown>>> =>
  (await stage.partner.call('GET', '/onboarding/events?limit=200')).body.events;

/** The page sends its reports in the background. */
const lastStep = (expected: object): Promise<unknown> =>
  eventually(async () => {
    expect((await steps())[0]).toMatchObject(expected);
    return true;
  });

const shows = ({ page }: Pick<Visit, 'page'>, text: RegExp): Promise<void> =>
  page.getByText(text).first().waitFor();

/** Like the console. */
async function changeSettings(settings: object): Promise<void> {
  const web = consoleOf(stage.mesh);
  const { partner_key } = stage.partner;
  const call = web.browserOf(await web.ask('POST', '/session', { body: { partner_key } }));
  expect((await call('PATCH', '/settings', settings)).status).toBe(200);
}

/** Backdates the creation of a link; the service's clock is unchanged. */
const makeOlder = (token_ms: number): Promise<unknown> =>
  withDatabase(stage.mesh, 'onboarding', (db) =>
    db
      .collection('connect_sessions')
      .updateMany({}, { $set: { created_at: new Date(Date.now() - token_ms) } }),
  );

/** On a busy machine the dialog is on the screen for a while before its script runs. */
const delayDialogScript = (context: BrowserContext): Promise<unknown> =>
  context.route('**/dialog.js', async (route) => {
    await sleep(500);
    await route.continue();
  });

const SMALL_PHONE = { width: 320, height: 568 };

/**
 * The page's language and direction, and whether all of its width and of the message can be seen.
 */
const lookAt = (page: Page, message: string): Promise<object> =>
  page.evaluate(`(() => {
    const { lang, dir, scrollWidth, clientWidth } = document.documentElement;
    const { top, bottom } = document.getElementById('${message}').getBoundingClientRect();
    return { lang, dir, fits: scrollWidth <= clientWidth, inView: top >= 0 && bottom <= innerHeight };
  })()`);

const asWanted = (language: string): object => ({
  lang: language,
  dir: language === 'ar' ? 'rtl' : 'ltr',
  fits: true,
  inView: true,
});

describe('a completed sign-up', () => {
  let connect_url: string;
  beforeAll(async () => {
    ({ connect_url } = await stage.link());
  });

  test('connects the number and notifies the partner’s page', async () => {
    const { page, dialog, message, complaints } = await stage.begin();
    expect(await page.title()).toBe('Connect your number to Example & Partner');
    const popup = await dialog();
    await popup.selectOption('#account', WABA);
    await press(popup, '#finish');
    expect(await message()).toEqual({
      origin: stage.gateway,
      data: {
        type: 'SERVICE_CONNECT_SUCCESS',
        state: 'order-17',
        waba_id: WABA,
        phone_number_id: NUMBER,
        display_name: 'Example Shop',
        quality_rating: 'GREEN',
        connection_mode: 'coexistence',
      },
    });
    await shows({ page }, /Done\. Example Shop is connected/);
    const { body } = await stage.partner.call('GET', '/clients');
    expect(body.clients).toEqual([
      expect.objectContaining({ waba_id: WABA, phone_number_id: NUMBER, status: 'active' }),
    ]);
    expect(complaints).toEqual([]);
    await eventually(async () => {
      const names = (await steps()).map(({ current_step }) => current_step);
      expect(names).toEqual(
        expect.arrayContaining([
          'SESSION_CREATED',
          'PAGE_OPENED',
          'DIALOG_OPENED',
          'DIALOG_FINISHED',
          'CODE_EXCHANGE',
          'DISCOVERY',
          'REGISTRATION',
          'COEXISTENCE_SYNC',
          'COMPLETED',
        ]),
      );
      return true;
    });
    // The link is used: the page says so when it is loaded again.
    const again = await page.reload();
    expect(again?.status()).toBe(410);
    await shows({ page }, /This link has been used/);
    await inspectSchemes(page, 'sign-up used');
  });

  test('shows the partner’s logo, served by us as a picture and nothing else', async () => {
    const files = createServer((_request, response) => void response.end(LOGO));
    await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
    const { port } = files.address() as AddressInfo;
    await changeSettings({ logo_url: `http://127.0.0.1:${port}/logo` });
    files.close();
    const { page } = await stage.begin();
    const logo = page.locator('img.logo');
    await eventually(() =>
      logo.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth === 1),
    );
    const address = (await logo.getAttribute('src')) as string;
    const answer = await fetch(new URL(address, `${stage.gateway}/connect`));
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(LOGO);
    const none = await fetch(`${stage.gateway}/connect/logo/${'0'.repeat(32)}`);
    expect(none.status).toBe(404);
    await changeSettings({ logo_url: null });
  });

  test.each(Object.entries(LANGUAGES))(
    'fits a small phone in the language %s, with each message in view',
    async (language, texts) => {
      const context = await stage.browser.newContext({ locale: language, viewport: SMALL_PHONE });
      try {
        const page = await context.newPage();
        await page.addInitScript('if (location.pathname === "/connect") window.open = () => null');
        await page.goto(connect_url);
        await page.getByRole('status').getByText(texts.ready).waitFor();
        expect(await lookAt(page, 'status')).toEqual(asWanted(language));
        await page.getByRole('button', { name: texts.connect }).click();
        await page.getByRole('alert').getByText(texts.popup_blocked).waitFor();
        expect(await lookAt(page, 'problem')).toEqual(asWanted(language));
      } finally {
        await context.close();
      }
    },
  );

  test('works with only the keyboard and announces the result', async () => {
    const { page } = await stage.begin(delayDialogScript);
    await shows({ page }, /Ready\. The sign-up opens in a new window/);
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    expect(await focused.textContent()).toBe('Connect my number');
    const popup = await openWindow(page, () => page.keyboard.press('Enter'));
    await popup.locator('#finish').focus();
    await pressEnter(popup);
    await page
      .getByRole('status')
      .getByText(/Done\./)
      .waitFor();
    expect(await page.getByRole('status').getAttribute('aria-live')).toBe('polite');
    expect(await page.locator(':focus').getAttribute('id')).toBe('status');
  });

  test('happens once, however often the button is pressed and the page is loaded', async () => {
    const { page, context, messages } = await stage.begin();
    await page.reload();
    await page.getByText(/Ready\./).waitFor();
    const before = context.pages().length;
    const popup = await openWindow(page, () => page.dblclick('#start'));
    expect(context.pages()).toHaveLength(before + 1);
    await stage.mesh.emulator.clearRequests();
    await press(popup, '#finish');
    // The partner's page still receives the message after the reload, which looked like a closed
    // window.
    await eventually(
      async () => (await messages()).at(-1)?.data['type'] === 'SERVICE_CONNECT_SUCCESS',
    );
    expect(await stage.mesh.emulator.requests({ path: '/oauth/access_token' })).toHaveLength(1);
  });
});

describe('a link that names the partner’s pages', () => {
  const linkTo = async (state?: string): Promise<string> => {
    const { origin } = stage.site;
    await changeSettings({ connect_origins: [origin] });
    const urls = { success_url: `${origin}/done?order=7`, failure_url: `${origin}/failed` };
    const { status, body } = await stage.partner.call('POST', '/connect/session', {
      ...(state !== undefined && { state }),
      ...urls,
    });
    expect(status).toBe(201);
    return body.connect_url;
  };
  afterAll(() => changeSettings({ connect_origins: [] }));
  const open = async (url: string) => {
    const context = await stage.browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    await shows({ page }, /Ready\./);
    const dialog = await openWindow(page, () =>
      page.getByRole('button', { name: /connect my number/i }).click(),
    );
    return { context, page, dialog };
  };
  const arrived = async (page: Page, path: string): Promise<object> => {
    await page.waitForURL((url) => url.origin === stage.site.origin && url.pathname === path);
    return Object.fromEntries(new URL(page.url()).searchParams);
  };

  test('leads there without an opener, with the outcome in the query', async () => {
    const { context, page, dialog } = await open(await linkTo('order 17'));
    await dialog.selectOption('#account', WABA);
    await press(dialog, '#finish');
    expect(await arrived(page, '/done')).toEqual({
      order: '7',
      state: 'order 17',
      waba_id: WABA,
      phone_number_id: NUMBER,
    });
    await context.close();
  });

  test('leads elsewhere after a failure or a cancel', async () => {
    for (const [button, code] of [
      ['#cancel', 'DIALOG_CANCELLED'],
      ['#error', 'DIALOG_FAILED'],
    ] as const) {
      const { context, page, dialog } = await open(await linkTo());
      await press(dialog, button);
      expect(await arrived(page, '/failed')).toEqual({ code });
      await context.close();
    }
    await stage.mesh.emulator.fault({
      match: { path: '/oauth/access_token' },
      error: { code: 100, subcode: 36007, message: 'This authorization code has expired.' },
    });
    const { context, page, dialog } = await open(await linkTo('s'));
    await press(dialog, '#finish');
    expect(await arrived(page, '/failed')).toEqual({ state: 's', code: 'CODE_EXCHANGE_FAILED' });
    await context.close();
  });

  test('still posts the message to an opener first', async () => {
    const { page, dialog, message } = await stage.begin(undefined, await linkTo('order-17'));
    await press(await dialog(), '#finish');
    expect((await message()).data).toMatchObject({
      type: 'SERVICE_CONNECT_SUCCESS',
      state: 'order-17',
    });
    expect(await arrived(page, '/done')).toMatchObject({ state: 'order-17' });
  });
});

describe('an abandoned sign-up', () => {
  test('reports the step to the partner’s page, and a retry works', async () => {
    const { page, dialog, message } = await stage.begin();
    await shows({ page }, /Ready\./);
    await inspectSchemes(page, 'sign-up ready');
    const popup = await dialog();
    await inspectSchemes(page, 'sign-up in progress');
    await popup.selectOption('#step', 'PHONE_NUMBER_VERIFICATION');
    await press(popup, '#cancel');
    expect(await message()).toEqual({
      origin: stage.gateway,
      data: {
        type: 'SERVICE_CONNECT_CANCEL',
        state: 'order-17',
        reason: 'cancelled',
        current_step: 'PHONE_NUMBER_VERIFICATION',
      },
    });
    await shows({ page }, /closed before it was finished/);
    await inspectSchemes(page, 'sign-up cancelled');
    await lastStep({
      state: 'order-17',
      current_step: 'PHONE_NUMBER_VERIFICATION',
      error_code: 'DIALOG_CANCELLED',
    });
    const again = await dialog();
    await press(again, '#finish');
    expect((await message()).data['type']).toBe('SERVICE_CONNECT_SUCCESS');
    await shows({ page }, /Done\./);
    await inspectSchemes(page, 'sign-up done');
  });

  test.each([
    ['the dialog', 'dialog_closed', async ({ dialog }: Visit) => press(await dialog(), '#close')],
    [
      'the whole window',
      'window_closed',
      async ({ page }: Visit) => {
        await page.getByText(/Ready\./).waitFor();
        await page.close({ runBeforeUnload: true });
      },
    ],
  ] as const)('is reported when %s is closed', async (_what, reason, close) => {
    const visited = await stage.begin();
    await close(visited);
    expect((await visited.message()).data).toEqual({
      type: 'SERVICE_CONNECT_CANCEL',
      state: 'order-17',
      reason,
      current_step: null,
    });
  });

  test('is noticed when the dialog is closed and its script never answers', async () => {
    const { page, message } = await stage.begin((context) =>
      context.addInitScript(() => {
        const silent = { init: () => undefined, login: () => void window.open('about:blank') };
        Object.defineProperty(window, 'FB', { get: () => silent, set: () => undefined });
      }),
    );
    await page.getByText(/Ready\./).waitFor();
    const dialog = await openWindow(page, () => page.click('#start'));
    await dialog.close();
    expect((await message()).data).toMatchObject({
      type: 'SERVICE_CONNECT_CANCEL',
      reason: 'dialog_closed',
    });
    expect(await page.getByRole('button', { name: 'Try again' }).isEnabled()).toBe(true);
  });

  test('is reported and stored with the code and trace of an error', async () => {
    const { page, dialog, message } = await stage.begin();
    const popup = await dialog();
    await press(popup, '#error');
    const { data } = await message();
    expect(data).toMatchObject({
      type: 'SERVICE_CONNECT_ERROR',
      state: 'order-17',
      message: 'The sign-up dialog failed.',
      code: '123456',
      current_step: null,
    });
    expect(data['upstream_session_id']).toMatch(/^[0-9a-f]{16}$/);
    await shows({ page }, /ended with an error: Name not allowed/);
    await lastStep({
      error_code: '123456',
      error_message: 'Name not allowed',
      upstream_session_id: data['upstream_session_id'],
    });
  });
});

describe('an error is shown', () => {
  test('when the code is refused', async () => {
    await stage.mesh.emulator.fault({
      match: { path: '/oauth/access_token' },
      error: { code: 100, subcode: 36007, message: 'This authorization code has expired.' },
    });
    const { page, dialog, message } = await stage.begin();
    await press(await dialog(), '#finish');
    expect((await message()).data).toEqual({
      type: 'SERVICE_CONNECT_ERROR',
      state: 'order-17',
      message: 'The code of the sign-up could not be exchanged.',
      code: 'CODE_EXCHANGE_FAILED',
      upstream_session_id: null,
      current_step: 'CODE_EXCHANGE',
    });
    await page
      .getByRole('alert')
      .getByText(/came too late or was used before/)
      .waitFor();
    await inspectSchemes(page, 'sign-up failed');
    expect(await page.getByRole('button', { name: 'Try again' }).isEnabled()).toBe(true);
  });

  test('when the platform’s script is blocked', async () => {
    const { page, message } = await stage.begin((context) =>
      context.route('**/sdk.js', (route) => route.abort()),
    );
    await page
      .getByRole('alert')
      .getByText(/could not be loaded/)
      .waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('problem');
    expect((await message()).data).toMatchObject({ code: 'SCRIPT_BLOCKED', state: 'order-17' });
    expect(await page.getByRole('button', { name: 'Load the page again' }).isVisible()).toBe(true);
  });

  test('when the browser blocks the window', async () => {
    const { page, message, messages } = await stage.begin((context) =>
      context.addInitScript(() => {
        if (location.pathname === '/connect') window.open = () => null;
      }),
    );
    await page.getByText(/Ready\./).waitFor();
    await page.click('#start');
    await page
      .getByRole('alert')
      .getByText(/blocked the sign-up window/)
      .waitFor();
    expect((await message()).data).toMatchObject({ code: 'POPUP_BLOCKED' });
    await page.waitForTimeout(1_000);
    expect(await messages()).toHaveLength(1);
  });

  test('to the opener too when the link was used, with the state of its session', async () => {
    const { connect_url } = await stage.link();
    await makeOlder(HALF_AN_HOUR_MS + 1_000);
    const { page, message } = await stage.begin(undefined, connect_url);
    await inspectSchemes(page, 'sign-up link invalid');
    expect((await message()).data).toEqual({
      type: 'SERVICE_CONNECT_ERROR',
      state: 'order-17',
      message: 'This link is not valid any more',
      code: 'LINK_EXPIRED',
      upstream_session_id: null,
      current_step: null,
    });
  });
});
