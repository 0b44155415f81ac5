// The console in a real browser: a partner with numbers and messages, signed-in pages, checks for
// accessibility and screenshots.
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { source as axeSource } from 'axe-core';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { ONE, TWO_A, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { createBrowserContexts } from '../testkit/browser-contexts';
import { eventually } from '../testkit/eventually';
import { inboundBody, postRaw, type InboundText } from '../testkit/upstream-webhooks';
import {
  logIn,
  openBrowser,
  stageOf,
  WAIT_MS,
  watch,
  type BrowserStage,
  type Work,
} from './browser-stage';

/** Where screenshots are written; none are without it. */
const SHOTS = process.env['BMG_SCREENSHOTS'];
/** Long, because a busy machine draws a page in many seconds. */
export const LIMIT_MS = 300_000;
const TABS_MAX = 60;
const SETTLED_FRAMES = 8;
export const VIEWS = [
  { name: 'desktop-light', width: 1280, height: 860, colorScheme: 'light' },
  { name: 'phone-dark', width: 390, height: 844, colorScheme: 'dark' },
] as const;
export type View = (typeof VIEWS)[number];
type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>;

const ROUTER = resolve(__dirname, '../../gateway/console/src/router.tsx');

/** Every screen of the router, by the name of its pictures: its path. No endpoint has its ID. */
export const SCREENS = Object.fromEntries(
  [...readFileSync(ROUTER, 'utf8').matchAll(/\bscreen\('\/([^']*)'/g)].map(([, path = '']) => [
    path.replaceAll(/\W+/g, '-') || 'overview',
    path,
  ]),
);

export interface ConsoleStage extends BrowserStage {
  partner: TestPartner;
  origin: string;
  /** Errors that the browser reported. */
  complaints: string[];
  open(path: string, view?: View): Promise<Page>;
  signIn(page: Page, key?: string): Promise<void>;
  /** Opens the page in a browser that is logged in. */
  openSignedIn(path: string, view?: View, key?: string): Promise<Page>;
  /** Closes the pages of a test: an open one goes on to read events and to draw them. */
  tidy(): Promise<void>;
}

interface Surroundings {
  join?: () => Promise<Mesh>;
  behind_proxy?: boolean;
}

/**
 * `behind_proxy`: each page has a network of its own for a gateway with PROXY_HOPS=1, because
 * log-ins of one network are limited. Its pages load nothing from other origins, which such a
 * header keeps from being loaded.
 */
async function openStage({ join, behind_proxy }: Surroundings): Promise<ConsoleStage> {
  const { mesh, browser } = await openBrowser(join);
  const partner = await mesh.createPartner({ name: 'Example Software' });
  await partner.register(ONE);
  await partner.register(TWO_A);
  const contexts = createBrowserContexts(browser);
  const complaints: string[] = [];
  /** The cookies of a key's log-in: a network may log in 30 times a minute. */
  const sessions = new Map<string, Cookies>();
  let networks = 0;
  const origin = new URL(mesh.env['PUBLIC_URL'] ?? mesh.base_url).origin;

  const openPage = async (
    path: string,
    { width, height, colorScheme }: View = VIEWS[0],
    prepare: (context: BrowserContext) => Promise<unknown> = async () => undefined,
  ): Promise<Page> => {
    const context = await contexts.take({
      viewport: { width, height },
      colorScheme,
      locale: 'en-US',
      timezoneId: 'Asia/Tokyo',
      // A colour that is still changing has too little contrast.
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(WAIT_MS);
    if (behind_proxy) {
      const address = `203.0.113.${(networks += 1) % 250}`;
      await context.setExtraHTTPHeaders({ 'x-forwarded-for': address });
    }
    await prepare(context);
    const page = watch(await context.newPage(), complaints);
    await page.goto(`${origin}/dashboard/${path}`);
    return page;
  };
  const signIn: ConsoleStage['signIn'] = async (page, key = partner.partner_key) => {
    await page.getByRole('textbox', { name: 'Partner key' }).fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  return {
    ...{ mesh, browser, partner, origin, complaints },
    open: (path, view) => openPage(path, view),
    signIn,
    async openSignedIn(path, view, key = partner.partner_key) {
      const page = await openPage(path, view, async (context) => {
        const address = `${origin}/dashboard/api/session`;
        await context.addCookies(sessions.get(key) ?? []);
        if (sessions.has(key) && (await context.request.get(address)).ok()) return;
        // Tests of the log-in itself use its page.
        await logIn(context, origin, key);
        sessions.set(key, await context.cookies());
      });
      await page.getByRole('heading', { level: 1 }).waitFor();
      return page;
    },
    tidy: () => contexts.release(),
  };
}

export function consoleStage({ prepare, leave, ...surroundings }: Surroundings & Work = {}) {
  const stage: ConsoleStage = stageOf(() => openStage(surroundings), {
    ...{ prepare, leave },
    tidy: () => stage.tidy(),
  });
  return stage;
}

/** The rules that only a scheme can break. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * The faults that axe-core finds, each with the elements; `rules` limits it to these. An open
 * dialog is checked without the page behind it, which was there before.
 */
export async function faultsOf(page: Page, rules?: string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource);
  return page.evaluate(async (runOnly) => {
    const axe = (window as never as { axe: typeof import('axe-core') }).axe;
    const dialog = [...document.querySelectorAll('[role=dialog]')].at(-1);
    const { violations } = await axe.run(dialog ?? document, {
      resultTypes: ['violations'],
      ...(runOnly && { runOnly }),
    });
    return violations.map(({ id, nodes }) => {
      const places = nodes.map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.message}`);
      return `${id}: ${places.join(' | ')}`;
    });
  }, rules);
}

/** What shows that something is awaited: a part of the page, or a pressed button. */
const BUSY = '[aria-busy="true"], [data-loading]';

/** Waits until nothing was loading for some frames, so that a picture shows data. */
export async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('load');
  await page.evaluate(
    async ({ wanted, busy }) => {
      for (let frames = 0; frames < wanted; frames += 1) {
        if (document.querySelector(busy)) frames = 0;
        await new Promise(requestAnimationFrame);
      }
    },
    { wanted: SETTLED_FRAMES, busy: BUSY },
  );
}

/** Loads the page again once its requests are answered: a reload would end them. */
export async function reload(page: Page): Promise<void> {
  await settle(page);
  await page.reload();
  await settle(page);
}

/** Goes to another screen. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/dashboard/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** How far a page can be scrolled sideways. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Presses the button until the outcome is shown: one test a second is sent. */
export const sendTestEvent = (place: Page | Locator, outcome: string): Promise<boolean> =>
  eventually(async () => {
    await place.getByRole('button', { name: 'Send a test event' }).click();
    await place.getByText(outcome).waitFor({ timeout: 5_000 });
    return true;
  });

/** Has the partner's receiver refuse the events of these messages, until they are listed. */
export async function failDeliveries(
  { mesh, partner }: Pick<ConsoleStage, 'mesh' | 'partner'>,
  ...messages: InboundText[]
): Promise<void> {
  partner.receiver.behave((_arrival, response) => void response.writeHead(503).end());
  for (const message of messages) {
    expect(await postRaw(mesh.ingress_url, inboundBody(ONE, message))).toBe(200);
  }
  await eventually(async () => {
    const { events } = (await partner.call('GET', '/webhooks/failed?limit=100')).body;
    const refused = (events as FailedEvent[]).filter((one) => one.last_http_status !== null);
    const ids = refused.map(({ payload }) => payload.data.message_id);
    return messages.every(({ id }) => ids.includes(id));
  });
}

interface FailedEvent {
  last_http_status: number | null;
  payload: { data: { message_id?: string } };
}

export async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

/** Expects no fault once nothing loads any more, and takes a picture if it has a name. */
export async function inspect(page: Page, picture?: string): Promise<void> {
  await settle(page);
  expect(await faultsOf(page)).toEqual([]);
  if (picture !== undefined) await shoot(page, picture);
}

/** Expects no fault in either scheme, and takes a picture of each. */
export async function inspectSchemes(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    // The console follows a moment later; other pages do not have the attribute.
    await page.waitForFunction((scheme) => {
      const shown = document.documentElement.getAttribute('data-mantine-color-scheme');
      return shown === null || shown === scheme;
    }, colorScheme);
    const rules = colorScheme === 'dark' ? COLOURS : undefined;
    expect([name, colorScheme, await faultsOf(page, rules)]).toEqual([name, colorScheme, []]);
    await shoot(page, `${name.replaceAll(/\W+/g, '-')}-${colorScheme}`);
  }
}

/** Presses Tab until the element has the focus: a person without a mouse reaches it so. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < TABS_MAX; presses += 1) {
    await page.keyboard.press('Tab');
    if (await isFocused(target)) return;
  }
  throw new Error(`${String(target)} cannot be reached with the keyboard`);
}

export const isFocused = (target: Locator): Promise<boolean> =>
  target.evaluate((element) => element === element.ownerDocument.activeElement);

/** A file that the page saves when the button is pressed. */
export async function saved(button: Locator): Promise<string> {
  const [file] = await Promise.all([button.page().waitForEvent('download'), button.click()]);
  return readFileSync(await file.path(), 'utf8');
}
