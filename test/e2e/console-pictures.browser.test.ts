// The pictures that the README shows, of a partner with some traffic. BMG_PICTURES=<folder> takes
// them; they are copied from there to gateway/console/pictures.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { ONE } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import {
  consoleStage,
  failDeliveries,
  LIMIT_MS,
  settle,
  VIEWS,
  visit,
  type ConsoleStage,
} from './console-stage';
import { loadSampleRates, removeRates } from './rates-support';
import { withDatabase } from './stored';

const CONSOLE = resolve(__dirname, '../../gateway/console');
/** The pictures that the README shows. */
const SHOWN_FOLDER = resolve(CONSOLE, 'pictures');
/** Where they are taken. */
const FOLDER = process.env['BMG_PICTURES'];
const [DESK, PHONE] = VIEWS;
/** Small enough for the README. */
const BYTES_MAX = 90 * 1024;
const QUALITY = 55;
const DAY_MS = 86_400_000;
const DAYS = 45;
const { waba_id, phone_number_id } = ONE;
const OF_ONE = { 'x-waba-id': waba_id };
const CUSTOMER = '15550100777';
const LOST = '15550100871';

/** Days that cannot be waited for: invented figures, as onboarding stores them. */
async function storePast({ mesh, partner: { partner_id } }: ConsoleStage): Promise<void> {
  const days = Array.from({ length: DAYS }, (_none, at) => {
    const day_at = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - (at + 1) * DAY_MS);
    const day = day_at.toISOString().slice(0, 10);
    const sent = 180 + ((at * 47) % 90) - (day_at.getUTCDay() % 6 === 0 ? 90 : 0);
    const counts = (share: number) => ({
      sent: Math.round(sent * share),
      delivered: Math.round(sent * share * 0.96),
      read: Math.round(sent * share * 0.71),
      failed: Math.round(sent * share * 0.03),
      billable: Math.round(sent * share * 0.9),
    });
    const categories = { utility: counts(0.6), marketing: counts(0.25), service: counts(0.15) };
    return { _id: `${partner_id}/${day}`, partner_id, day, day_at, categories, applied: [] };
  });
  await withDatabase(mesh, 'onboarding', (db) =>
    db.collection<{ _id: string }>('message_usage').insertMany(days),
  );
}

/** Sends of each outcome, an answer, and an event that the receiver refused. */
async function makeTraffic({ mesh, partner }: ConsoleStage): Promise<void> {
  await mesh.emulator.behaviour({ fail_status: [{ to: LOST, code: 131_026 }] });
  await mesh.emulator.inbound({ phone_number_id, from: CUSTOMER, text: 'Is it in stock?' });
  const people = Array.from({ length: 14 }, (_none, at) => String(15_550_100_777 + at * 7));
  for (const to of [...people, LOST]) {
    await partner.call('POST', '/messages/send', { to, text: 'Your order is ready' }, OF_ONE);
  }
  await eventually(async () => {
    const { body } = await partner.call('GET', '/messages?status=failed');
    return body.messages.length > 0;
  });
  await failDeliveries({ mesh, partner }, { from: CUSTOMER, id: 'wamid.REFUSED' });
}

async function take(page: Page, name: string): Promise<void> {
  await settle(page);
  const session = await page.context().newCDPSession(page);
  const { data } = (await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: QUALITY,
  })) as { data: string };
  await session.detach();
  writeFileSync(resolve(FOLDER as string, `${name}.webp`), Buffer.from(data, 'base64'));
}

async function chooseContacts(page: Page): Promise<void> {
  await visit(page, `broadcasts/new?number=${phone_number_id}`);
  await page.getByRole('combobox', { name: 'Template' }).click();
  await page.getByRole('option', { name: /^order_update/ }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  const rows = Array.from({ length: 200 }, (_none, at) => `1555020${1000 + at},Ada,A-${at}`);
  rows.splice(10, 0, 'nonsense,Bob,B-1');
  const buffer = Buffer.from(['phone,first,second', ...rows].join('\n'));
  const file = { name: 'contacts.csv', mimeType: 'text/csv', buffer };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByText('Line 12 “nonsense”').waitFor();
}

async function takeAll({ openSignedIn }: ConsoleStage): Promise<void> {
  const page = await openSignedIn('', DESK);
  await take(page, 'overview');
  await visit(page, 'events');
  await take(page, 'events');
  await chooseContacts(page);
  await take(page, 'broadcast-contacts');
  await take(await openSignedIn('numbers', PHONE), 'numbers-phone');
}

if (FOLDER) {
  const stage = consoleStage({
    prepare: () => loadSampleRates(stage.mesh),
    async leave() {
      await removeRates(stage.mesh);
      await stage.mesh.emulator.behaviour({ fail_status: null });
    },
  });
  test(
    'takes the pictures of the README',
    async () => {
      mkdirSync(FOLDER, { recursive: true });
      await storePast(stage);
      await makeTraffic(stage);
      await takeAll(stage);
    },
    2 * LIMIT_MS,
  );
}

test('the repository has the pictures that the README shows, and none is large', () => {
  const readme = readFileSync(resolve(CONSOLE, '../../README.md'), 'utf8');
  const shown = [...readme.matchAll(/gateway\/console\/pictures\/([\w.-]+)/g)].map(
    ([, name]) => name,
  );
  const files = readdirSync(SHOWN_FOLDER);
  expect(files.sort()).toEqual(shown.sort());
  expect(shown.length).toBeGreaterThan(0);
  const large = files.filter((name) => statSync(resolve(SHOWN_FOLDER, name)).size > BYTES_MAX);
  expect(large).toEqual([]);
});
