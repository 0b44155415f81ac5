// Pictures of every screen of a partner with some traffic. BMG_PICTURES=<folder> takes them; those
// that the README shows are copied from there to gateway/console/pictures.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { MongoClient } from 'mongodb';
import type { Page } from 'playwright-core';
import { ONE, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { chosenSecret } from '../testkit/partner';
import { createBroadcast, detailOf, untilCompleted } from './broadcast-support';
import { STAGE_LIMIT_MS } from './connect-browser';
import {
  LIMIT_MS,
  openConsoleStage,
  SCREENS,
  settle,
  VIEWS,
  type ConsoleStage,
} from './console-stage';
import { joinMeshWithName } from './people-support';
import { loadSampleRates, removeRates } from './rates-support';

const CONSOLE = resolve(__dirname, '../../gateway/console');
/** The pictures that the README shows. */
const SHOWN_FOLDER = resolve(CONSOLE, 'pictures');
/** Where all pictures are written. */
const FOLDER = process.env['BMG_PICTURES'];
const [DESK, PHONE] = VIEWS;
/** Small enough for the README. */
const BYTES_MAX = 90 * 1024;
const QUALITY = 55;
const DAY_MS = 86_400_000;
const DAYS = 45;
const { waba_id, phone_number_id } = ONE;
const OF_ONE = { 'x-waba-id': waba_id };
const NUMBER = encodeURIComponent(`${waba_id}/${phone_number_id}`);
const CUSTOMER = '15550100777';
const LOST = '15550100871';
const CRM = 'CRM';
const PEOPLE = [
  ['ada@example.com', 'owner'],
  ['grace@example.com', 'developer'],
  ['linus@example.com', 'support'],
] as const;

interface Past {
  mesh: Mesh;
  partner: TestPartner;
}

/** Days that cannot be waited for: invented figures, as onboarding stores them. */
async function storePast({ mesh, partner: { partner_id } }: Past): Promise<void> {
  const client = await MongoClient.connect(mesh.env['MONGO_URL'] as string);
  const db = client.db(`${mesh.env['MONGO_DATABASE_PREFIX'] as string}onboarding`);
  const days = Array.from({ length: DAYS }, (_none, at) => {
    const day_at = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - (at + 1) * DAY_MS);
    return { at, day: day_at.toISOString().slice(0, 10), day_at };
  });
  await db.collection<{ _id: string }>('message_usage').insertMany(
    days.map(({ at, day, day_at }) => {
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
    }),
  );
  await db.collection<{ _id: string }>('number_days').insertMany(
    days.map(({ at, day, day_at }) => ({
      _id: `${partner_id}/${waba_id}/${phone_number_id}/${day}`,
      ...{ partner_id, waba_id, phone_number_id, day, day_at },
      quality_rating: at > 30 && at < 36 ? 'RED' : at > 24 && at < 40 ? 'YELLOW' : 'GREEN',
      messaging_limit_tier: at > 12 ? 'TIER_1K' : 'TIER_2K',
    })),
  );
  await client.close();
}

/**
 * Sends of each outcome, an answer, a broadcast, a key, and an event that the receiver refused.
 * Returns the id of a second broadcast, which is paused.
 */
async function makeTraffic({ mesh, partner }: Past): Promise<number> {
  const fail = [LOST, '15550300003', '15550300011'].map((to) => ({ to, code: 131_026 }));
  await mesh.emulator.behaviour({ fail_status: fail });
  await mesh.emulator.inbound({ phone_number_id, from: CUSTOMER, text: 'Is it in stock?' });
  const people = Array.from({ length: 14 }, (_none, at) => String(15_550_100_777 + at * 7));
  for (const to of [...people, LOST]) {
    await partner.call('POST', '/messages/send', { to, text: 'Your order is ready' }, OF_ONE);
  }
  await partner.call('POST', '/messages/send', { to: CUSTOMER }, OF_ONE);
  await partner.call('POST', '/keys', { name: 'Order system', scopes: ['send', 'read'] });
  await partner.call('POST', '/keys', { name: 'Monthly reports', scopes: ['billing'] });
  await partner.call('POST', '/webhook-endpoints', {
    url: partner.receiver.url,
    description: CRM,
    events: ['message.*', 'client.failed'],
    secret: chosenSecret(),
  });
  const contacts = Array.from({ length: 40 }, (_none, at) => String(15_550_300_000 + at));
  const id = await createBroadcast(partner, ONE, contacts, { name: 'Autumn sale' });
  await untilCompleted(partner, id, LIMIT_MS);
  const winter = Array.from({ length: 400 }, (_none, at) => String(15_550_310_000 + at));
  const paused = await createBroadcast(partner, ONE, winter, { name: 'Winter sale' });
  await eventually(async () => (await detailOf(partner, paused)).sent > 100, LIMIT_MS);
  await partner.call('POST', `/broadcasts/${paused}/pause`);
  await eventually(async () => {
    const { body } = await partner.call('GET', '/messages?status=failed');
    return body.messages.length === fail.length;
  });
  partner.receiver.behave((_arrival, response) => void response.writeHead(503).end());
  await mesh.emulator.inbound({ phone_number_id, from: CUSTOMER, text: 'Thank you!' });
  for (const [email, role] of PEOPLE) await partner.call('POST', '/people', { email, role });
  await eventually(async () => {
    const { body } = await partner.call('GET', '/webhooks/failed');
    return body.events.length > 0;
  });
  return paused;
}

async function take(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = (await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: QUALITY,
  })) as { data: string };
  await session.detach();
  writeFileSync(resolve(FOLDER as string, `${name}.webp`), Buffer.from(data, 'base64'));
}

/** What a screen needs in its address to show something. */
const SHOWN: Readonly<Record<string, string>> = {
  conversation: `?number=${phone_number_id}&find=${CUSTOMER}`,
  prices: '?country=BR',
};

const visit = async (page: Page, path: string): Promise<void> => {
  await page.goto(`${new URL(page.url()).origin}/dashboard/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await settle(page);
};

/** States of screens, and panels. */
const DETAILS: Readonly<Record<string, (page: Page, paused: number) => Promise<unknown>>> = {
  number: async (page) => {
    await visit(page, `numbers?open=${NUMBER}`);
    await page.getByRole('img', { name: /^Messaging limit/ }).scrollIntoViewIfNeeded();
  },
  compared: async (page) => {
    await visit(page, '');
    await page.getByRole('region', { name: 'Ledger entries by number' }).scrollIntoViewIfNeeded();
  },
  'message-price': async (page) => {
    await visit(page, `messages/new?number=${phone_number_id}`);
    await page.getByRole('textbox', { name: 'To' }).fill(CUSTOMER);
    await page.getByTestId('next-message').getByText(/USD/).waitFor();
  },
  problem: async (page) => {
    await visit(page, 'problems');
    await page.getByRole('button', { name: 'HTTP 503' }).click();
    await page.getByRole('dialog').getByRole('listitem').first().waitFor();
  },
  'endpoint-known': async (page) => {
    await visit(page, SCREENS.receivers);
    await page.getByRole('button', { name: new RegExp(`^${CRM}`) }).click();
    await page.getByRole('table', { name: 'Attempts' }).waitFor();
    await settle(page);
  },
  'broadcast-contacts': async (page) => {
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
  },
  'broadcast-paused': async (page, paused) => {
    await visit(page, `broadcasts?open=${paused}`);
    await page.getByRole('table', { name: 'Cost by country' }).waitFor();
    await settle(page);
  },
  'overview-dark': async (page) => {
    await visit(page, '');
    await page.emulateMedia({ colorScheme: 'dark' });
    await settle(page);
  },
};

/** On a phone, in the dark scheme. */
const PHONES: Readonly<Record<string, string>> = {
  'numbers-phone': 'numbers',
  'problems-phone': 'problems',
  'conversation-phone': `${SCREENS.conversation}${SHOWN['conversation']}`,
  'usage-phone': 'usage',
};

async function takePhone({ openSignedIn }: ConsoleStage): Promise<void> {
  const light = await openSignedIn('', { ...PHONE, colorScheme: 'light' } as never);
  await settle(light);
  await take(light, 'overview-phone');
  await light.getByRole('button', { name: 'Open the menu' }).click();
  await light.getByRole('link', { name: 'Developers' }).waitFor();
  await take(light, 'menu-phone');
  const dark = await openSignedIn('', PHONE);
  for (const [name, path] of Object.entries(PHONES)) {
    await visit(dark, path);
    await take(dark, name);
  }
}

if (FOLDER) {
  test(
    'takes the pictures of all screens',
    async () => {
      mkdirSync(FOLDER, { recursive: true });
      // Under a host name, so that the log-in offers a passkey.
      const stage = await openConsoleStage(() => joinMeshWithName());
      const { mesh, partner } = stage;
      await loadSampleRates(mesh);
      try {
        await storePast(stage);
        const paused = await makeTraffic(stage);
        const outside = await stage.open('', DESK);
        await outside.getByRole('button', { name: 'Sign in' }).waitFor();
        await take(outside, 'sign-in');
        const page = await stage.openSignedIn('', DESK);
        for (const [name, path] of Object.entries(SCREENS)) {
          await visit(page, `${path}${SHOWN[name] ?? ''}`);
          await take(page, name);
        }
        for (const [name, show] of Object.entries(DETAILS)) {
          await show(page, paused);
          await take(page, name);
        }
        await takePhone(stage);
      } finally {
        partner.receiver.behave(undefined);
        await removeRates(mesh);
        await mesh.emulator.behaviour({ fail_status: null });
        await stage.close();
      }
    },
    2 * LIMIT_MS + STAGE_LIMIT_MS,
  );
}

test('the screens are those of the router', () => {
  const router = readFileSync(resolve(CONSOLE, 'src/router.tsx'), 'utf8');
  const paths = [...router.matchAll(/\bscreen\('\/([^']*)'/g)].map(([, path]) => path);
  expect(paths.sort()).toEqual(Object.values(SCREENS).sort());
});

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
