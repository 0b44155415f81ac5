// The onboarding log: one record per step.
import type { Collection, Db, IndexDescription } from 'mongodb';

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

export interface OnboardingEvents {
  insert(event: OnboardingEventRecord): Promise<void>;
  /** Newest first. */
  list(partner_id: string, limit: number): Promise<OnboardingEventRecord[]>;
}

export const ONBOARDING_EVENTS = 'onboarding_events';
const KEPT_DAYS = 180;
export const onboardingEventIndexes: IndexDescription[] = [
  { key: { partner_id: 1, created_at: -1, _id: -1 } },
  { key: { created_at: 1 }, expireAfterSeconds: KEPT_DAYS * 86_400 },
];

export function createOnboardingEvents(db: Db): OnboardingEvents {
  const events: Collection<OnboardingEventRecord> = db.collection(ONBOARDING_EVENTS);
  return {
    async insert(event) {
      await events.insertOne(event);
    },
    list: (partner_id, limit) =>
      events.find({ partner_id }).sort({ created_at: -1, _id: -1 }).limit(limit).toArray(),
  };
}
