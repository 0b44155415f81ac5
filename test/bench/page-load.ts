// The first load of a page on a slow phone: when the browser paints, how long its scripts block it,
// and how much it downloads.
import type { Browser, BrowserContext, CDPSession } from 'playwright-core';
import { eventually } from '../testkit/eventually';

/** A slow mobile network, and a phone four times slower than this machine. */
const LATENCY_MS = 150;
const DOWN_BITS_PER_SEC = 1.6e6;
const UP_BITS_PER_SEC = 750e3;
const CPU_SLOWDOWN = 4;
export const CONDITIONS = `${DOWN_BITS_PER_SEC / 1e6} Mbit/s, ${LATENCY_MS} ms, CPU ${CPU_SLOWDOWN} times slower`;
const PHONE = { width: 390, height: 844 };
const LOAD_LIMIT_MS = 120_000;

export interface PageLoad {
  first_paint_ms: number;
  /** When the largest element was painted. */
  largest_paint_ms: number;
  /** The part of each task on the main thread above 50 ms, summed. */
  blocked_ms: number;
  /** Cumulative layout shift: how far the content jumped while it loaded. */
  layout_shift: number;
  /** Bytes transferred, compressed. */
  script_bytes: number;
  total_bytes: number;
}

interface Measured {
  first: number;
  largest: number;
  blocked: number;
  shift: number;
}

/** Runs in the page before its own scripts. */
const OBSERVERS = `
  window.measured = { first: 0, largest: 0, blocked: 0, shift: 0 };
  const observe = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  observe('paint', ({ name, startTime }) => {
    if (name === 'first-contentful-paint') measured.first = startTime;
  });
  observe('largest-contentful-paint', ({ startTime }) => (measured.largest = startTime));
  observe('longtask', ({ duration }) => (measured.blocked += duration - 50));
  observe('layout-shift', ({ value }) => (measured.shift += value));
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
    const { first, largest, blocked, shift } = await eventually(async () => {
      const found = await page.evaluate<Measured>('measured');
      return found.first > 0 && found.largest > 0 && found;
    }, LOAD_LIMIT_MS);
    return {
      first_paint_ms: first,
      largest_paint_ms: largest,
      blocked_ms: blocked,
      layout_shift: shift,
      ...bytes,
    };
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
async function countBytes(
  devtools: CDPSession,
): Promise<Pick<PageLoad, 'script_bytes' | 'total_bytes'>> {
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
