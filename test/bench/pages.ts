// make page-speed: measures the first load of the pages that people open, on a slow phone. It uses
// the running mesh, or starts one and stops it again.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { down, isUp, readEnv, RUN_DIR, up } from '@bmg/local';
import { launchBrowser } from '../testkit/browser';
import { CONDITIONS, measurePage, signIn, type PageLoad } from './page-load';
import { ROOT } from './processes';

const BMG = join(ROOT, 'deploy/cli/bin/bmg.js');

const COLUMNS: Array<[head: string, show: (load: PageLoad) => string]> = [
  ['first paint', ({ first_paint_ms }) => `${(first_paint_ms / 1_000).toFixed(1)} s`],
  ['largest paint', ({ largest_paint_ms }) => `${(largest_paint_ms / 1_000).toFixed(1)} s`],
  ['blocked', ({ blocked_ms }) => `${Math.round(blocked_ms)} ms`],
  ['shift (CLS)', ({ layout_shift }) => layout_shift.toFixed(3)],
  ['script', ({ script_bytes }) => kib(script_bytes)],
  ['all', ({ total_bytes }) => kib(total_bytes)],
];
const WIDTH = 14;

const kib = (bytes: number): string => `${(bytes / 1_024).toFixed(1)} KiB`;
const row = (name: string, cells: string[]): string =>
  name.padEnd(26) + cells.map((cell) => cell.padStart(WIDTH)).join('');

async function main(): Promise<void> {
  const { started } = (await isUp()) ? { started: [] } : await up();
  const browser = await launchBrowser();
  try {
    const { PUBLIC_URL: origin = '', BASE_URL } = readEnv(RUN_DIR);
    const create = ['--json', 'partner', 'create', '--name', 'Page speed'];
    const created = execFileSync(process.execPath, [BMG, ...create], { cwd: ROOT });
    const { partner_key } = JSON.parse(String(created)) as { partner_key: string };
    const session = await fetch(`${BASE_URL}/connect/session`, {
      method: 'POST',
      headers: { 'x-partner-key': partner_key },
    });
    const { connect_url } = (await session.json()) as { connect_url: string };
    console.log(`First load, compressed bytes as transferred: ${CONDITIONS}\n`);
    console.log(
      row(
        '',
        COLUMNS.map(([head]) => head),
      ),
    );
    for (const [name, url, prepare] of [
      ['sign-up page', connect_url],
      ['console, sign-in', `${origin}/dashboard`],
      ['console, overview', `${origin}/dashboard`, signIn(origin, partner_key)],
      ['documentation', `${origin}/docs`],
      ['guide', `${origin}/docs/quick-start`],
      ['reference', `${origin}/docs/reference`],
      ['reference, a chapter', `${origin}/docs/reference/messages`],
    ] as const) {
      const load = await measurePage(browser, url, prepare);
      console.log(
        row(
          name,
          COLUMNS.map(([, show]) => show(load)),
        ),
      );
    }
  } finally {
    await browser.close();
    if (started.length > 0) await down({ names: started, log: () => undefined });
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
