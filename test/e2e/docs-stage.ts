// The documentation in a real browser, and a partner whose reader is signed in.
import type { Page } from 'playwright-core';
import type { TestPartner } from '../harness/shared-mesh';
import { openBrowser, stageOf, WAIT_MS, watch, type BrowserStage } from './browser-stage';

const DESK = { width: 1280, height: 900 };

export interface DocsStage extends BrowserStage {
  partner: TestPartner;
  origin: string;
  /** Errors that the browser reported; a test that expects some empties it. */
  complaints: string[];
  /** The hosts to which the pages have sent requests. */
  hosts: Set<string>;
  /** A page of a browser that has seen nothing yet. */
  newPage(viewport?: { width: number; height: number }): Promise<Page>;
  open(path: string, viewport?: { width: number; height: number }): Promise<Page>;
}

async function openStage(): Promise<DocsStage> {
  const { mesh, browser } = await openBrowser();
  const origin = new URL(mesh.base_url).origin;
  const complaints: string[] = [];
  const hosts = new Set<string>();
  const newPage: DocsStage['newPage'] = async (viewport = DESK) => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const context = await browser.newContext({ viewport, reducedMotion: 'reduce', permissions });
    context.setDefaultTimeout(WAIT_MS);
    const page = watch(await context.newPage(), complaints);
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url());
      if (protocol.startsWith('http')) hosts.add(host);
    });
    return page;
  };
  return {
    ...{ mesh, browser, origin, complaints, hosts, newPage },
    partner: await mesh.createPartner(),
    async open(path, viewport) {
      const page = await newPage(viewport);
      await page.goto(`${origin}${path}`);
      return page;
    },
  };
}

/** The stage of a file's tests, which has its members once it is open: before `prepare`. */
export function docsStage(prepare?: () => Promise<unknown>): DocsStage {
  const stage: DocsStage = stageOf(openStage, {
    prepare,
    async tidy() {
      await Promise.all(stage.browser.contexts().map((context) => context.close()));
      expect(stage.complaints.splice(0)).toEqual([]);
      const own = new URL(stage.origin).host;
      expect([...stage.hosts].filter((host) => host !== own)).toEqual([]);
    },
  });
  return stage;
}
