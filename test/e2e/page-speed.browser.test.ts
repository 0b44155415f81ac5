// `make page-speed` measures the bytes that a browser really loads: the figures of the console's
// first screen and of a guide.
import { measurePage, signIn } from '../bench/pages';
import { openBrowser, stageOf } from './browser-stage';

/** The script of the console's first screen, compressed. */
const SCRIPT_MAX_BYTES = 250 * 1024;
const LATENCY_MS = 150;

const stage = stageOf(openBrowser);

test('the first load of the console and of a guide', async () => {
  const { mesh, browser } = stage;
  const origin = new URL(mesh.base_url).origin;
  const { partner_key } = await mesh.createPartner();
  const overview = await measurePage(browser, `${origin}/dashboard`, signIn(origin, partner_key));
  const guide = await measurePage(browser, `${origin}/docs/quick-start`);
  for (const load of [overview, guide]) {
    // The page and its style come one after the other.
    expect(load.first_paint_ms).toBeGreaterThan(2 * LATENCY_MS);
    expect(load.largest_paint_ms).toBeGreaterThanOrEqual(load.first_paint_ms);
    expect(load.total_bytes).toBeGreaterThan(load.script_bytes);
  }
  expect(overview.script_bytes).toBeGreaterThan(100 * 1024);
  expect(overview.script_bytes).toBeLessThan(SCRIPT_MAX_BYTES);
  expect(guide.script_bytes).toBeLessThan(overview.script_bytes);
});
