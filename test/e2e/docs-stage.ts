// The documentation in a real browser, and a partner whose reader is signed in.
import type { Browser, Page } from 'playwright-core';
import { joinMesh, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { launchBrowser, STAGE_LIMIT_MS } from './connect-browser';

const WAIT_MS = 60_000;
const DESK = { width: 1280, height: 900 };

export interface DocsStage {
  mesh: Mesh;
  browser: Browser;
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
  const [mesh, browser] = await Promise.all([joinMesh(), launchBrowser()]);
  const origin = new URL(mesh.base_url).origin;
  const complaints: string[] = [];
  const hosts = new Set<string>();
  const newPage: DocsStage['newPage'] = async (viewport = DESK) => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const context = await browser.newContext({ viewport, reducedMotion: 'reduce', permissions });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
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
  const stage = {} as DocsStage;
  beforeAll(async () => {
    Object.assign(stage, await openStage());
    await prepare?.();
  }, STAGE_LIMIT_MS);
  afterEach(async () => {
    await Promise.all(stage.browser.contexts().map((context) => context.close()));
    expect(stage.complaints.splice(0)).toEqual([]);
    const own = new URL(stage.origin).host;
    expect([...stage.hosts].filter((host) => host !== own)).toEqual([]);
  });
  afterAll(async () => {
    await stage.browser?.close();
    await stage.mesh?.stop();
  });
  return stage;
}
