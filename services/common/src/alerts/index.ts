// Reports alerts whose figures another service than onboarding counts: reads which partners watch a
// cause, and reports each partner whose figure for today crosses its threshold.
import type { AlertsDefinition, ListWatchersResponse } from '@bmg/proto/alerts';
import { ownCall, type Call, type Client } from '../rpc';
import { endSpan, startSpan } from '../telemetry';
import { dayOf } from '../time';

/** How often figures are compared with their thresholds. */
export const REPORT_EVERY_MS = 60_000;
/** Timeout of a call: a shutdown waits for the one in flight. */
const CALL_LIMIT_MS = 10_000;

export interface ReportDependencies {
  alerts: Client<AlertsDefinition>;
  now: () => Date;
}

export type Watcher = ListWatchersResponse['watchers'][number];

export interface Crossed {
  value: string;
  currency?: string;
}

/**
 * `name` names the span. `crossed` returns the figure of a day (UTC), or undefined while it is
 * below the threshold.
 */
export async function reportAlerts(
  { alerts, now }: ReportDependencies,
  { name, cause }: { name: string; cause: string },
  crossed: (watcher: Watcher, day: string) => Promise<Crossed | undefined>,
): Promise<void> {
  const span = startSpan(name);
  try {
    const call = (): Call => ownCall(span.spanContext(), CALL_LIMIT_MS);
    const { watchers } = await alerts.listWatchers({ cause }, call());
    const day = dayOf(now());
    for (const watcher of watchers) {
      const figure = await crossed(watcher, day);
      if (!figure) continue;
      const { partner_id } = watcher;
      await alerts.raiseAlert({ partner_id, cause, day, ...figure }, call());
    }
    endSpan(span);
  } catch (error) {
    endSpan(span, { code: 'INTERNAL_ERROR' });
    throw error;
  }
}
