// All indexes of the service: created at the start, looked for by `diagnose`.
import type { Db, IndexDescription } from 'mongodb';
import { clientIndexes, CLIENTS } from './clients';
import { ENDPOINT_USAGE, endpointUsageIndexes } from './endpoint-usage';
import { exchangeIndexes, EXCHANGES } from './exchanges';
import {
  COUNTED_MESSAGES,
  countedMessageIndexes,
  MESSAGE_USAGE,
  messageUsageIndexes,
} from './message-usage';
import { ONBOARDING_EVENTS, onboardingEventIndexes } from './onboarding-events';
import { partnerIndexes, PARTNERS } from './partners';
import { sessionIndexes, SESSIONS } from './sessions';

const INDEXES: Record<string, IndexDescription[]> = {
  [CLIENTS]: clientIndexes,
  [PARTNERS]: partnerIndexes,
  [SESSIONS]: sessionIndexes,
  [EXCHANGES]: exchangeIndexes,
  [ONBOARDING_EVENTS]: onboardingEventIndexes,
  [ENDPOINT_USAGE]: endpointUsageIndexes,
  [COUNTED_MESSAGES]: countedMessageIndexes,
  [MESSAGE_USAGE]: messageUsageIndexes,
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
