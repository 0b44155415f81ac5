// What the tests of pages have in common: a mesh and a browser, opened before the first test of a
// file and closed after the last one.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { JOIN_LIMIT_MS, joinMesh, type Mesh } from '../harness/shared-mesh';
import { INSTALL_LIMIT_MS, launchBrowser } from '../testkit/browser';

/** Long enough to install the browser first. */
const STAGE_LIMIT_MS = INSTALL_LIMIT_MS + JOIN_LIMIT_MS;
/** Long, because a busy machine draws a page in many seconds. */
export const WAIT_MS = 60_000;

export interface BrowserStage {
  mesh: Mesh;
  browser: Browser;
}

export async function openBrowser(join: () => Promise<Mesh> = joinMesh): Promise<BrowserStage> {
  const [mesh, browser] = await Promise.all([join(), launchBrowser()]);
  return { mesh, browser };
}

export interface Work {
  /** Makes what the tests look at. */
  prepare?: (() => Promise<unknown>) | undefined;
  /** Closes what a test has left open. */
  tidy?: () => Promise<unknown>;
  /** Ends what would stay in the mesh. */
  leave?: (() => Promise<unknown>) | undefined;
}

/** The stage of a file's tests, which has its members once it is open: before `prepare`. */
export function stageOf<T extends BrowserStage>(
  open: () => Promise<T>,
  { prepare, tidy, leave }: Work = {},
): T {
  const stage = {} as T;
  beforeAll(async () => {
    Object.assign(stage, await open());
    await prepare?.();
  }, STAGE_LIMIT_MS);
  afterEach(() => tidy?.());
  afterAll(async () => {
    await leave?.();
    await stage.browser?.close();
    await stage.mesh?.stop();
  });
  return stage;
}

/** Signs a browser in without the page of the log-in. */
export async function logIn(context: BrowserContext, origin: string, key: string): Promise<void> {
  const session = await context.request.post(`${origin}/dashboard/api/session`, {
    data: { partner_key: key },
    headers: { origin },
  });
  if (!session.ok()) throw new Error(`the log-in was refused: ${await session.text()}`);
}

/** Collects the errors that the browser reports of a page. */
export function watch(page: Page, complaints: string[]): Page {
  page.on('console', (line) => {
    if (line.type() === 'error') complaints.push(`${line.text()} ${line.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return page;
}
