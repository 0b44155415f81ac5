// The onboarding log: one record per step.
import type { Collection, Db } from 'mongodb';
import type { Indexes } from '@bmg/common/mongo';

export interface OnboardingEventRecord {
  _id: string;
  partner_id: string;
  session_id: string | null;
  state: string | null;
  current_step: string;
  error_code: string | null;
  error_message: string | null;
  upstream_session_id: string | null;
  waba_id: string | null;
  phone_number_id: string | null;
  created_at: Date;
}

export const ONBOARDING_EVENTS = 'onboarding_events';
const KEPT_DAYS = 180;
export const onboardingEventIndexes: Indexes = {
  [ONBOARDING_EVENTS]: [
    { key: { partner_id: 1, created_at: -1, _id: -1 } },
    { key: { created_at: 1 }, expireAfterSeconds: KEPT_DAYS * 86_400 },
  ],
};

export function createOnboardingEvents(db: Db) {
  const events: Collection<OnboardingEventRecord> = db.collection(ONBOARDING_EVENTS);
  return {
    insert: (event: OnboardingEventRecord) => events.insertOne(event),
    /** Newest first. */
    list: (partner_id: string, limit: number) =>
      events.find({ partner_id }).sort({ created_at: -1, _id: -1 }).limit(limit).toArray(),
  };
}
