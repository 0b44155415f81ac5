// All stores of the service on one database.
import type { Db } from 'mongodb';
import { createAuditLog } from './accounts/audit/store';
import { createBillingAccounts } from './billing/payments/store/billing-accounts';
import { createClientFacts } from './connect/clients/store/client-facts';
import { createClientSyncs } from './connect/sync/store';
import { createClientTokens } from './connect/clients/store/client-tokens';
import { createClients } from './ground/clients';
import { createCodeExchanges } from './connect/sign-up/store/code-exchanges';
import { createSessions } from './connect/sign-up/store/connect-sessions';
import { createDashboardSessions } from './accounts/sessions/store';
import { createEndpointUsage } from './billing/usage/store/endpoint-usage';
import { createMessageUsage } from './billing/usage/store/message-usage';
import { createNumberDays } from './ground/number-days';
import { createOnboardingEvents } from './connect/onboarding-log/store';
import { createPartnerAlerts } from './accounts/alerts/store';
import { createPartnerKeys } from './accounts/keys/store';
import { createPartnerLogos } from './accounts/partners/store';
import { createPartners } from './ground/partners';
import { createPasskeys } from './accounts/people/store/passkeys';
import { createPaymentEvents } from './billing/payments/store/payment-events';
import { createPeople } from './ground/people';
import { createSealedRecords } from './operator/store';
import { createSlotCharges } from './billing/payments/store/slot-charges';
import { createUsedChallenges } from './accounts/people/store/used-challenges';
import { createWebhookEndpoints } from './accounts/receivers/store';

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
