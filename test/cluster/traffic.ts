// Runs a disturbance under the traffic of the chaos run, and checks every promise afterwards.
import { setTimeout as sleep } from 'node:timers/promises';
import { untilHealthy } from '../chaos/ask';
import { collect } from '../chaos/collect';
import type { FaultSpan, Send } from '../chaos/history';
import { startTraffic } from '../chaos/traffic';
import { GATEWAY, keepPodLogs, openScene } from './scene';

const QUIET_MS = 10_000;
const HEALTHY_LIMIT_MS = 180_000;
const SHOWN = 8;

/** Options of a run, for each check. */
export interface Options {
  /** Repeats the traffic and the random kills. */
  seed: number;
  /** Length of the random kills. */
  minutes: number;
}

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
      unhealthy = await untilHealthy(`${GATEWAY}/v1`, HEALTHY_LIMIT_MS);
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

/**
 * Requests of callers whose key and client never change, and webhooks, that were not accepted: how
 * often each answer came, and how many had none.
 */
export function unserved(
  sends: ReadonlyArray<Pick<Send, 'partner' | 'outcome' | 'answer'>>,
  webhooks: ReadonlyArray<{ status: number }>,
): { refused: string[]; cut_off: number } {
  const steady = sends.filter(({ partner }) => ['steady', 'puller'].includes(partner));
  const answers = [
    // The second of two sends at a time under one key must wait.
    ...steady
      .filter(({ outcome, answer }) => outcome !== 'ok' && !answer.includes('KEY_IN_USE'))
      .map(({ answer }) => answer),
    ...webhooks.filter(({ status }) => status !== 200).map(({ status }) => `webhook ${status}`),
  ];
  const isCutOff = (answer: string): boolean => answer === 'no answer' || answer === 'webhook 0';
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return {
    refused: [...counts]
      .filter(([answer]) => !isCutOff(answer))
      .map(([answer, count]) => `refused: ${count} × ${answer}`),
    cut_off: answers.filter(isCutOff).length,
  };
}
