// Helpers for tests of the hosted onboarding page: a real browser and a partner's page on another
// origin, which opens the connect link in a window and records the messages it receives.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import type { TestPartner } from '../harness/shared-mesh';
import { createBrowserContexts } from '../testkit/browser-contexts';
import { openBrowser, stageOf, WAIT_MS, type BrowserStage } from './browser-stage';

export type Prepare = (context: BrowserContext) => Promise<unknown>;

export interface PartnerSite {
  origin: string;
  close(): Promise<void>;
}

const SITE = `<!doctype html><html lang="en"><title>Partner</title><button id="open">Connect</button>
<script>
  window.received = [];
  addEventListener('message', (event) => received.push({ origin: event.origin, data: event.data }));
  document.getElementById('open').onclick = () =>
    window.open(decodeURIComponent(location.hash.slice(1)), 'connect', 'popup=yes,width=480,height=720');
</script></html>`;

async function startPartnerSite(): Promise<PartnerSite> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(SITE);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** One visit: the partner's site, the window it opened, and the messages it received. */
export interface Visit {
  context: BrowserContext;
  opener: Page;
  page: Page;
  /** Errors that the browser reported. */
  complaints: string[];
  /** The messages that the partner's page has received. */
  messages(): Promise<Array<{ origin: string; data: Record<string, unknown> }>>;
  /** Waits for the next message to the partner's page. */
  message(): Promise<{ origin: string; data: Record<string, unknown> }>;
  /** Presses the button and waits for the dialog. */
  dialog(): Promise<Page>;
}

const PHONE = { viewport: { width: 390, height: 844 } };

async function visit(context: BrowserContext, site: PartnerSite, url: string): Promise<Visit> {
  context.setDefaultTimeout(WAIT_MS);
  const complaints: string[] = [];
  context.on('console', (line) => {
    if (line.type() === 'error') complaints.push(line.text());
  });
  const opener = await context.newPage();
  await opener.goto(`${site.origin}/#${encodeURIComponent(url)}`);
  const page = await openWindow(opener, () => opener.click('#open'));
  const messages: Visit['messages'] = () =>
    opener.evaluate(() => (window as never as { received: never[] }).received);
  let seen = 0;
  return {
    context,
    opener,
    page,
    complaints,
    messages,
    async message() {
      const wanted = (seen += 1);
      await opener.waitForFunction(
        (count) => (window as never as { received: never[] }).received.length >= count,
        wanted,
      );
      return (await messages())[wanted - 1] as { origin: string; data: Record<string, unknown> };
    },
    dialog: () =>
      openWindow(page, () =>
        page.getByRole('button', { name: /connect my number|try again/i }).click(),
      ),
  };
}

/** A partner and its site, beside the mesh and the browser. */
export interface Stage extends BrowserStage {
  partner: TestPartner;
  site: PartnerSite;
  /** Origin of the hosted page. */
  gateway: string;
  /** Names the origin of the partner's site unless another one, or null for none, is given. */
  link(state?: string, origin?: string | null): Promise<{ connect_url: string; token: string }>;
  /** Opens a connect link from the partner's site; creates the link unless one is given. */
  begin(prepare?: Prepare, url?: string): Promise<Visit>;
  /** Closes the windows that a test has left open. */
  tidy(): Promise<void>;
}

async function openStage(): Promise<Stage> {
  const [{ mesh, browser }, site] = await Promise.all([openBrowser(), startPartnerSite()]);
  const partner = await mesh.createPartner({ name: 'Example & Partner' });
  const contexts = createBrowserContexts(browser);
  const prepared: BrowserContext[] = [];
  const link: Stage['link'] = async (state = 'order-17', origin = site.origin) =>
    (await partner.call('POST', '/connect/session', { state, ...(origin !== null && { origin }) }))
      .body;
  return {
    ...{ mesh, partner, browser, site, link },
    gateway: new URL(mesh.base_url).origin,
    async begin(prepare, url) {
      const context = prepare ? await browser.newContext(PHONE) : await contexts.take(PHONE);
      if (prepare) prepared.push(context);
      await prepare?.(context);
      return visit(context, site, url ?? (await link()).connect_url);
    },
    async tidy() {
      await Promise.all(prepared.splice(0).map((context) => context.close()));
      await contexts.release();
      await mesh.emulator.clearFaults();
    },
  };
}

export function connectStage(): Stage {
  const stage: Stage = stageOf(openStage, {
    tidy: () => stage.tidy(),
    leave: () => stage.site.close(),
  });
  return stage;
}

/**
 * Opens a window by `open`, on `page`, and waits until the window has loaded: its buttons can be
 * pressed before its script has run, and such a press has no effect.
 */
export async function openWindow(page: Page, open: () => Promise<unknown>): Promise<Page> {
  const [opened] = await Promise.all([page.waitForEvent('popup'), open()]);
  await opened.waitForLoadState();
  return opened;
}

/** Clicks in a dialog that may close before the browser acknowledges the click. */
export const press = (dialog: Page, selector: string): Promise<void> =>
  orClosed(dialog, dialog.click(selector));

export const pressEnter = (dialog: Page): Promise<void> =>
  orClosed(dialog, dialog.keyboard.press('Enter'));

async function orClosed(dialog: Page, work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!dialog.isClosed()) throw error;
  });
}
