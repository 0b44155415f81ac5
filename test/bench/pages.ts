// make page-speed: measures the first load of the pages that people open, on a slow phone: when the
// browser paints, how long scripts block it, and how much it downloads. It uses the running mesh,
// or starts one and stops it again.
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContext, CDPSession } from 'playwright-core';
import { down, isUp, readEnv, RUN_DIR, up } from '@bmg/local';
import { launchBrowser } from '../testkit/browser';
import { eventually } from '../testkit/eventually';

/** A slow mobile network, and a phone four times slower than this machine. */
const LATENCY_MS = 150;
const DOWN_BITS_PER_SEC = 1.6e6;
const UP_BITS_PER_SEC = 750e3;
const CPU_SLOWDOWN = 4;
const CONDITIONS = `${DOWN_BITS_PER_SEC / 1e6} Mbit/s, ${LATENCY_MS} ms, CPU ${CPU_SLOWDOWN} times slower`;
const PHONE = { width: 390, height: 844 };
const LOAD_LIMIT_MS = 120_000;

interface Painted {
  first_paint_ms: number;
  /** When the largest element was painted. */
  largest_paint_ms: number;
  /** The part of each task on the main thread above 50 ms, summed. */
  blocked_ms: number;
  /** Cumulative layout shift: how far the content jumped while it loaded. */
  layout_shift: number;
}

/** Bytes transferred, compressed. */
interface Transferred {
  script_bytes: number;
  total_bytes: number;
}

type PageLoad = Painted & Transferred;

/** Runs in the page before its own scripts. */
const OBSERVERS = `
  window.painted = { first_paint_ms: 0, largest_paint_ms: 0, blocked_ms: 0, layout_shift: 0 };
  const observe = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  observe('paint', ({ name, startTime }) => {
    if (name === 'first-contentful-paint') painted.first_paint_ms = startTime;
  });
  observe('largest-contentful-paint', ({ startTime }) => (painted.largest_paint_ms = startTime));
  observe('longtask', ({ duration }) => (painted.blocked_ms += duration - 50));
  observe('layout-shift', ({ value }) => (painted.layout_shift += value));
`;

/** `prepare` runs in the context at full speed, for a page that needs a session. */
export async function measurePage(
  browser: Browser,
  url: string,
  prepare: (context: BrowserContext) => Promise<unknown> = async () => undefined,
): Promise<PageLoad> {
  const context = await browser.newContext({ viewport: PHONE });
  try {
    await prepare(context);
    const page = await context.newPage();
    await page.addInitScript(OBSERVERS);
    const devtools = await context.newCDPSession(page);
    const bytes = await countBytes(devtools);
    await slowDown(devtools);
    await page.goto(url, { waitUntil: 'networkidle', timeout: LOAD_LIMIT_MS });
    // The network can be idle before a slow machine has painted.
    const painted = await eventually(async () => {
      const found = await page.evaluate<Painted>('painted');
      return found.first_paint_ms > 0 && found.largest_paint_ms > 0 && found;
    }, LOAD_LIMIT_MS);
    return { ...painted, ...bytes };
  } finally {
    await context.close();
  }
}

async function slowDown(devtools: CDPSession): Promise<void> {
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: DOWN_BITS_PER_SEC / 8,
    uploadThroughput: UP_BITS_PER_SEC / 8,
  });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
}

/** The counters grow while the page loads. */
async function countBytes(devtools: CDPSession): Promise<Transferred> {
  const bytes = { script_bytes: 0, total_bytes: 0 };
  const scripts = new Set<string>();
  devtools.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    bytes.total_bytes += encodedDataLength;
    if (scripts.has(requestId)) bytes.script_bytes += encodedDataLength;
  });
  await devtools.send('Network.enable');
  return bytes;
}

/** Signs in to the console with a partner key. */
export const signIn =
  (origin: string, partner_key: string) =>
  async ({ request }: BrowserContext): Promise<void> => {
    const answer = await request.post(`${origin}/dashboard/api/session`, {
      headers: { origin },
      data: { partner_key },
    });
    if (!answer.ok()) throw new Error(`the sign-in answered ${answer.status()}`);
  };

const ROOT = dirname(RUN_DIR);
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
    const heads = COLUMNS.map(([head]) => head);
    console.log(row('', heads));
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
      const cells = COLUMNS.map(([, show]) => show(load));
      console.log(row(name, cells));
    }
  } finally {
    await browser.close();
    if (started.length > 0) await down({ names: started, log: () => undefined });
  }
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
