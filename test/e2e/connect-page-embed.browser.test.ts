// The two programs of the partners' page on embedding the sign-up work: they run exactly as they
// are printed there, in Node and in a real browser.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { freePort } from '../../deploy/local/src/ports';
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/shared-mesh';
import { connectStage, openWindow, press } from './connect-browser';

const PAGE = resolve(__dirname, '../../gateway/docs/guides/embedding.md');
const LINES_MAX = 22;

const stage = connectStage();
let folder: string;
let server: ChildProcess;
let site: string;
const complaints: string[] = [];

const block = (text: string, language: string): string => {
  const found = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text)?.[1];
  if (found === undefined) throw new Error(`there is no program in ${language}`);
  return found;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embed-'));
  const text = await readFile(PAGE, 'utf8');
  await writeFile(join(folder, 'server.mjs'), block(text, 'js'));
  await writeFile(join(folder, 'page.html'), block(text, 'html'));
  const port = await freePort();
  site = `http://127.0.0.1:${port}`;
  server = spawn(process.execPath, [join(folder, 'server.mjs')], {
    env: {
      PATH: process.env['PATH'] ?? '',
      BASE_URL: stage.mesh.base_url,
      PARTNER_KEY: stage.partner.partner_key,
      PORT: String(port),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  server.stderr?.on('data', (line: Buffer) => complaints.push(line.toString()));
  await eventually(async () => (await fetch(site)).ok);
});
afterAll(async () => {
  server.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** The partner's page, the popup that it opened, and the dialog that the popup opened. */
async function visit(): Promise<{ page: Page; popup: Page; dialog: Page }> {
  const page = await (await stage.browser.newContext()).newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(site);
  const popup = await openWindow(page, () => page.click('#connect'));
  await popup.getByText(/Ready\./).waitFor();
  const dialog = await openWindow(popup, () => popup.click('#start'));
  return { page, popup, dialog };
}
const says = (page: Page, text: string | RegExp): Promise<void> =>
  page.locator('#outcome').getByText(text).waitFor();

test('keeps both programs within the length that the page states', async () => {
  const text = await readFile(PAGE, 'utf8');
  for (const language of ['js', 'html']) {
    const lines = block(text, language).trim().split('\n');
    expect([language, lines.length]).toEqual([language, Math.min(lines.length, LINES_MAX)]);
  }
});

test('connects a number after a click and notifies the partner’s page', async () => {
  const { page, popup, dialog } = await visit();
  await dialog.selectOption('#account', ONE.waba_id);
  await press(dialog, '#finish');
  await says(page, `My client is connected (${ONE.waba_id}).`);
  await popup.getByText(/Done\./).waitFor();
  expect((await stage.partner.call('GET', '/clients')).body.total).toBe(1);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test('reports a cancelled sign-up, and a retry in the same popup succeeds', async () => {
  const { page, popup, dialog } = await visit();
  await press(dialog, '#close');
  await says(page, 'Not connected: dialog_closed.');
  const again = await openWindow(popup, () => popup.click('#start'));
  await press(again, '#finish');
  await says(page, /is connected/);
  await page.context().close();
});

test('reports a failure with its code', async () => {
  await stage.mesh.emulator.fault({
    match: { path: '/oauth/access_token' },
    error: { code: 100, subcode: 36007, message: 'This authorization code has expired.' },
  });
  const { page, dialog } = await visit();
  await press(dialog, '#finish');
  await says(page, 'Not connected (CODE_EXCHANGE_FAILED).');
  // None of the platform's own text, which the message to the page has.
  expect(await page.locator('body').textContent()).not.toContain('authorization code');
  await page.context().close();
});

test('ignores messages from other origins and messages without the state', async () => {
  const page = await (await stage.browser.newContext()).newPage();
  const stranger = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Stranger</title>');
  });
  await new Promise<void>((done) => stranger.listen(0, '127.0.0.1', done));
  try {
    await page.goto(site);
    const popup = await openWindow(page, () => page.click('#connect'));
    await popup.getByText(/Ready\./).waitFor();
    const success = { type: 'SERVICE_CONNECT_SUCCESS', display_name: 'Mallory', waba_id: '1' };
    // From the right origin without the state, then from another origin.
    await popup.evaluate(
      (data) => window.opener.postMessage({ ...data, state: 'x' }, '*'),
      success,
    );
    await page.evaluate(() => new Promise((done) => setTimeout(done)));
    expect(await page.locator('#outcome').textContent()).toBe('');
    await popup.goto(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`);
    await says(page, 'Not connected: window_closed.');
    await popup.evaluate((data) => window.opener?.postMessage(data, '*'), success);
    await page.evaluate(() => new Promise((done) => setTimeout(done)));
    // Only the message of the page that the popup has left was accepted.
    expect(await page.locator('#outcome').textContent()).toBe('Not connected: window_closed.');
  } finally {
    await page.context().close();
    stranger.close();
    stranger.closeAllConnections();
  }
});
