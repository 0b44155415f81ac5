// All indexes of the service: created at the start, looked for by `diagnose`.
import type { Db, IndexDescription } from 'mongodb';
import { BILLING_ACCOUNTS, billingAccountIndexes } from './billing-accounts';
import { clientIndexes, CLIENTS } from './clients';
import { DASHBOARD_SESSIONS, dashboardSessionIndexes } from './dashboard-sessions';
import { ENDPOINT_USAGE, endpointUsageIndexes } from './endpoint-usage';
import { exchangeIndexes, EXCHANGES } from './code-exchanges';
import {
  COUNTED_MESSAGES,
  countedMessageIndexes,
  MESSAGE_USAGE,
  messageUsageIndexes,
} from './message-usage';
import { ONBOARDING_EVENTS, onboardingEventIndexes } from './onboarding-events';
import { PAYMENT_EVENTS, paymentEventIndexes } from './payment-events';
import { partnerIndexes, PARTNERS } from './partners';
import { sessionIndexes, SESSIONS } from './connect-sessions';
import { SLOT_CHARGES, slotChargeIndexes } from './slot-charges';

const INDEXES: Record<string, IndexDescription[]> = {
  [CLIENTS]: clientIndexes,
  [PARTNERS]: partnerIndexes,
  [SESSIONS]: sessionIndexes,
  [DASHBOARD_SESSIONS]: dashboardSessionIndexes,
  [EXCHANGES]: exchangeIndexes,
  [ONBOARDING_EVENTS]: onboardingEventIndexes,
  [ENDPOINT_USAGE]: endpointUsageIndexes,
  [COUNTED_MESSAGES]: countedMessageIndexes,
  [MESSAGE_USAGE]: messageUsageIndexes,
  [BILLING_ACCOUNTS]: billingAccountIndexes,
  [SLOT_CHARGES]: slotChargeIndexes,
  [PAYMENT_EVENTS]: paymentEventIndexes,
};

export async function createIndexes(db: Db): Promise<void> {
  for (const [name, indexes] of Object.entries(INDEXES)) {
    await db.collection(name).createIndexes(indexes);
  }
}

/** The indexes that are not there, as `collection: key, key`. */
export async function missingIndexes(db: Db): Promise<string[]> {
  const missing: string[] = [];
  for (const [name, indexes] of Object.entries(INDEXES)) {
    const found = await db.collection(name).indexes();
    const keys = new Set(found.map(({ key }) => Object.keys(key as object).join(', ')));
    for (const { key } of indexes) {
      const wanted = Object.keys(key).join(', ');
      if (!keys.has(wanted)) missing.push(`${name}: ${wanted}`);
    }
  }
  return missing;
}
