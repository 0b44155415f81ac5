// Accessibility of every page of the documentation, on a desktop and a phone, and of its search in
// the states that a reader brings it into. cspell:ignore zzzzqqqq
import { inspectSchemes, LIMIT_MS, overflowOf, VIEWS } from './console-stage';
import { docsStage } from './docs-stage';

const PAGES_MIN = 24;
const UNKNOWN = 'zzzzqqqq';

const stage = docsStage();

/** Every page that the menu leads to, with the one of the design tokens. */
async function pathsOf(): Promise<string[]> {
  const page = await stage.open('/docs');
  const links = page.locator('nav a[href]');
  const found = await links.evaluateAll((all) =>
    all.map((link) => new URL((link as HTMLAnchorElement).href).pathname),
  );
  return [...new Set([...found, '/docs', '/docs/design'])].filter((path) =>
    /^\/(?:docs|changelog)(?:\/|$)/.test(path),
  );
}

test(
  'no page of the documentation has a fault or scrolls sideways, in either scheme and on a phone',
  async () => {
    const paths = await pathsOf();
    expect(paths.length).toBeGreaterThanOrEqual(PAGES_MIN);
    for (const view of VIEWS) {
      const page = await stage.open('/docs', view);
      for (const path of paths) {
        await page.goto(`${stage.origin}${path}`);
        await page.getByRole('heading', { level: 1 }).first().waitFor();
        await page.waitForLoadState('networkidle');
        await inspectSchemes(page, `${path} ${view.width}`);
        expect([path, await overflowOf(page)]).toEqual([path, 0]);
      }
    }
  },
  2 * LIMIT_MS,
);

test('the search has no fault with results and without, and loads its index again after a failure', async () => {
  const page = await stage.open('/docs/sending');
  const search = page.getByRole('searchbox', { name: 'Search' });
  const found = page.locator('.found').getByRole('link').first();
  await search.fill('price brazil');
  await found.waitFor();
  await inspectSchemes(page, 'results of a search');
  await search.fill(UNKNOWN);
  await page.getByText(`Nothing was found for “${UNKNOWN}”.`).first().waitFor();
  await inspectSchemes(page, 'no result of a search');
  await page.route('**/search.json', (route) => route.abort());
  await page.reload();
  await search.fill('price');
  await page.getByText('The search could not be loaded').first().waitFor();
  await inspectSchemes(page, 'search not loaded');
  await page.unroute('**/search.json');
  await search.fill('price brazil');
  await found.waitFor();
  // The browser reports the failure.
  stage.complaints.length = 0;
});
