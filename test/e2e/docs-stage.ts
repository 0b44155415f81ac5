// The documentation in a real browser, and a partner whose reader is signed in.
import type { Browser } from 'playwright-core';
import { joinMesh, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { launchBrowser, STAGE_LIMIT_MS } from './connect-browser';

export const WAIT_MS = 60_000;

export interface DocsStage {
  mesh: Mesh;
  browser: Browser;
  partner: TestPartner;
  origin: string;
}

/** The stage of a file's tests, which has its members once it is open: before `prepare`. */
export function docsStage(prepare?: () => Promise<unknown>): DocsStage {
  const stage = {} as DocsStage;
  beforeAll(async () => {
    const [mesh, browser] = await Promise.all([joinMesh(), launchBrowser()]);
    const origin = new URL(mesh.base_url).origin;
    Object.assign(stage, { mesh, browser, origin, partner: await mesh.createPartner() });
    await prepare?.();
  }, STAGE_LIMIT_MS);
  afterAll(async () => {
    await stage.browser?.close();
    await stage.mesh?.stop();
  });
  return stage;
}
