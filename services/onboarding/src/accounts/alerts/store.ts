// Alerts that were raised: at most one for each partner, cause and day. An alert is stored first
// and published from here, so that a crash loses none.
import type { Collection, Db } from 'mongodb';
import { storeOnce, type Indexes } from '@bmg/common/mongo';

export interface PartnerAlert {
  partner_id: string;
  cause: string;
  /** UTC day, YYYY-MM-DD. */
  day: string;
  value: string;
  threshold: string;
  currency?: string;
  phone_number_id?: string;
  raised_at: Date;
}

export type StoredAlert = PartnerAlert & {
  _id: string;
  /** Until it is published. */
  pending_at?: Date;
};

const KEPT_DAYS = 30;
const DAY_S = 86_400;

const PARTNER_ALERTS = 'partner_alerts';
export const partnerAlertIndexes: Indexes = {
  [PARTNER_ALERTS]: [
    { key: { partner_id: 1, raised_at: -1 } },
    { key: { pending_at: 1 }, sparse: true },
    { key: { raised_at: 1 }, expireAfterSeconds: KEPT_DAYS * DAY_S },
  ],
};

const idOf = (partner_id: string, cause: string, day: string): string =>
  `${partner_id}/${cause}/${day}`;

export function createPartnerAlerts(db: Db) {
  const alerts: Collection<StoredAlert> = db.collection(PARTNER_ALERTS);
  return {
    /** False if there is one of this cause and day. */
    raise(alert: PartnerAlert) {
      const { partner_id, cause, day, raised_at: pending_at } = alert;
      return storeOnce(() =>
        alerts.insertOne({ _id: idOf(partner_id, cause, day), ...alert, pending_at }),
      );
    },
    /** Which of these partners have an alert of this cause and day. */
    async raisedOn(day: string, cause: string, partner_ids: readonly string[]) {
      const ids = partner_ids.map((partner_id) => idOf(partner_id, cause, day));
      const raised = await alerts
        .find({ _id: { $in: ids } })
        .project<Pick<StoredAlert, 'partner_id'>>({ partner_id: 1 })
        .limit(ids.length)
        .toArray();
      return new Set(raised.map(({ partner_id }) => partner_id));
    },
    pending: (limit: number) =>
      alerts.find({ pending_at: { $exists: true } }, { sort: { pending_at: 1 }, limit }).toArray(),
    published: (ids: string[]) =>
      alerts.updateMany({ _id: { $in: ids } }, { $unset: { pending_at: '' } }),
    /** The newest first. */
    of: (partner_id: string, limit: number) =>
      alerts.find({ partner_id }).sort({ raised_at: -1 }).limit(limit).toArray(),
  };
}
