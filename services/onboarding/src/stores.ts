// All stores of the service on one database.
import type { Db } from 'mongodb';
import { createAuditLog } from './accounts/audit';
import { createBillingAccounts, createPaymentEvents, createSlotCharges } from './billing/payments';
import { createClientFacts, createClientTokens } from './connect/clients';
import { createClientSyncs } from './connect/sync';
import { createClients } from './ground/clients';
import { createCodeExchanges, createSessions } from './connect/sign-up';
import { createDashboardSessions } from './accounts/sessions';
import { createEndpointUsage, createMessageUsage } from './billing/usage';
import { createNumberDays } from './ground/number-days';
import { createOnboardingEvents } from './connect/onboarding-log';
import { createPartnerAlerts } from './accounts/alerts';
import { createPartnerKeys } from './accounts/keys';
import { createPartnerLogos } from './accounts/partners';
import { createPartners } from './ground/partners';
import { createPasskeys, createUsedChallenges } from './accounts/people';
import { createPeople } from './ground/people';
import { createSealedRecords } from './operator';
import { createWebhookEndpoints } from './accounts/receivers';

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
