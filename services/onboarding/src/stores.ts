// All collections of the service: their stores on one database, and their indexes, which are
// created at the start and checked by `diagnose`.
// The inferred types of this module name messages of these packages.
import type {} from '@bmg/proto/onboarding';
import type {} from '@bmg/proto/stream';
import type { Indexes } from '@bmg/common/mongo';
import type { Db } from 'mongodb';
import * as alerts from './accounts/alerts/store';
import * as audit from './accounts/audit/store';
import * as keys from './accounts/keys/store';
import * as logos from './accounts/partners/store';
import * as passkeys from './accounts/people/store';
import * as receivers from './accounts/receivers/store';
import * as requests from './accounts/requests/store';
import * as consoleSessions from './accounts/sessions/store';
import * as accounts from './billing/payments/store/billing-accounts';
import * as paymentEvents from './billing/payments/store/payment-events';
import * as charges from './billing/payments/store/slot-charges';
import * as endpointUsage from './billing/usage/store/endpoint-usage';
import * as messageUsage from './billing/usage/store/message-usage';
import { createClientFacts, createClientTokens } from './connect/clients/store';
import * as onboardingLog from './connect/onboarding-log/store';
import * as exchanges from './connect/sign-up/store/code-exchanges';
import * as connectSessions from './connect/sign-up/store/connect-sessions';
import { createClientSyncs } from './connect/sync/store';
import * as clients from './ground/clients';
import * as numberDays from './ground/number-days';
import * as registrations from './ground/open-registrations';
import * as partners from './ground/partners';
import * as people from './ground/people';
import { createSealedRecords } from './operator/store';

export const createStores = (db: Db) => ({
  accounts: accounts.createBillingAccounts(db),
  auditLog: audit.createAuditLog(db),
  auditChain: audit.createAuditChain(db),
  charges: charges.createSlotCharges(db),
  clientFacts: createClientFacts(db),
  clients: clients.createClients(db),
  clientSyncs: createClientSyncs(db),
  clientTokens: createClientTokens(db),
  dashboardSessions: consoleSessions.createDashboardSessions(db),
  endpointUsage: endpointUsage.createEndpointUsage(db),
  events: onboardingLog.createOnboardingEvents(db),
  exchanges: exchanges.createCodeExchanges(db),
  messageUsage: messageUsage.createMessageUsage(db),
  numberDays: numberDays.createNumberDays(db),
  openRegistrations: registrations.createOpenRegistrations(db),
  partnerAlerts: alerts.createPartnerAlerts(db),
  partnerKeys: keys.createPartnerKeys(db),
  partnerLogos: logos.createPartnerLogos(db),
  partners: partners.createPartners(db),
  passkeys: passkeys.createPasskeys(db),
  paymentEvents: paymentEvents.createPaymentEvents(db),
  people: people.createPeople(db),
  requests: requests.createRequests(db),
  sealedRecords: createSealedRecords(db),
  sessions: connectSessions.createSessions(db),
  usedChallenges: passkeys.createUsedChallenges(db),
  webhookEndpoints: receivers.createWebhookEndpoints(db),
});

export const indexes: Indexes = {
  ...accounts.billingAccountIndexes,
  ...alerts.partnerAlertIndexes,
  ...audit.auditIndexes,
  ...charges.slotChargeIndexes,
  ...clients.clientIndexes,
  ...connectSessions.sessionIndexes,
  ...consoleSessions.dashboardSessionIndexes,
  ...endpointUsage.endpointUsageIndexes,
  ...exchanges.exchangeIndexes,
  ...keys.partnerKeyIndexes,
  ...logos.partnerLogoIndexes,
  ...messageUsage.messageUsageIndexes,
  ...numberDays.numberDayIndexes,
  ...onboardingLog.onboardingEventIndexes,
  ...partners.partnerIndexes,
  ...passkeys.passkeyIndexes,
  ...paymentEvents.paymentEventIndexes,
  ...people.peopleIndexes,
  ...receivers.webhookEndpointIndexes,
  ...registrations.openRegistrationIndexes,
  ...requests.requestIndexes,
};
