// All stores of the service on one database.
import type { Db } from 'mongodb';
import { createAuditLog } from './audit-log';
import { createBillingAccounts } from './billing-accounts';
import { createClientFacts } from './client-facts';
import { createClientSyncs } from './client-syncs';
import { createClientTokens } from './client-tokens';
import { createClients } from './clients';
import { createCodeExchanges } from './code-exchanges';
import { createSessions } from './connect-sessions';
import { createDashboardSessions } from './dashboard-sessions';
import { createEndpointUsage } from './endpoint-usage';
import { createMessageUsage } from './message-usage';
import { createNumberDays } from './number-days';
import { createOnboardingEvents } from './onboarding-events';
import { createPartnerAlerts } from './partner-alerts';
import { createPartnerKeys } from './partner-keys';
import { createPartnerLogos } from './partner-logos';
import { createPartners } from './partners';
import { createPasskeys } from './passkeys';
import { createPaymentEvents } from './payment-events';
import { createPeople } from './people';
import { createSealedRecords } from './sealed-records';
import { createSlotCharges } from './slot-charges';
import { createUsedChallenges } from './used-challenges';
import { createWebhookEndpoints } from './webhook-endpoints';

export const createStores = (db: Db) => ({
  accounts: createBillingAccounts(db),
  auditLog: createAuditLog(db),
  charges: createSlotCharges(db),
  clientFacts: createClientFacts(db),
  clients: createClients(db),
  clientSyncs: createClientSyncs(db),
  clientTokens: createClientTokens(db),
  dashboardSessions: createDashboardSessions(db),
  endpointUsage: createEndpointUsage(db),
  events: createOnboardingEvents(db),
  exchanges: createCodeExchanges(db),
  messageUsage: createMessageUsage(db),
  numberDays: createNumberDays(db),
  partnerAlerts: createPartnerAlerts(db),
  partnerKeys: createPartnerKeys(db),
  partnerLogos: createPartnerLogos(db),
  partners: createPartners(db),
  passkeys: createPasskeys(db),
  paymentEvents: createPaymentEvents(db),
  people: createPeople(db),
  sealedRecords: createSealedRecords(db),
  sessions: createSessions(db),
  usedChallenges: createUsedChallenges(db),
  webhookEndpoints: createWebhookEndpoints(db),
});
