// Runs a disturbance under the traffic of the chaos run, and checks every promise afterwards.
import { setTimeout as sleep } from 'node:timers/promises';
import { collect } from '../chaos/collect';
import type { FaultSpan } from '../chaos/history';
import { startTraffic } from '../chaos/traffic';
import { eventually } from '../testkit/eventually';
import { keepPodLogs } from './pod-logs';
import { GATEWAY, openScene } from './scene';
import { unserved } from './unserved';

const QUIET_MS = 10_000;
const HEALTHY_LIMIT_MS = 180_000;
const SHOWN = 8;

export interface Disturbance {
  name: string;
  seed: number;
  /**
   * For a planned change: no request may be refused, and only so many may lose their connection
   * before an answer (a stop may cut off a kept-alive connection that a request just reuses). Null
   * for faults.
   */
  cut_off_max: number | null;
  disturb(spans: FaultSpan[], now: () => number): Promise<void>;
}

/** Returns the figures; throws if a promise was broken. */
export async function underTraffic({
  name,
  seed,
  cut_off_max,
  disturb,
}: Disturbance): Promise<string> {
  const scene = await openScene(name);
  try {
    const logs = await keepPodLogs(scene.mesh.dir);
    const traffic = startTraffic(scene, seed);
    const spans: FaultSpan[] = [];
    let unhealthy: string | null = null;
    try {
      await sleep(QUIET_MS);
      await disturb(spans, scene.now);
      unhealthy = await untilHealthy();
      await sleep(QUIET_MS);
    } finally {
      await traffic.stop();
      await logs.collect();
    }
    const { verdicts, history, settled_ms } = await collect(scene, traffic, { spans, unhealthy });
    const { refused, cut_off } = unserved(traffic.sends, history.webhooks);
    const broken = verdicts.flatMap(({ promise, violations }) =>
      violations.slice(0, SHOWN).map((one) => `${promise}: ${one}`),
    );
    if (cut_off_max !== null) {
      broken.push(...refused);
      if (cut_off > cut_off_max) broken.push(`${cut_off} requests stayed without an answer`);
    }
    const checked = verdicts.reduce((sum, one) => sum + one.checked, 0);
    const figures =
      `${history.sends.length} sends, ${history.webhooks.length} webhooks, ` +
      `${history.arrivals.length} deliveries, ${checked} comparisons, ${cut_off} cut off, settled after ${Math.round(settled_ms / 1_000)} s`;
    if (broken.length > 0) throw new Error(`${broken.join('\n')}\n(${figures})`);
    return figures;
  } finally {
    await scene.close();
  }
}

/** Null once the gateway reports that all parts are healthy, else its last answer. */
const untilHealthy = (): Promise<string | null> =>
  eventually(async (): Promise<true> => {
    const health = (await (await fetch(`${GATEWAY}/v1/health`)).json()) as { status: string };
    if (health.status === 'ok') return true;
    throw new Error(JSON.stringify(health));
  }, HEALTHY_LIMIT_MS).then(
    () => null,
    (error: unknown) => String(error),
  );
