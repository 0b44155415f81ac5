// Contexts of the browser that one test after another uses. A new one costs Chromium twice the CPU
// of a page, for its profile and its window, which closes with its last page: so each context keeps
// an empty page.
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';

export interface BrowserContexts {
  /**
   * A context with these options, which no other test uses until `release`: with an empty page,
   * without cookies.
   */
  take(options: BrowserContextOptions): Promise<BrowserContext>;
  /** Closes the pages of all contexts in use, and empties the contexts for the next test. */
  release(): Promise<void>;
}

export function createBrowserContexts(browser: Browser): BrowserContexts {
  const free = new Map<string, BrowserContext[]>();
  const used: Array<{ context: BrowserContext; kind: string }> = [];
  return {
    async take(options) {
      const kind = JSON.stringify(options);
      const context = free.get(kind)?.pop() ?? (await open(browser, options));
      used.push({ context, kind });
      return context;
    },
    async release() {
      await Promise.all(
        used.splice(0).map(async ({ context, kind }) => {
          await empty(context);
          free.set(kind, [...(free.get(kind) ?? []), context]);
        }),
      );
    },
  };
}

async function open(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  await context.newPage();
  return context;
}

async function empty(context: BrowserContext): Promise<void> {
  context.removeAllListeners('console');
  const [, ...opened] = context.pages();
  await Promise.all(opened.map((page) => page.close()));
  await context.clearCookies();
}
