// Alerts for partners: raises them from onboarding's own facts and from reports of other services,
// and publishes them. Off unless the partner has set a threshold.
import { topics, type Received } from '@bmg/common/bus';
import { invalidField } from '@bmg/common/errors';
import { createPoller } from '@bmg/common/lifecycle';
import { occurrence } from '@bmg/common/messages';
import { implement, type Handlers } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { dayOf } from '@bmg/common/time';
import { AlertsDefinition } from '@bmg/proto/alerts';
import type { Event } from '@bmg/proto/stream';
import type { PartnerAlert, StoredAlert } from './store';
import type { Partner } from '../../ground/partners';
import { failureRate, isCause, type CauseName } from './rules';
import type { Dependencies } from '../../dependencies';

const ROUND_EVERY_MS = 10_000;
const WATCHERS_MAX = 10_000;
const PUBLISHED_AT_ONCE = 100;
/** The upstream's event for a number whose quality fell. */
const QUALITY_FELL = 'FLAGGED';

export function alerts(deps: Dependencies): Feature {
  const { partners, partnerAlerts, now, log } = deps;
  const poller = createPoller('alerts', ROUND_EVERY_MS, () => raiseDue(deps), log);

  /** Only for a partner that watches the cause now. */
  const raise = async (alert: Omit<PartnerAlert, 'raised_at' | 'threshold'>): Promise<void> => {
    const partner = await partners.find(alert.partner_id);
    const threshold = partner?.alerts?.[alert.cause];
    if (threshold === undefined) return;
    if (await partnerAlerts.raise({ ...alert, threshold, raised_at: now() })) poller.wake();
  };

  const handlers: Handlers<AlertsDefinition> = {
    async listWatchers({ cause }) {
      if (!isCause(cause)) throw invalidField('cause', 'is not a cause of alerts');
      const watchers = (await watching(deps, cause, dayOf(now()))).map(
        ({ _id: partner_id, alerts }) => ({ partner_id, threshold: alerts?.[cause] ?? '' }),
      );
      return { watchers };
    },
    async raiseAlert({ partner_id, cause, day, value, currency }) {
      await raise({ partner_id, cause, day, value, ...(currency !== undefined && { currency }) });
      return {};
    },
  };

  const raiseQualityDrops = async (batch: Received<Event>[]): Promise<void> => {
    for (const { message } of batch) {
      const { event, data, partner_ids, phone_number_id } = message;
      if (event !== 'waba.quality_updated' || !data.includes(QUALITY_FELL)) continue;
      for (const partner_id of partner_ids) {
        await raise({
          partner_id,
          cause: 'quality_drops',
          day: dayOf(now()),
          value: '1',
          ...(phone_number_id !== undefined && { phone_number_id }),
        });
      }
    }
  };

  return {
    rpcs: [implement(AlertsDefinition, handlers)],
    consumers: { account: raiseQualityDrops },
    workers: [poller],
  };
}

/** The partners that watch a cause, and have no alert of it on that day. */
async function watching(
  { partners, partnerAlerts }: Dependencies,
  cause: CauseName,
  day: string,
): Promise<Partner[]> {
  const all = await partners.watching(cause, WATCHERS_MAX);
  if (all.length === 0) return [];
  const ids = all.map(({ _id }) => _id);
  const raised = await partnerAlerts.raisedOn(day, cause, ids);
  return all.filter(({ _id }) => !raised.has(_id));
}

/** One round: raises alerts from onboarding's own facts, and publishes every alert that waits. */
export async function raiseDue(deps: Dependencies): Promise<boolean> {
  await raiseFailureRates(deps);
  await raiseUnpaidSlots(deps);
  return publish(deps);
}

/** Raises an alert for each watcher of the cause for which `valueOf` returns a value. */
async function raiseOwn(
  deps: Dependencies,
  cause: CauseName,
  valueOf: (partner: Partner, day: string, threshold: string) => Promise<number | undefined>,
): Promise<void> {
  const { partnerAlerts, now } = deps;
  const day = dayOf(now());
  for (const partner of await watching(deps, cause, day)) {
    const threshold = partner.alerts?.[cause] ?? '';
    const value = await valueOf(partner, day, threshold);
    if (value === undefined) continue;
    const alert = { partner_id: partner._id, cause, day, value: String(value), threshold };
    await partnerAlerts.raise({ ...alert, raised_at: now() });
  }
}

const raiseFailureRates = (deps: Dependencies): Promise<void> =>
  raiseOwn(deps, 'failure_rate', async ({ _id }, day, threshold) => {
    const counts = Object.values(await deps.messageUsage.sum(_id, { from_day: day, to_day: day }));
    const rate = failureRate({
      sent: counts.reduce((sum, { sent = 0 }) => sum + sent, 0),
      failed: counts.reduce((sum, { failed = 0 }) => sum + failed, 0),
    });
    return rate === undefined || rate < Number(threshold) ? undefined : rate;
  });

const raiseUnpaidSlots = (deps: Dependencies): Promise<void> =>
  raiseOwn(
    deps,
    'unpaid_slots',
    async ({ waiting_wabas = [] }) => waiting_wabas.length || undefined,
  );

/** Repeated after a crash: the event's id follows from the alert's. */
async function publish({ partnerAlerts, bus, log }: Dependencies): Promise<boolean> {
  const pending = await partnerAlerts.pending(PUBLISHED_AT_ONCE);
  if (pending.length === 0) return false;
  await bus.publish(
    pending.map((alert) => ({
      topic: topics.alert,
      key: alert.partner_id,
      message: {
        partner_id: alert.partner_id,
        occurrence: occurrence('alert', alert._id),
        timestamp: Math.floor(alert.raised_at.getTime() / 1_000),
        data: JSON.stringify(dataOf(alert)),
      },
    })),
  );
  await partnerAlerts.published(pending.map(({ _id }) => _id));
  for (const { partner_id, cause } of pending) log.info({ partner_id, cause }, 'alerted a partner');
  return pending.length === PUBLISHED_AT_ONCE;
}

const dataOf = ({ cause, day, value, threshold, currency, phone_number_id }: StoredAlert) => ({
  cause,
  day,
  value,
  threshold,
  currency: currency ?? null,
  phone_number_id: phone_number_id ?? null,
});
